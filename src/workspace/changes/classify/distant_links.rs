//! Links far from what changed: `packages/web/AGENTS.md -> ../../docs/agents.md`.
//!
//! No file system can be asked which links lead to a file, so the directories are walked, those near the root first.
//! The walk is bounded, and its result is remembered for a moment: see "Limits" in `docs/security.md`.

use crate::workspace::files::resolve::without_links;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs::{DirEntry, FileType};
use std::os::unix::fs::{DirEntryExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Device and inode.
pub(super) type FileId = (u64, u64);
/// What a link leads to, and the link.
type TargetAndLink = (PathBuf, PathBuf);

const MOST_DIRS: usize = 20_000;
const MOST_ENTRIES: usize = 500_000;
const MOST_LINKS: usize = 10_000;
const LONGEST: Duration = Duration::from_millis(500);
/// At most a fortieth of the time is spent in walks.
const REMEMBERED: Duration = Duration::from_secs(2);
const TIMES_ITS_DURATION: u32 = 40;
/// Directories that tools fill: no program reads instructions or hooks from them.
const FILLED: [&str; 4] = ["node_modules", "target", "__pycache__", "site-packages"];
/// The same in a repository.
const FILLED_IN_GIT: [&str; 4] = ["objects", "refs", "logs", "lfs"];

struct CachedLinks {
    until: Instant,
    links: Arc<Vec<TargetAndLink>>,
}

static KNOWN: Mutex<BTreeMap<PathBuf, CachedLinks>> = Mutex::new(BTreeMap::new());

/// The links below `root`.
pub(super) fn links(root: &Path) -> Arc<Vec<TargetAndLink>> {
    let begun = Instant::now();
    let fresh = |known: &&CachedLinks| begun < known.until;
    if let Some(known) = KNOWN.lock().unwrap_or_else(PoisonError::into_inner).get(root).filter(fresh) {
        return Arc::clone(&known.links);
    }
    let mut found = Vec::new();
    walk(root, &mut |entry, kind| {
        if kind.is_symlink() && found.len() < MOST_LINKS {
            let link = entry.path();
            found.push((without_links(&link), link));
        }
    });
    let links = Arc::new(found);
    let until = Instant::now() + REMEMBERED.max(begun.elapsed() * TIMES_ITS_DURATION);
    let known = CachedLinks { until, links: Arc::clone(&links) };
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).insert(root.to_path_buf(), known);
    links
}

/// After files of a workspace changed.
pub(in crate::workspace) fn forget() {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

/// The names below `root` of files that have several.
pub(super) fn names(root: &Path, files: &BTreeSet<FileId>) -> Vec<(FileId, PathBuf)> {
    let mut found = Vec::new();
    if files.is_empty() {
        return found;
    }
    let inodes: BTreeSet<u64> = files.iter().map(|(_, inode)| *inode).collect();
    walk(root, &mut |entry, kind| {
        if kind.is_file()
            && inodes.contains(&entry.ino())
            && let Ok(meta) = entry.metadata()
            && files.contains(&(meta.dev(), meta.ino()))
        {
            found.push(((meta.dev(), meta.ino()), entry.path()));
        }
    });
    found
}

/// The files and links named `.git` below `root`; `None` where not all of it was looked at.
pub(in crate::workspace) fn git_files(root: &Path) -> Option<Vec<PathBuf>> {
    let mut found = Vec::new();
    let is_whole = walk(root, &mut |entry, _| {
        if entry.file_name() == ".git" {
            found.push(entry.path());
        }
    });
    is_whole.then_some(found)
}

/// Visits what is below `root` on its file system, level by level, as far as the bounds go. True where they were not reached.
fn walk(root: &Path, visit: &mut dyn FnMut(&DirEntry, FileType)) -> bool {
    let begun = Instant::now();
    let Ok(device) = std::fs::symlink_metadata(root).map(|meta| meta.dev()) else { return false };
    let mut queue = VecDeque::from([root.to_path_buf()]);
    let (mut dirs, mut entries) = (0, 0);
    while let Some(dir) = queue.pop_front() {
        dirs += 1;
        if dirs > MOST_DIRS || entries > MOST_ENTRIES || begun.elapsed() > LONGEST {
            tracing::debug!("not all links below {} were checked", root.display());
            return false;
        }
        let in_git = dir.iter().any(|name| name == ".git");
        for entry in std::fs::read_dir(&dir).into_iter().flatten().filter_map(Result::ok) {
            entries += 1;
            let Ok(kind) = entry.file_type() else { continue };
            if !kind.is_dir() {
                visit(&entry, kind);
                continue;
            }
            let name = entry.file_name();
            let filled = FILLED.iter().any(|filled| name == *filled)
                || in_git && FILLED_IN_GIT.iter().any(|filled| name == *filled);
            if !filled && entry.metadata().is_ok_and(|meta| meta.dev() == device) {
                queue.push_back(entry.path());
            }
        }
    }
    true
}
