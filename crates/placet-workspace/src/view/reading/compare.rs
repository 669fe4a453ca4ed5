//! Two views of one directory against each other, and parts of one taken into the other.
//!
//! Both views are the workspace with changes of their own, so their difference is among the paths that one of them has
//! pending: no tree is walked. What is taken becomes pending in the other view, as a copy, and the file that each change
//! starts from comes along, so that a later apply merges it like any other pending change.

use crate::changes::change_set::{ChangeSet, FileChange};
use crate::files::metadata::path_state::PathState;
use crate::view::decision::apply::{ChangeSelection, SelectedPart};
use crate::view::layers::base::BaseRecord;
use crate::view::stage::StagedEntry;
use crate::view::undoing::discards::state_digest;
use crate::view::{LayerKind, LayerSet, View};
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Files above this size are compared by their hashes only; the review shows their sizes.
const MOST_SHOWN: u64 = 16 << 20;

/// What differs between two views.
#[derive(Debug)]
pub struct ViewDifference {
    /// For each path, before: what the first view has; after: what the other has.
    pub set: ChangeSet,
    /// Files of git repositories that differ. They are left out: a repository is applied as a whole.
    pub git_files: usize,
}

/// Why nothing was taken from another view.
#[derive(Debug, Error)]
pub enum TakeError {
    #[error("`{0}` has changed since it was compared")]
    Changed(PathBuf),
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl View {
    /// What `other`, a view of the same directory, has other than this one.
    pub fn difference(&self, other: &View) -> io::Result<ViewDifference> {
        if self.roots() != other.roots() {
            return Err(io::Error::other("the two have different directories"));
        }
        let (own, others) = (self.changes(LayerKind::Pending)?, other.changes(LayerKind::Pending)?);
        let mut paths = own.paths();
        paths.append(&mut others.paths());
        let (mut changes, mut git_files) = (Vec::new(), 0);
        for path in paths {
            let (before, after) = (self.pending_state(&path)?, other.pending_state(&path)?);
            if before == after {
                continue;
            }
            if own.repository_of(&path).or_else(|| others.repository_of(&path)).is_some() {
                git_files += 1;
                continue;
            }
            self.store_content(&path, &before)?;
            other.store_content(&path, &after)?;
            changes.push(FileChange {
                path,
                before: before.into(),
                after: after.into(),
                content: None,
                moved_from: None,
                twin: None,
                raced: false,
                by_tool: true,
                steps: Arc::default(),
            });
        }
        Ok(ViewDifference { set: ChangeSet::new(changes), git_files })
    }

    /// Makes the chosen part of `difference` pending here: each path as `other` has it, or with the content that is given.
    /// All of it or nothing; a discard that is stored with it lets an undo bring back what was pending before.
    ///
    /// # Errors
    ///
    /// [`TakeError::Changed`] where one of the views is no longer what was compared.
    pub fn take(
        &self,
        other: &View,
        difference: &ViewDifference,
        choice: &ChangeSelection,
    ) -> Result<(), TakeError> {
        self.claim()?;
        let own = self.changes(LayerKind::Pending)?;
        let (mine, theirs) = (&self.0.pending, &other.0.pending);
        let mut all: BTreeMap<Arc<Path>, (&LayerSet, BaseRecord, StagedEntry)> = BTreeMap::new();
        for base in mine.bases().iter() {
            all.insert(Arc::clone(&base.path), (mine, base, StagedEntry::Keep));
        }
        let mut after: Vec<(Arc<Path>, String)> = Vec::new();
        let mut touched: Vec<Arc<Path>> = Vec::new();
        for (path, part) in choice {
            let change = difference.set.get(path).ok_or_else(|| TakeError::Changed(path.to_path_buf()))?;
            let is_same =
                *change.before == self.pending_state(path)? && *change.after == other.pending_state(path)?;
            if !is_same {
                return Err(TakeError::Changed(path.to_path_buf()));
            }
            if !change.after.is_absent() {
                self.take_parents(other, path, &mut all, &mut touched)?;
            }
            touched.push(Arc::clone(path));
            let (my_base, their_base) = (mine.bases().get(path), theirs.bases().get(path));
            let content = match part {
                SelectedPart::Content(bytes) => Some(bytes),
                SelectedPart::Whole => None,
                SelectedPart::Hunks(_) | SelectedPart::Resolved(_) => {
                    return Err(io::Error::from(io::ErrorKind::InvalidInput).into());
                }
            };
            match (content, my_base, their_base) {
                (None, _, Some(base)) => {
                    after.push((Arc::clone(path), state_digest(&change.after)));
                    all.insert(Arc::clone(path), (theirs, base, StagedEntry::Copy));
                }
                // The other view has the workspace's own file there.
                (None, _, None) => drop(all.remove(path)),
                (Some(bytes), Some(base), _) => {
                    after.push((Arc::clone(path), blake3::hash(bytes).to_hex().to_string()));
                    all.insert(Arc::clone(path), (mine, base, StagedEntry::Bytes(bytes.to_vec())));
                }
                (Some(bytes), None, Some(base)) => {
                    after.push((Arc::clone(path), blake3::hash(bytes).to_hex().to_string()));
                    all.insert(Arc::clone(path), (theirs, base, StagedEntry::Bytes(bytes.to_vec())));
                }
                (Some(_), None, None) => return Err(TakeError::Changed(path.to_path_buf())),
            }
        }
        let leaving: Vec<&FileChange> =
            own.changes.iter().filter(|change| touched.contains(&change.path)).collect();
        // A directory that came along for a file in it.
        let parents = touched.iter().filter(|path| choice.get(*path).is_none());
        for path in parents {
            after.push((Arc::clone(path), state_digest(&other.pending_state(path)?)));
        }
        let all = all.into_values().collect();
        Ok(self.replace_undoable(all, &leaving, &after)?)
    }

    /// The directories that `path` needs and that only `other` has.
    fn take_parents<'a>(
        &self,
        other: &'a View,
        path: &Path,
        all: &mut BTreeMap<Arc<Path>, (&'a LayerSet, BaseRecord, StagedEntry)>,
        touched: &mut Vec<Arc<Path>>,
    ) -> io::Result<()> {
        for dir in path.ancestors().skip(1).take_while(|dir| self.locate(dir).is_some()) {
            if self.pending_state(dir)?.is_directory() || touched.iter().any(|one| **one == *dir) {
                continue;
            }
            let dir: Arc<Path> = dir.into();
            match other.0.pending.bases().get(&dir) {
                Some(base) => drop(all.insert(Arc::clone(&dir), (&other.0.pending, base, StagedEntry::Copy))),
                None => drop(all.remove(&dir)),
            }
            touched.push(dir);
        }
        Ok(())
    }

    /// What is at `path` with the pending changes.
    fn pending_state(&self, path: &Path) -> io::Result<PathState> {
        match self.locate(path) {
            Some((index, rel)) => self.stack(index, 1).node(&rel),
            None => Ok(PathState::Absent),
        }
    }

    /// Stores a content that is to be shown: the workspace or a layer may have another one a moment later.
    fn store_content(&self, path: &Path, state: &PathState) -> io::Result<()> {
        let (PathState::File { hash, size, .. }, Some((index, rel))) = (state, self.locate(path)) else {
            return Ok(());
        };
        if *size > MOST_SHOWN {
            return Ok(());
        }
        let mut file = self.stack(index, 1).open(&rel)?;
        self.objects().put_file(&mut file, *hash, *size)?;
        Ok(())
    }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
