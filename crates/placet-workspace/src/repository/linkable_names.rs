//! Which names of one file stay names of one file when they are applied.
//!
//! Only git writes the files of a repository: by a second name, each later write to a plain file of the project would
//! move a branch or change a setting. Such a name becomes a file of its own. Objects never change, and git itself makes
//! links between the objects of two repositories.

use placet_git::{GitFileClass, GitName, class_of};
use placet_permission::is_repository;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Finds the repositories that names are in, each directory once.
pub(crate) struct LinkableNames<'a> {
    root: &'a Path,
    /// Answers for the states before and after the change.
    exists: &'a dyn Fn(&Path) -> bool,
    known: HashMap<PathBuf, Option<PathBuf>>,
}

impl<'a> LinkableNames<'a> {
    pub(crate) fn new(root: &'a Path, exists: &'a dyn Fn(&Path) -> bool) -> LinkableNames<'a> {
        LinkableNames { root, exists, known: HashMap::new() }
    }

    /// False where a repository has at least one of the two names, except for objects of git.
    pub(crate) fn may_be_one_file(&mut self, one: &Path, other: &Path) -> bool {
        match (self.git_path(one), self.git_path(other)) {
            (None, None) => true,
            (Some(one), Some(other)) => is_object(&one) && is_object(&other),
            _ => false,
        }
    }

    /// The path relative to the repository that it is in; `None` outside of repositories.
    fn git_path(&mut self, path: &Path) -> Option<PathBuf> {
        let repository = self.repository(path)?;
        path.strip_prefix(repository).ok().map(Path::to_path_buf)
    }

    /// The innermost repository that has `path`, or that `path` is.
    fn repository(&mut self, path: &Path) -> Option<PathBuf> {
        if is_repository(path, self.exists) {
            return Some(path.to_path_buf());
        }
        let dir = path.parent().filter(|dir| dir.starts_with(self.root))?;
        if let Some(known) = self.known.get(dir) {
            return known.clone();
        }
        let found = self.repository(dir);
        self.known.insert(dir.to_path_buf(), found.clone());
        found
    }
}

fn is_object(path: &Path) -> bool {
    let is_below = path.starts_with("objects") || path.starts_with("lfs/objects");
    is_below && class_of(&GitName::from(path)) != GitFileClass::OfGit
}
