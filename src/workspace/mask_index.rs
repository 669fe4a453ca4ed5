//! Which paths a command must not see: what rules hide, as paths that can be masked.
//!
//! A pattern with wildcards is looked up in an index of directories that is brought up to date by their change times,
//! so that a large tree costs one question for each directory and is listed once.

use super::repository::GitDirs;
use super::{HiddenPattern, Workspace};
use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

/// A directory as it was last listed: when, what in it is hidden, and the directories below.
#[derive(Debug)]
struct DirListing {
    stamp: (i64, i64, i64, i64),
    hidden: Vec<PathBuf>,
    below: Vec<PathBuf>,
}

#[derive(Debug, Default)]
pub(super) struct MaskIndex {
    dirs: HashMap<PathBuf, DirListing>,
}

impl Workspace {
    /// Every path below the roots, or named outright, that a rule or the classification hides and that is there.
    pub fn hidden_paths(&self) -> Vec<PathBuf> {
        let (mut found, mut globs) = (Vec::new(), false);
        for hidden in self.0.hidden.read().unwrap_or_else(PoisonError::into_inner).iter() {
            match hidden {
                HiddenPattern::Below(path) => found.push(path.clone()),
                HiddenPattern::Glob { .. } => globs = true,
            }
        }
        let veiled = self.0.veil.get().is_some();
        if globs || veiled {
            let mut index = self.0.index.lock().unwrap_or_else(PoisonError::into_inner);
            if veiled {
                // What it hides changes with the session, and not with the directories.
                index.forget();
            }
            for root in &self.0.roots {
                index.look(self, root, &mut found);
            }
        }
        if veiled {
            // A root may lie in a repository, and a repository may keep its objects elsewhere.
            let above = self.0.roots.iter().flat_map(|root| root.ancestors()).map(|dir| dir.join(".git"));
            let mut stores: Vec<PathBuf> = above.collect();
            stores.extend(found.iter().cloned());
            found.extend(
                stores.iter().flat_map(|path| repository_dirs(path)).filter(|dir| self.is_hidden(dir)),
            );
        }
        found.sort();
        found.dedup();
        found
    }
}

/// The directories in which the repository of a `.git` has its objects: itself, where a file in its place leads, and
/// what these borrow from.
fn repository_dirs(git: &Path) -> Vec<PathBuf> {
    let read = |file: &Path, most: u64| crate::text::regular_file::read(file, most).ok();
    let GitDirs { dirs, borrowed } = GitDirs::of(git, &read);
    let inside = |dir: PathBuf| {
        ["", "objects", "lfs", "rr-cache", "modules"]
            .map(|name| if name.is_empty() { dir.clone() } else { dir.join(name) })
    };
    let all = dirs.into_iter().chain(borrowed).flat_map(inside);
    all.filter_map(|dir| std::fs::canonicalize(dir).ok()).collect()
}

impl MaskIndex {
    fn look(&mut self, workspace: &Workspace, root: &Path, found: &mut Vec<PathBuf>) {
        let mut todo = vec![root.to_path_buf()];
        while let Some(dir) = todo.pop() {
            let Ok(meta) = std::fs::symlink_metadata(&dir) else {
                self.dirs.remove(&dir);
                continue;
            };
            let stamp = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
            if self.dirs.get(&dir).is_none_or(|known| known.stamp != stamp) {
                self.dirs.insert(dir.clone(), list(workspace, &dir, stamp));
            }
            if let Some(known) = self.dirs.get(&dir) {
                found.extend(known.hidden.iter().cloned());
                todo.extend(known.below.iter().cloned());
            }
        }
    }

    pub(super) fn forget(&mut self) {
        self.dirs.clear();
    }
}

fn list(workspace: &Workspace, dir: &Path, stamp: (i64, i64, i64, i64)) -> DirListing {
    let mut listed = DirListing { stamp, hidden: Vec::new(), below: Vec::new() };
    for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        let path = entry.path();
        if workspace.is_hidden(&path) {
            listed.hidden.push(path);
        } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            listed.below.push(path);
        }
    }
    listed
}
