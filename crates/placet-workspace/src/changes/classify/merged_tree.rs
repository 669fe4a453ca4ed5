//! What is at a path once the changes of a set are applied: names and links only, no contents.

use crate::changes::change_set::ChangeSet;
use crate::files::metadata::path_state::PathState;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

/// The kernel follows no more.
const MOST_LINKS: usize = 40;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum MergedEntry {
    Nothing,
    Directory,
    Link(PathBuf),
    /// Also a pipe, a socket or a device.
    File,
}

pub(super) struct MergedTree<'a> {
    set: &'a ChangeSet,
}

impl MergedTree<'_> {
    pub(super) fn new(set: &ChangeSet) -> MergedTree<'_> {
        MergedTree { set }
    }

    /// What is at `path`, which has no links in its directories.
    pub(super) fn entry(&self, path: &Path) -> io::Result<MergedEntry> {
        if let Some(change) = self.set.get(path) {
            return Ok(match &*change.after {
                PathState::Absent => MergedEntry::Nothing,
                PathState::Directory { .. } => MergedEntry::Directory,
                PathState::Link { target } => MergedEntry::Link(target.into()),
                PathState::File { .. } | PathState::Special { .. } => MergedEntry::File,
            });
        }
        if self.is_replaced(path) {
            return Ok(MergedEntry::Nothing);
        }
        match std::fs::symlink_metadata(path) {
            Ok(meta) if meta.is_dir() => Ok(MergedEntry::Directory),
            Ok(meta) if meta.is_symlink() => Ok(MergedEntry::Link(std::fs::read_link(path)?)),
            Ok(_) => Ok(MergedEntry::File),
            Err(e) if matches!(e.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(MergedEntry::Nothing)
            }
            Err(e) => Err(e),
        }
    }

    /// True where a directory above `path` is new, or is none any more: what is below it on disk is not there then.
    fn is_replaced(&self, path: &Path) -> bool {
        let stays =
            |dir: &Path| self.set.get(dir).is_none_or(|c| c.before.is_directory() && c.after.is_directory());
        !path.ancestors().skip(1).all(stays)
    }

    /// `path` with all of its links followed, as far as it exists. `None` for links in a circle.
    pub(super) fn resolved(&self, path: &Path) -> io::Result<Option<(PathBuf, MergedEntry)>> {
        let mut todo: Vec<OsString> = parts_reversed(path);
        let (mut at, mut followed) = (PathBuf::from("/"), 0);
        let mut found = MergedEntry::Directory;
        while let Some(name) = todo.pop() {
            if name == ".." {
                at.pop();
                found = MergedEntry::Directory;
                continue;
            }
            at.push(&name);
            found = self.entry(&at)?;
            if let MergedEntry::Link(target) = &found {
                followed += 1;
                if followed > MOST_LINKS {
                    return Ok(None);
                }
                at.pop();
                if target.is_absolute() {
                    at = PathBuf::from("/");
                }
                todo.extend(parts_reversed(target));
                found = MergedEntry::Directory;
            }
        }
        Ok(Some((at, found)))
    }

    /// The names in the directory `dir`, which has no links in its path. Fails after `most` of them.
    pub(super) fn names(&self, dir: &Path, most: usize) -> io::Result<BTreeSet<OsString>> {
        let mut names = BTreeSet::new();
        let is_new = self.set.get(dir).is_some_and(|change| !change.before.is_directory());
        if !is_new && !self.is_replaced(dir) {
            match std::fs::read_dir(dir) {
                Ok(entries) => {
                    for entry in entries {
                        if names.len() >= most {
                            return Err(io::ErrorKind::FileTooLarge.into());
                        }
                        names.insert(entry?.file_name());
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(e),
            }
        }
        // A change strictly below has the name of the entry through which it is reached.
        for path in self.set.below(dir) {
            let first = path.strip_prefix(dir).ok().and_then(|rest| rest.iter().next());
            names.extend(first.map(OsString::from));
        }
        let is_gone =
            |name: &OsString| self.entry(&dir.join(name)).is_ok_and(|at| at == MergedEntry::Nothing);
        names.retain(|name| !is_gone(name));
        Ok(names)
    }
}

/// The parts of a path from the last to the first, without `/` and `.`.
fn parts_reversed(path: &Path) -> Vec<OsString> {
    let part = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_os_string()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    };
    path.components().rev().filter_map(part).collect()
}
