//! The other names of a file that has several (hard links).
//!
//! No file system can be asked for them, so the directories are walked, those near the root first: only where a change is
//! written into such a file. The walk is bounded. Where a bound is reached, that is a part of the result.

use super::unseen_links::{SearchBounds, UnseenLinks, each_entry, is_closed};
use std::collections::{BTreeSet, VecDeque};
use std::fs::{DirEntry, FileType};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Device and inode.
pub(super) type FileId = (u64, u64);

/// Directories that tools fill: no program reads instructions or hooks from them.
pub(super) const FILLED: [&str; 4] = ["node_modules", "target", "__pycache__", "site-packages"];
/// The same in a repository. A second name of a branch moves the branch: its directory is searched, too.
const FILLED_IN_GIT: [&str; 2] = ["objects", "lfs"];

/// The names below `root` of files that have several, and why there may be more of them.
pub(super) fn names(
    root: &Path,
    files: &BTreeSet<FileId>,
    bounds: &SearchBounds,
) -> (Vec<(FileId, PathBuf)>, Option<UnseenLinks>) {
    let mut found = Vec::new();
    if files.is_empty() {
        return (found, None);
    }
    let inodes: BTreeSet<u64> = files.iter().map(|(_, inode)| *inode).collect();
    let unseen = walk(root, bounds, &mut |entry, kind| {
        if kind.is_file()
            && inodes.contains(&entry.ino())
            && let Ok(meta) = entry.metadata()
            && files.contains(&(meta.dev(), meta.ino()))
        {
            found.push(((meta.dev(), meta.ino()), entry.path()));
        }
    });
    (found, unseen)
}

/// Visits what is below `root` on its file system, level by level, as far as the bounds go. Returns why not all of it was
/// visited.
fn walk(
    root: &Path,
    bounds: &SearchBounds,
    visit: &mut dyn FnMut(&DirEntry, FileType),
) -> Option<UnseenLinks> {
    let begun = Instant::now();
    let device = match std::fs::symlink_metadata(root) {
        Ok(meta) => meta.dev(),
        Err(e) if is_closed(&e) => return None,
        Err(e) => return Some(UnseenLinks::unreadable(root, &e)),
    };
    let mut queue = VecDeque::from([root.to_path_buf()]);
    let (mut dirs, mut entries) = (0, 0);
    // What follows a directory that cannot be read may be read: the walk goes on.
    let mut unread = None;
    while let Some(dir) = queue.pop_front() {
        dirs += 1;
        let reached = [
            (dirs > bounds.directories, UnseenLinks::Directories(bounds.directories)),
            (entries > bounds.entries, UnseenLinks::Entries(bounds.entries)),
            (begun.elapsed() > bounds.longest, UnseenLinks::Time(bounds.longest)),
        ];
        if let Some((_, why)) = reached.into_iter().find(|(is_reached, _)| *is_reached) {
            tracing::debug!("not all names below {} were checked", root.display());
            return Some(why);
        }
        let in_git = dir.iter().any(|name| name == ".git");
        let read = each_entry(&dir, &mut |entry, kind| {
            entries += 1;
            if !kind.is_dir() {
                visit(entry, kind);
                return entries <= bounds.entries;
            }
            let name = entry.file_name();
            let filled = FILLED.iter().any(|filled| name == *filled)
                || in_git && FILLED_IN_GIT.iter().any(|filled| name == *filled);
            if !filled && entry.metadata().is_ok_and(|meta| meta.dev() == device) {
                queue.push_back(entry.path());
            }
            // One directory may have more entries than all bounds.
            entries <= bounds.entries
        });
        if let Err(e) = read {
            unread.get_or_insert_with(|| UnseenLinks::unreadable(&dir, &e));
        }
    }
    unread.or_else(|| (entries > bounds.entries).then_some(UnseenLinks::Entries(bounds.entries)))
}
