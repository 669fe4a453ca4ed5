//! Where the files of a git directory are.

use super::{flat, settings};
use crate::files::content::sparse::read_small_at;
use placet_permission::is_git_name;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Where the files of a repository are checked out.
pub(crate) enum WorkTree {
    At(PathBuf),
    /// It is bare, or not made yet.
    Nowhere,
    /// A `.git` file leads to it, which may be anywhere.
    Unknown,
}

impl WorkTree {
    /// By the person's own settings, and else by the place of the repository. Settings of the agent wait.
    pub(crate) fn of(git_dir: &Path) -> WorkTree {
        let Ok(text) = read_small_at(&git_dir.join("config")) else {
            return WorkTree::by_place(git_dir, true);
        };
        let (settings, _) = settings(&text);
        let last = |key: &[u8]| settings.get(key)?.last().cloned();
        if let Some(Some(place)) = last(b"core.worktree") {
            return WorkTree::At(flat(&git_dir.join(OsStr::from_bytes(&place))));
        }
        let is_bare = last(b"core.bare").is_some_and(|value| value.is_none_or(|value| value != b"false"));
        WorkTree::by_place(git_dir, is_bare)
    }

    fn by_place(git_dir: &Path, is_bare: bool) -> WorkTree {
        let parent = || git_dir.parent().map(Path::to_path_buf);
        match if is_git_name(git_dir) { parent() } else { module_place(git_dir) } {
            Some(place) => WorkTree::At(place),
            None if is_bare => WorkTree::Nowhere,
            None => WorkTree::Unknown,
        }
    }

    pub(crate) fn place(&self) -> Option<&Path> {
        match self {
            WorkTree::At(place) => Some(place),
            WorkTree::Nowhere | WorkTree::Unknown => None,
        }
    }
}

/// `.git/modules/a/modules/b` is the repository of the submodule `b` in the submodule `a`.
fn module_place(git_dir: &Path) -> Option<PathBuf> {
    let outer = git_dir.ancestors().filter(|dir| dir.ends_with(".git")).last()?;
    let mut names = git_dir.strip_prefix(outer).ok()?.iter();
    if names.next()? != "modules" {
        return None;
    }
    let mut place = outer.parent()?.to_path_buf();
    place.extend(names.filter(|name| *name != "modules"));
    Some(place)
}
