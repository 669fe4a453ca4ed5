//! The effects of a background command, path by path, and what becomes of each.
//!
//! The command received a state at a path, and has a state there in the end. The effect is the difference of these two
//! values, whatever its layer looks like: where they are the same, there is none. An effect is merged with the state that
//! the path has now. The result is a list of edits, after which the layer has nothing but the effects that are carried.

use super::layer_edit::{LayerEdit, LayerEditor, MERGEABLE, MergeReport};
use super::received::{ComparedDir, ReceivedState, ReceivedStates};
use crate::files::metadata::path_state::{FileAttrs, PathState, open_anyway};
use crate::files::metadata::stat_fields::permissions;
use crate::view::layers::layer::{self, Layer, entry, is_dir, is_opaque, is_whiteout, list};
use crate::view::layers::stack::join;
use rustix::fs::{OFlags, Stat};
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The merge of one root of a command's layer.
pub(in crate::view) struct JobMerge<'a> {
    received: ReceivedStates<'a>,
    hidden: &'a dyn Fn(&Path) -> bool,
    edits: Vec<(PathBuf, LayerEdit)>,
    /// How many paths stay that the layer does not have: a directory that hides the layers below it would hide them.
    stays: usize,
    report: MergeReport,
}

/// How a directory of the layer lies over the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayerCover {
    /// What the layer does not have comes from below.
    Joins,
    /// What the layer does not have is deleted.
    Hides,
    /// The view has no directory there now.
    Alone,
}

/// What becomes of a path that the command has deleted.
enum RemovedEntry {
    /// Others have removed it as well.
    Gone,
    Deleted,
    Stays,
    /// What is in it decides.
    Directory,
}

