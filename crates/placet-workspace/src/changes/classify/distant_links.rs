//! Links far from what changed: `packages/web/AGENTS.md -> ../../docs/agents.md`.
//!
//! No file system can be asked which links lead to a file, and to walk a workspace takes as long as the workspace is large.
//! Known are the links that git tracks and those in the two upper levels of a root: see "Limits" in `docs/security.md`.

use super::other_names::FILLED;
use super::unseen_links::{UnseenLinks, each_entry};
use crate::files::metadata::file_stamp::{FileStamp, stamp};
use crate::repository::{GitDirs, outside_content};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The links of an index, while its file is this one.
type IndexLinks = (FileStamp, Arc<Vec<PathBuf>>);

static TRACKED: Mutex<BTreeMap<PathBuf, IndexLinks>> = Mutex::new(BTreeMap::new());

/// The links that git tracks in the work tree `dir`; none where `dir` is not one, or git cannot list them.
pub(super) fn tracked(dir: &Path) -> Arc<Vec<PathBuf>> {
    let git = dir.join(".git");
    let read = |path: &Path, most| outside_content(path, most).ok().flatten();
    let index = match std::fs::symlink_metadata(&git) {
        Ok(meta) if meta.is_dir() => git.join("index"),
        Ok(_) => GitDirs::own(&git, &read).join("index"),
        Err(_) => return Arc::default(),
    };
    let Some(stamp) = stamp(&index) else { return Arc::default() };
    let known = || TRACKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, links)) = known().get(dir).filter(|(of, _)| *of == stamp) {
        return Arc::clone(links);
    }
    // A pipe or a device in its place is no index.
    let Ok(Some(bytes)) = outside_content(&index, placet_git::limit::TABLE) else { return Arc::default() };
    let links = placet_git::tracked_links(dir, &bytes).unwrap_or_else(|e| {
        tracing::warn!("the links that git tracks in {} are not known: {e}", dir.display());
        Vec::new()
    });
    let links = Arc::new(links);
    known().insert(dir.to_path_buf(), (stamp, Arc::clone(&links)));
    links
}

/// The links in `root` and in the directories in it, as far as `left` entries go. Returns why there may be more.
pub(super) fn upper(root: &Path, left: &mut usize) -> (Vec<PathBuf>, Option<UnseenLinks>) {
    let (mut links, mut below, mut unseen) = (Vec::new(), Vec::new(), None);
    let mut look_in = |dir: &Path, below: &mut Vec<PathBuf>| {
        let read = each_entry(dir, &mut |entry, kind| {
            if *left == 0 {
                return false;
            }
            *left -= 1;
            if kind.is_symlink() {
                links.push(entry.path());
            } else if kind.is_dir() && !FILLED.iter().any(|filled| entry.file_name() == *filled) {
                below.push(entry.path());
            }
            true
        });
        if let Err(e) = read {
            unseen.get_or_insert_with(|| UnseenLinks::unreadable(dir, &e));
        }
    };
    look_in(root, &mut below);
    below.iter().for_each(|dir| look_in(dir, &mut Vec::new()));
    (links, unseen)
}
