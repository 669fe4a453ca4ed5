//! Pending changes of files that somebody else changed in the workspace since: whether both can be merged, and what an apply
//! writes where the person chose a side.

use super::selection::ResolvedPart;
use crate::apply::{ApplyError, ApplyStep, ContentSource};
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::files::content::sparse;
use crate::files::metadata::attributes;
use crate::files::metadata::path_state::{FileAttrs, PathState};
use crate::view::View;
use crate::view::layers::stack::node_at;
use placet_text::text::sided_merge::merged;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Files that are compared at most, and bytes of them: every list of changes asks.
const LISTED: (usize, u64) = (500, 64 << 20);
/// The same of a review, which reads its files anyway.
const REVIEWED: (usize, u64) = (20_000, 1 << 30);

/// The pending changes that an apply cannot merge with what the workspace has now.
#[derive(Debug, Default)]
pub struct FoundConflicts {
    /// What the workspace has at the path of each.
    now: BTreeMap<Arc<Path>, PathState>,
    /// Those that were not compared, because there are too many, or too many bytes.
    not_compared: BTreeSet<Arc<Path>>,
}

impl FoundConflicts {
    /// Whether the change at `path` is in conflict; `None` where that was not looked for.
    pub fn at(&self, path: &Path) -> Option<bool> {
        (!self.not_compared.contains(path)).then(|| self.now.contains_key(path))
    }

    /// What the workspace has at a path in conflict.
    pub fn now_at(&self, path: &Path) -> Option<&PathState> {
        self.now.get(path)
    }

    /// How many changes were not compared.
    pub fn not_compared(&self) -> usize {
        self.not_compared.len()
    }
}

impl View {
    /// The changes of `set` that an apply cannot merge with what the workspace has now, each with what it has. At most 500
    /// files of 64 MiB together are compared; what a repository stores is compared when the
    /// repository is applied.
    pub fn conflicts(&self, set: &ChangeSet) -> FoundConflicts {
        self.conflicts_within(set, LISTED)
    }

    /// The same for a review: of 20,000 files of 1 GiB together.
    pub fn reviewed_conflicts(&self, set: &ChangeSet) -> FoundConflicts {
        self.conflicts_within(set, REVIEWED)
    }

    fn conflicts_within(&self, set: &ChangeSet, (mut files, mut room): (usize, u64)) -> FoundConflicts {
        let mut found = FoundConflicts::default();
        let may_conflict = |c: &&FileChange| {
            !c.before.is_directory() && (!c.after.is_directory() || c.before.counts_as_file())
        };
        for change in set.changes.iter().filter(may_conflict) {
            if set.repository_of(&change.path).is_some() {
                continue;
            }
            let size = change.before.size();
            if files == 0 || size > room {
                found.not_compared.insert(Arc::clone(&change.path));
                continue;
            }
            (files, room) = (files - 1, room - size);
            found.now.extend(self.conflict(change).map(|now| (Arc::clone(&change.path), now)));
        }
        found
    }

    /// What the workspace has at the path of a change that cannot be merged with it.
    pub fn conflict(&self, change: &FileChange) -> Option<PathState> {
        let (index, rel) = self.locate(&change.path)?;
        let below = self.stack(index, 2);
        // Most files are as they were, and their length tells at once that one is not.
        if below.stat(&rel).ok()?.is_none() && change.before.is_absent() {
            return None;
        }
        let now = below.node(&rel).ok()?;
        if now.is_directory() && change.after.is_directory() {
            return None;
        }
        if now == change.before || now == change.after {
            return None;
        }
        // As an apply decides it: it merges content and attributes, or refuses.
        let is_merged = self.merged_content(change, &now).is_some() && merged_attrs(change, &now).is_some();
        (!is_merged).then_some(now)
    }

    /// What the workspace has at a path.
    pub fn current_state(&self, path: &Path) -> Option<PathState> {
        node_at(path).ok()
    }

    /// Both changes of a text file in one.
    pub(in crate::view) fn merge(&self, change: &FileChange, now: &PathState) -> Option<Vec<u8>> {
        let (theirs, bytes) = self.merged_content(change, now)?;
        // Best effort: the merge starts from this content from now on, and without it a later merge has no base.
        drop(self.objects().put(&theirs));
        Some(bytes)
    }

