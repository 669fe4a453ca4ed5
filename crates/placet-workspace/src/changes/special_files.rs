//! Pipes, sockets and devices in a change set. placet never makes one in an apply, so one that a command moved stays where it
//! was: the command removed it in one place and made one of the same kind in another.

use super::change_set::{ChangeSet, FileChange};
use crate::files::metadata::path_state::PathState;
use crate::view::ChangeSelection;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

impl ChangeSet {
    /// Takes pipes, sockets and devices out of `choice` and returns them, with the removals of those that were moved:
    /// they can only be discarded.
    pub(crate) fn take_special(&self, choice: &mut ChangeSelection) -> ChangeSelection {
        let unmoved = self.unmoved();
        let is_special =
            |c: &&FileChange| matches!(*c.after, PathState::Special { .. }) || unmoved.contains(&c.path);
        self.changes.iter().filter(is_special).filter_map(|c| choice.remove_entry(&c.path)).collect()
    }

    /// The change at or above `path` that would make it a pipe, a socket or a device.
    pub(crate) fn special_at(&self, path: &Path) -> Option<&FileChange> {
        let special = |dir: &Path| self.get(dir).filter(|c| matches!(*c.after, PathState::Special { .. }));
        path.ancestors().find_map(special)
    }

    /// Removals that are never applied: of a pipe, a socket or a device that was moved, and of the directories above it.
    pub(crate) fn unmoved(&self) -> BTreeSet<Arc<Path>> {
        let mut removed: BTreeMap<&str, Vec<&FileChange>> = BTreeMap::new();
        for change in self.changes.iter().filter(|change| change.after.is_absent()) {
            if let PathState::Special { what, .. } = &*change.before
                && !self.dirs_that_end(change).any(|dir| !dir.after.is_absent())
            {
                removed.entry(what).or_default().push(change);
            }
        }
        let mut unmoved = BTreeSet::new();
        for change in &self.changes {
            let PathState::Special { what, .. } = &*change.after else { continue };
            if change.before == change.after {
                continue;
            }
            let Some(places) = removed.get_mut(what.as_str()) else { continue };
            let same_name = places.iter().position(|place| place.path.file_name() == change.path.file_name());
            let at = same_name.unwrap_or(0);
            if at < places.len() {
                let place = places.swap_remove(at);
                unmoved.insert(Arc::clone(&place.path));
                unmoved.extend(self.dirs_that_end(place).map(|dir| Arc::clone(&dir.path)));
            }
        }
        unmoved
    }

    /// The directories above a change that are removed, or become something else.
    fn dirs_that_end(&self, change: &FileChange) -> impl Iterator<Item = &FileChange> {
        let ends = |change: &&FileChange| change.before.is_directory() && !change.after.is_directory();
        let above: Vec<&FileChange> =
            change.path.ancestors().skip(1).filter_map(|dir| self.get(dir)).collect();
        above.into_iter().filter(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::metadata::path_state::{FileAttrs, SpecialAttrs};

    fn change(path: &str, before: &str, after: &str) -> FileChange {
        let state = |kind: &str| match kind {
            "" => PathState::Absent,
            "dir" => PathState::Directory { attrs: FileAttrs::default() },
            "file" => PathState::File { hash: blake3::hash(b"x"), size: 1, attrs: FileAttrs::default() },
            what => PathState::Special { what: what.into(), attrs: SpecialAttrs::default() },
        };
        FileChange {
            path: Path::new(path).into(),
            before: state(before).into(),
            after: state(after).into(),
            content: None,
            moved_from: None,
            twin: None,
            raced: false,
            by_tool: false,
            steps: Arc::default(),
        }
    }

    #[test]
    fn what_was_moved_stays_with_its_directories_and_what_was_removed_goes() {
        let unmoved = |changes: &[FileChange]| -> Vec<String> {
            let set = ChangeSet::new(changes.to_vec());
            set.unmoved().iter().map(|path| path.display().to_string()).collect()
        };
        let gone = [change("/d", "dir", ""), change("/d/q", "pipe", ""), change("/d/a", "file", "")];
        assert_eq!(unmoved(&gone), [""; 0]);
        let moved = |to: FileChange| unmoved(&[&gone[..], &[to]].concat());
        assert_eq!(moved(change("/e/q", "", "pipe")), ["/d", "/d/q"]);
        assert_eq!(moved(change("/e/other", "", "pipe")), ["/d", "/d/q"]);
        assert_eq!(moved(change("/e/q", "file", "pipe")), ["/d", "/d/q"]);
        assert_eq!(moved(change("/e/q", "", "socket")), [""; 0]);
        assert_eq!(moved(change("/e/q", "", "file")), [""; 0]);
        // Two went and one came: the one of the same name was moved.
        let two = [change("/a", "pipe", ""), change("/b/q", "pipe", ""), change("/z/q", "", "pipe")];
        assert_eq!(unmoved(&two), ["/b/q"]);
        // A file in the place of the directory: the pipe cannot stay there.
        let file = [change("/d", "dir", "file"), change("/d/q", "pipe", ""), change("/e/q", "", "pipe")];
        assert_eq!(unmoved(&file), [""; 0]);
    }
}
