//! Which paths a command must not see: what rules hide, as paths that can be masked.
//!
//! A pattern with wildcards is looked up in an index of directories that is brought up to date by their change times,
//! so that a large tree costs one question for each directory and is listed once.

use super::repository::GitDirs;
use super::{HiddenPattern, Workspace};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

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
                index.look(&|path| self.is_hidden(path), root, &mut found);
            }
        }
        if veiled {
            // A root may be inside a repository, and a repository may have its objects elsewhere.
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
    let read = |file: &Path, most: u64| placet_text::text::regular_file::read(file, most).ok();
    let GitDirs { dirs, borrowed } = GitDirs::of(git, &read);
    let inside = |dir: PathBuf| {
        ["", "objects", "lfs", "rr-cache", "modules"]
            .map(|name| if name.is_empty() { dir.clone() } else { dir.join(name) })
    };
    let all = dirs.into_iter().chain(borrowed).flat_map(inside);
    all.filter_map(|dir| std::fs::canonicalize(dir).ok()).collect()
}