    /// The content of the workspace, and the merge of both.
    fn merged_content(&self, change: &FileChange, now: &PathState) -> Option<(Vec<u8>, Vec<u8>)> {
        if !now.is_file() || !change.before.is_file() || !change.after.is_file() {
            return None;
        }
        let (before, after) = change.bytes(self.objects())?;
        let theirs = sparse::read_small_at(&change.path).ok()?;
        if Some(blake3::hash(&theirs)) != now.hash() {
            return None;
        }
        let bytes = merged(&before, &theirs, &after)?;
        Some((theirs, bytes))
    }

    /// The step that puts the chosen side in place of what the person saw.
    pub(in crate::view) fn resolved_step(
        &self,
        change: &FileChange,
        resolved: &ResolvedPart,
        whole: ApplyStep,
    ) -> Result<ApplyStep, ApplyError> {
        let unreadable = |error| ApplyError::Failed { path: change.path.to_path_buf(), error, left: 0 };
        let now = node_at(&change.path).map_err(unreadable)?;
        if !now.same_content(&resolved.mine) {
            return Err(ApplyError::Changed(vec![change.path.to_path_buf()]));
        }
        let attrs = resolved_attrs(change, &now);
        let bytes = match (&resolved.content, &*change.after) {
            (Some(bytes), _) => bytes,
            (None, PathState::File { hash, size, .. }) => {
                let after = PathState::File { hash: *hash, size: *size, attrs: attrs.unwrap_or_default() };
                // A link to the agent's file would bring its mode and owner along.
                let source = match whole.source {
                    ContentSource::Layer(layer) if after != *change.after => {
                        ContentSource::LayerContent(layer)
                    }
                    source => source,
                };
                return Ok(ApplyStep { before: now.into(), after: after.into(), source, ..whole });
            }
            (None, _) => return Ok(ApplyStep { before: now.into(), ..whole }),
        };
        let after = PathState::File {
            hash: blake3::hash(bytes),
            size: bytes.len() as u64,
            attrs: attrs.unwrap_or_default(),
        };
        let source = ContentSource::Bytes(Arc::new(bytes.clone()));
        Ok(ApplyStep { before: now.into(), after: after.into(), source, ..whole })
    }

    /// What an apply of the chosen change does to mode, owner, attributes and access list of the file that is there.
    pub fn resolved_attribute_words(&self, change: &FileChange, now: &PathState) -> Vec<String> {
        let (PathState::File { hash, size, .. }, Some(attrs)) = (now, resolved_attrs(change, now)) else {
            return Vec::new();
        };
        attributes::words(now, &PathState::File { hash: *hash, size: *size, attrs })
    }
}

/// What the change did to the attributes of a file, done to those that it has now. `None` where both differ from what was
/// before in the same attribute, and for what is no file.
pub(in crate::view) fn merged_attrs(change: &FileChange, now: &PathState) -> Option<FileAttrs> {
    attrs_on(change, now, AttributeSide::Neither)
}

/// The same, where the person chose the change: where both differ, it wins.
fn resolved_attrs(change: &FileChange, now: &PathState) -> Option<FileAttrs> {
    // What is there may be no file any more.
    attrs_on(change, now, AttributeSide::Change).or(change.after.attrs().cloned())
}

/// Which side counts where both changed an attribute.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AttributeSide {
    Neither,
    Change,
}

fn attrs_on(change: &FileChange, now: &PathState, side: AttributeSide) -> Option<FileAttrs> {
    fn merged<T: PartialEq>(side: AttributeSide, before: Option<T>, after: T, now: T) -> Option<T> {
        match before {
            Some(before) if before == now => Some(after),
            Some(before) if before != after && after != now => {
                (side == AttributeSide::Change).then_some(after)
            }
            // Of a file that was not there before, the change left nothing alone: what is there now stays.
            _ => Some(now),
        }
    }
    let files = now.is_file() && change.after.is_file();
    let (after, now) = change.after.attrs().zip(now.attrs()).filter(|_| files)?;
    let before = change.before.attrs().filter(|_| change.before.is_file());
    let attrs = FileAttrs {
        mode: merged(side, before.map(|before| before.mode), after.mode, now.mode)?,
        uid: merged(side, before.map(|before| before.uid), after.uid, now.uid)?,
        gid: merged(side, before.map(|before| before.gid), after.gid, now.gid)?,
        xattrs: merged(side, before.map(|before| &before.xattrs), &after.xattrs, &now.xattrs)?.clone(),
    };
    Some(attrs.with_list_of_mode())
}