impl<'a> JobMerge<'a> {
    pub(in crate::view) fn new(
        received: ReceivedStates<'a>,
        hidden: &'a dyn Fn(&Path) -> bool,
    ) -> JobMerge<'a> {
        JobMerge { received, hidden, edits: Vec::new(), stays: 0, report: MergeReport::default() }
    }

    /// Compares everything in the layer. Changes nothing.
    pub(in crate::view) fn compare(&mut self, upper: &OwnedFd) -> io::Result<()> {
        self.directory(Path::new(""), upper, LayerCover::Joins).map(drop)
    }

    /// The paths that the layer will forget: the command did nothing there.
    pub(in crate::view) fn dropped(&self) -> impl Iterator<Item = &PathBuf> {
        self.edits.iter().filter(|(_, edit)| edit.is_drop()).map(|(rel, _)| rel)
    }

    /// Makes the edits in the layer. What is set aside gets `suffix`; without one it is dropped.
    pub(in crate::view) fn edit(self, layer: &Layer, suffix: Option<&str>) -> io::Result<MergeReport> {
        let mut editor = LayerEditor { received: &self.received, layer, suffix, report: self.report };
        editor.make(&self.edits)?;
        Ok(editor.report)
    }

    /// Whether the command has an effect at or below this directory.
    fn directory(&mut self, rel: &Path, upper: &OwnedFd, cover: LayerCover) -> io::Result<bool> {
        let at = match cover {
            LayerCover::Alone => self.received.open_gone(rel)?,
            LayerCover::Joins | LayerCover::Hides => self.received.open(rel)?,
        };
        let mut names: BTreeSet<OsString> = list(upper)?.into_iter().collect();
        match cover {
            LayerCover::Hides => names.extend(self.received.now().children(rel)?),
            LayerCover::Joins => names.extend(self.received.passed_alone(&at, rel)?),
            LayerCover::Alone => {}
        }
        let (mut has_effect, mut dirs) = (false, Vec::new());
        for name in names {
            let rel = rel.join(&name);
            if self.is_hidden(&rel) {
                continue;
            }
            match entry(upper, &name)? {
                Some(stat) if is_dir(&stat) => {
                    let received = self.received.state(&at, &rel, &name)?;
                    dirs.push((rel, received, at.now.stat(&name)?));
                }
                Some(stat) if !is_whiteout(&stat) => {
                    has_effect |= self.leaf(&rel, &at, (upper, &name), cover)?;
                }
                found => has_effect |= self.deleted(&rel, &at, (found.is_some(), &name), cover)?,
            }
        }
        // Closed before anything below is opened: a tree may be deeper than a process may have open directories.
        drop(at);
        for (rel, received, now) in dirs {
            has_effect |= self.subdirectory(&rel, upper, cover, (&received, now))?;
        }
        Ok(has_effect)
    }

    fn is_hidden(&self, rel: &Path) -> bool {
        (self.hidden)(&join(self.received.root(), rel))
    }

    fn add(&mut self, rel: &Path, edit: LayerEdit) {
        self.edits.push((rel.to_path_buf(), edit));
    }

    /// The present state stays.
    fn keep_present(&mut self, rel: &Path, edit: LayerEdit) {
        self.stays += 1;
        self.add(rel, edit);
    }

    /// A path that the command does not have. `is_whiteout` says whether its layer has a mark for that.
    fn deleted(
        &mut self,
        rel: &Path,
        at: &ComparedDir,
        (is_whiteout, name): (bool, &OsStr),
        cover: LayerCover,
    ) -> io::Result<bool> {
        if cover == LayerCover::Alone {
            // Others have removed it as well.
            self.add(rel, LayerEdit::Drop);
            return Ok(false);
        }
        let edits = self.edits.len();
        let is_deleted = match self.removed_entry(rel, at, name)? {
            RemovedEntry::Gone => return Ok(false),
            RemovedEntry::Deleted => true,
            RemovedEntry::Stays => false,
            RemovedEntry::Directory => self.goes_whole(rel)?,
        };
        let is_partly_deleted = self.edits.len() > edits;
        match (is_deleted, is_whiteout) {
            (true, true) => {}
            (true, false) => self.add(rel, LayerEdit::Delete),
            (false, false) => self.stays += 1,
            (false, true) if is_partly_deleted => self.keep_present(rel, LayerEdit::Join(None)),
            (false, true) => self.keep_present(rel, LayerEdit::Drop),
        }
        Ok(is_deleted || is_partly_deleted)
    }

    fn removed_entry(&mut self, rel: &Path, at: &ComparedDir, name: &OsStr) -> io::Result<RemovedEntry> {
        let Some(now) = at.now.stat(name)? else { return Ok(RemovedEntry::Gone) };
        let is_changed = match self.received.state(at, rel, name)? {
            ReceivedState::Unchanged => false,
            ReceivedState::Unknown => true,
            // The command never had it; or it made a directory, and got something in it.
            ReceivedState::Known(PathState::Absent) => {
                let looks_below = is_dir(&now) && self.received.has_passed_below(rel);
                return Ok(if looks_below { RemovedEntry::Directory } else { RemovedEntry::Stays });
            }
            ReceivedState::Known(PathState::Directory { .. }) if is_dir(&now) => false,
            ReceivedState::Known(received) => received != at.now.node(name)?,
        };
        if is_changed {
            self.report.kept.push(join(self.received.root(), rel));
            return Ok(RemovedEntry::Stays);
        }
        Ok(if is_dir(&now) { RemovedEntry::Directory } else { RemovedEntry::Deleted })
    }

    /// Whether nothing stays in a directory that the command has deleted. If something stays, edits delete the rest.
    fn goes_whole(&mut self, rel: &Path) -> io::Result<bool> {
        let (edits, mut is_whole, mut dirs) = (self.edits.len(), true, Vec::new());
        let names = self.received.now().children(rel)?;
        let at = self.received.open(rel)?;
        for name in names {
            let rel = rel.join(&name);
            if self.is_hidden(&rel) {
                continue;
            }
            match self.removed_entry(&rel, &at, &name)? {
                RemovedEntry::Gone => {}
                RemovedEntry::Deleted => self.add(&rel, LayerEdit::Delete),
                RemovedEntry::Stays => is_whole = false,
                RemovedEntry::Directory => dirs.push(rel),
            }
        }
        drop(at);
        for rel in dirs {
            match self.goes_whole(&rel)? {
                true => self.add(&rel, LayerEdit::Delete),
                false => is_whole = false,
            }
        }
        if is_whole {
            self.edits.truncate(edits);
        }
        Ok(is_whole)
    }

    /// A file, a link or the like in the layer.
    fn leaf(
        &mut self,
        rel: &Path,
        at: &ComparedDir,
        (upper, name): (&OwnedFd, &OsStr),
        cover: LayerCover,
    ) -> io::Result<bool> {
        let received = self.received.state(at, rel, name)?;
        if at.now.stat(name)?.is_some_and(|now| is_dir(&now)) {
            return self.leaf_over_directory(rel, (upper, name), &received);
        }
        // Whether it is a change at all is found when the layer is folded.
        if received == ReceivedState::Unchanged {
            return Ok(true);
        }
        let now = at.now.node(name)?;
        if received == ReceivedState::Known(now.clone()) {
            return Ok(true);
        }
        let own = PathState::read(upper, name)?;
        if received == ReceivedState::Known(own.clone()) {
            self.keep_present(rel, LayerEdit::Drop);
            return Ok(false);
        }
        if cover == LayerCover::Alone || now == own {
            return Ok(true);
        }
        match received {
            ReceivedState::Known(base)
                if base.is_file()
                    && now.is_file()
                    && own.is_file()
                    && base.size().max(now.size()).max(own.size()) <= MERGEABLE =>
            {
                self.add(
                    rel,
                    LayerEdit::Merge { base: Box::new(base), now: Box::new(now), own: Box::new(own) },
                );
            }
            _ => self.keep_present(rel, LayerEdit::SetAside),
        }
        Ok(true)
    }

    /// It replaces the directory only if all of the directory can go.
    fn leaf_over_directory(
        &mut self,
        rel: &Path,
        (upper, name): (&OwnedFd, &OsStr),
        received: &ReceivedState,
    ) -> io::Result<bool> {
        let is_directory = match received {
            ReceivedState::Unchanged => true,
            ReceivedState::Known(state) => state.is_directory(),
            ReceivedState::Unknown => false,
        };
        if !is_directory && *received == ReceivedState::Known(PathState::read(upper, name)?) {
            self.keep_present(rel, LayerEdit::Drop);
            return Ok(false);
        }
        let (edits, kept) = (self.edits.len(), self.report.kept.len());
        if !is_directory || !self.goes_whole(rel)? {
            self.edits.truncate(edits);
            self.report.kept.truncate(kept);
            self.keep_present(rel, LayerEdit::SetAside);
        }
        Ok(true)
    }

    fn subdirectory(
        &mut self,
        rel: &Path,
        upper: &OwnedFd,
        cover: LayerCover,
        (received, now): (&ReceivedState, Option<Stat>),
    ) -> io::Result<bool> {
        let (file, mode) = open_anyway(upper, rel.file_name().unwrap_or_default(), OFlags::DIRECTORY)?;
        let was_directory = match (received, &now) {
            (ReceivedState::Unchanged, Some(now)) => is_dir(now),
            (ReceivedState::Known(state), _) => state.is_directory(),
            _ => false,
        };
        let is_new = match (received, &now) {
            (ReceivedState::Unchanged, now) => now.is_none(),
            (ReceivedState::Known(state), _) => state.is_absent(),
            (ReceivedState::Unknown, _) => false,
        };
        let is_alone = cover == LayerCover::Alone;
        match &now {
            Some(now) if is_dir(now) => {
                return self.directory_of_both(rel, (file, mode), cover, received);
            }
            // A directory in place of nothing, or of a file that nobody else changed.
            None if is_new && !is_alone && !self.received.has_passed_below(rel) => return Ok(true),
            Some(_) if !was_directory && !self.is_changed(rel, received)? => return Ok(true),
            _ => {}
        }
        let has_effect = self.directory(rel, &file.into(), LayerCover::Alone)? || !was_directory;
        match (has_effect, is_alone) {
            (true, _) if is_alone || is_new => {}
            (true, _) => self.keep_present(rel, LayerEdit::SetAside),
            (false, _) => self.keep_present(rel, LayerEdit::Drop),
        }
        Ok(has_effect)
    }

    fn is_changed(&self, rel: &Path, received: &ReceivedState) -> io::Result<bool> {
        Ok(match received {
            ReceivedState::Unchanged => false,
            ReceivedState::Known(state) => *state != self.received.now().node(rel)?,
            ReceivedState::Unknown => true,
        })
    }

    /// What is in one joins what is in the other.
    fn directory_of_both(
        &mut self,
        rel: &Path,
        (file, mode): (File, Option<u32>),
        cover: LayerCover,
        received: &ReceivedState,
    ) -> io::Result<bool> {
        let attrs = self.attrs_of_others(rel, (&file, mode), received)?;
        let is_opaque = is_opaque(&file)?;
        let below = if is_opaque { LayerCover::Hides } else { cover };
        let (edits, stays) = (self.edits.len(), self.stays);
        let has_effect = self.directory(rel, &file.into(), below)?;
        let only_deletes =
            self.edits.get(edits..).unwrap_or_default().iter().all(|(_, edit)| edit.is_delete());
        if is_opaque && self.stays == stays && only_deletes {
            // The mark says the same, and one mark is less than many.
            self.edits.truncate(edits);
        } else if is_opaque {
            self.add(rel, LayerEdit::Join(None));
        }
        if let Some(attrs) = attrs {
            self.add(rel, LayerEdit::Join(Some(Box::new(attrs))));
        }
        Ok(has_effect)
    }

    /// The attributes that a directory of both gets, where they are not those of the command.
    fn attrs_of_others(
        &mut self,
        rel: &Path,
        (file, mode): (&File, Option<u32>),
        received: &ReceivedState,
    ) -> io::Result<Option<FileAttrs>> {
        let ReceivedState::Known(received) = received else { return Ok(None) };
        let PathState::Directory { attrs: now } = self.received.now().node(rel)? else { return Ok(None) };
        let stat = rustix::fs::fstat(file)?;
        let mode = layer::own_mode(file)?.or(mode).unwrap_or_else(|| permissions(&stat));
        let own = FileAttrs::of(file, &stat)?.with_own_mode(Some(mode));
        let base = match received {
            PathState::Directory { attrs } => attrs,
            // Both made it.
            _ => &own,
        };
        if *base == now || own == now {
            return Ok(None);
        }
        if own != *base {
            self.report.kept.push(join(self.received.root(), rel));
        }
        Ok(Some(now))
    }
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
