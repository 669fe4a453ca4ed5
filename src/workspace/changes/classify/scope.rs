//! The scope of a classification: the set, its place, and what is protected there.

use crate::permission::{PathClass, ProtectedPaths, Runner};
use crate::workspace::changes::change_set::ChangeSet;
use crate::workspace::repository::{ConfiguredUse, FileForm};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The same for all changes of a set.
pub(in crate::workspace) struct ClassifyScope<'a> {
    pub set: &'a ChangeSet,
    pub roots: &'a [PathBuf],
    pub protected: &'a ProtectedPaths,
}

impl ClassifyScope<'_> {
    /// By its names alone, below each root that holds it.
    pub(in crate::workspace) fn of_path(&self, path: &Path) -> PathClass {
        let mut best = PathClass::Ordinary;
        for root in self.roots {
            let Ok(relative) = path.strip_prefix(root) else { continue };
            let class = class_below(self.protected, root, relative);
            if rank(&class) > rank(&best) {
                best = class;
            }
        }
        best
    }

    /// Who runs or obeys the file at `path` later: by its names, or because git's settings name it.
    pub(in crate::workspace) fn runner_of(&self, path: &Path) -> Option<Runner> {
        match self.of_path(path) {
            PathClass::RunsLater(runner) => Some(runner),
            _ => self.by_settings(path, FileForm::File),
        }
    }

    /// The same by git's settings alone.
    pub(in crate::workspace) fn by_settings(&self, path: &Path, form: FileForm) -> Option<Runner> {
        let named = self.set.configured.use_of(path, form)?;
        // What git writes in the repository is approved with it, and no settings name it.
        if matches!(named, ConfiguredUse::NotRead(_)) && self.set.repositories.is_written_by_git(path) {
            return None;
        }
        Some(Runner { by: "git".into(), why: named.words() })
    }
}

/// The class of a path below a root. The root's own last names count as well: in the root `~/.config` a new
/// `autostart/x.desktop` starts with the desktop. A work tree that an agent keeps in its own directory, such as
/// `.claude/worktrees/one`, is a project like any other.
pub(in crate::workspace) fn class_below(
    protected: &ProtectedPaths,
    root: &Path,
    relative: &Path,
) -> PathClass {
    let own = protected.class_of(relative);
    let names: Vec<&OsStr> = root.iter().rev().take(3).collect();
    if matches!(own, PathClass::RunsLater(_)) || names.iter().any(|name| *name == "worktrees") {
        return own;
    }
    for count in 1..=names.len() {
        let prefix: PathBuf = names.iter().take(count).rev().collect();
        let first = prefix.as_os_str().as_encoded_bytes();
        // Directories with plain names may be anything.
        if !(first.starts_with(b".") || first.starts_with(b"etc/") || first == b"etc") {
            continue;
        }
        let class = protected.class_of(&prefix.join(relative));
        if matches!(class, PathClass::RunsLater(_)) {
            return class;
        }
    }
    own
}

fn rank(class: &PathClass) -> u8 {
    match class {
        PathClass::Ordinary => 0,
        PathClass::RunsWithBuild(_) => 1,
        PathClass::Repository(_) => 2,
        PathClass::RunsLater(_) => 3,
    }
}
