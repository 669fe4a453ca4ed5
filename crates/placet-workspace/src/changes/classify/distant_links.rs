//! Links far from what changed: `packages/web/AGENTS.md -> ../../docs/agents.md`.
//!
//! No file system can be asked which links lead to a file, so the directories are walked, those near the root first.
//! The walk is bounded, and its result is remembered for a moment: see "Limits" in `docs/security.md`. Where a bound is
//! reached, that is a part of the result.

use super::unseen_links::{SearchBounds, UnseenLinks, is_closed};
use crate::files::resolve::without_links;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{DirEntry, FileType};
use std::io;
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Device and inode.
pub(super) type FileId = (u64, u64);
/// What a link leads to, and the link.
type TargetAndLink = (PathBuf, PathBuf);

/// At most a tenth of the time is spent in walks.
const REMEMBERED: Duration = Duration::from_secs(2);
const TIMES_ITS_DURATION: u32 = 10;
/// Directories that tools fill: no program reads instructions or hooks from them.
const FILLED: [&str; 4] = ["node_modules", "target", "__pycache__", "site-packages"];
/// The same in a repository.
const FILLED_IN_GIT: [&str; 4] = ["objects", "refs", "logs", "lfs"];

/// The links below a root, and why there may be more.
#[derive(Debug, Default)]
pub(super) struct FoundLinks {
    pub(super) links: Vec<TargetAndLink>,
    pub(super) unseen: Option<UnseenLinks>,
}

struct CachedLinks {
    until: Instant,
    found: Arc<FoundLinks>,
}

static KNOWN: Mutex<BTreeMap<PathBuf, CachedLinks>> = Mutex::new(BTreeMap::new());

/// The links below `root`.
pub(super) fn links(root: &Path, bounds: &SearchBounds) -> Arc<FoundLinks> {
    let begun = Instant::now();
    let fresh = |known: &&CachedLinks| begun < known.until;
    if let Some(known) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(root).filter(fresh) {
        return Arc::clone(&known.found);
    }
    let (mut links, mut are_many) = (Vec::new(), false);
    let unseen = walk(root, bounds, &FILLED_IN_GIT, &mut |entry, kind| {
        if !kind.is_symlink() {
            return;
        }
        are_many |= links.len() >= bounds.links;
        if !are_many {
            let link = entry.path();
            links.push((without_links(&link), link));
        }
    });
    let unseen = unseen.or(are_many.then_some(UnseenLinks::Links(bounds.links)));
    // The system reads from the disk what a walk without an end looks at, so that the next one comes further.
    let times = if matches!(unseen, Some(UnseenLinks::Time(_))) { 1 } else { TIMES_ITS_DURATION };
    let until = Instant::now() + REMEMBERED.max(begun.elapsed() * times);
    let found = Arc::new(FoundLinks { links, unseen });
    let known = CachedLinks { until, found: Arc::clone(&found) };
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(root.to_path_buf(), known);
    found
}

/// After files of a workspace changed.
pub(crate) fn forget() {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

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
    // A second name of a branch moves the branch: its directory is searched, too.
    let unseen = walk(root, bounds, &["objects", "lfs"], &mut |entry, kind| {
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

/// Visits what is below `root` on its file system, level by level, as far as the bounds go, without the directories of these
/// names in a repository. Returns why not all of it was
/// visited.
fn walk(
    root: &Path,
    bounds: &SearchBounds,
    filled_in_git: &[&str],
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
            tracing::debug!("not all links below {} were checked", root.display());
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
                || in_git && filled_in_git.iter().any(|filled| name == *filled);
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

/// Visits the entries of a directory while `visit` returns true; none where nobody finds a link. Fails where an entry may
/// have been missed.
pub(super) fn each_entry(dir: &Path, visit: &mut dyn FnMut(&DirEntry, FileType) -> bool) -> io::Result<()> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if is_closed(&e) => return Ok(()),
        Err(e) => return Err(e),
    };
    for entry in entries {
        let entry = entry?;
        let goes_on = match entry.file_type() {
            Ok(kind) => visit(&entry, kind),
            Err(e) if is_closed(&e) => true,
            Err(e) => return Err(e),
        };
        if !goes_on {
            break;
        }
    }
    Ok(())
}
