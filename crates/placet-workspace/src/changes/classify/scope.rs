//! The scope of a classification: the set, its place, and what is protected there.

use crate::changes::change_set::ChangeSet;
use crate::repository::{ConfiguredUse, FileForm};
use placet_permission::{LeadingPath, PathClass, ProtectedPaths, Runner};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// The same for all changes of a set.
pub(crate) struct ClassifyScope<'a> {
    pub set: &'a ChangeSet,
    pub roots: &'a [PathBuf],
    pub protected: &'a ProtectedPaths,
}

impl ClassifyScope<'_> {
    /// By its names alone, below each root that holds it.
    pub(crate) fn of_path(&self, path: &Path) -> PathClass {
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
    pub(crate) fn runner_of(&self, path: &Path) -> Option<Runner> {
        match self.of_path(path) {
            PathClass::RunsLater(runner) => Some(runner),
            _ => self.by_settings(path, FileForm::File),
        }
    }

    /// The same by git's settings alone.
    pub(crate) fn by_settings(&self, path: &Path, form: FileForm) -> Option<Runner> {
        let named = self.set.configured.use_of(path, form)?;
        // What git writes in the repository is approved with it, and no settings name it.
        if matches!(named, ConfiguredUse::NotRead(_)) && self.set.repositories.is_written_by_git(path) {
            return None;
        }
        Some(Runner { by: "git".into(), why: named.words() })
    }

    /// The protected paths that begin with `path`, if it is a link; hidden ones first.
    pub(crate) fn beginning_at(&self, path: &Path) -> Option<LeadingPath> {
        let mut first: Option<LeadingPath> = None;
        for root in self.roots {
            let Ok(relative) = path.strip_prefix(root) else { continue };
            let own = self.protected.beginning_at(relative);
            let by_root = names_of_root(root).into_iter().map(|names| names.join(relative));
            let by_root = by_root.filter_map(|path| self.protected.beginning_at(&path));
            for found in own.into_iter().chain(by_root) {
                if first.as_ref().is_none_or(|first| found.is_hidden && !first.is_hidden) {
                    first = Some(found);
                }
            }
        }
        first
    }
}

/// The class of a path below a root. The root's own last names count as well: in the root `~/.config` a new
/// `autostart/x.desktop` starts with the desktop.
pub(crate) fn class_below(protected: &ProtectedPaths, root: &Path, relative: &Path) -> PathClass {
    let own = protected.class_of(relative);
    if matches!(own, PathClass::RunsLater(_)) {
        return own;
    }
    let by_variables = protected.class_by_variables(&root.join(relative));
    if matches!(by_variables, PathClass::RunsLater(_)) {
        return by_variables;
    }
    let mut by_root = names_of_root(root).into_iter().map(|names| protected.class_of(&names.join(relative)));
    by_root.find(|class| matches!(class, PathClass::RunsLater(_))).unwrap_or(own)
}

/// The last names of a root, one to three of them, that may be the beginning of a pattern. A work tree that an agent keeps
/// in its own directory, such as `.claude/worktrees/one`, is a project like any other.
fn names_of_root(root: &Path) -> Vec<PathBuf> {
    let names = || root.iter().rev().take(3);
    // Directories with plain names may be anything: most roots have no other.
    if !names().any(|name| name.as_encoded_bytes().starts_with(b".") || name == "etc") {
        return Vec::new();
    }
    let names: Vec<&OsStr> = names().collect();
    if names.iter().any(|name| *name == "worktrees") {
        return Vec::new();
    }
    let prefixes = (1..=names.len()).map(|count| names.iter().take(count).rev().collect::<PathBuf>());
    let counts = |prefix: &PathBuf| {
        let first = prefix.as_os_str().as_encoded_bytes();
        first.starts_with(b".") || first.starts_with(b"etc/") || first == b"etc"
    };
    prefixes.filter(counts).collect()
}

fn rank(class: &PathClass) -> u8 {
    match class {
        PathClass::Ordinary => 0,
        PathClass::RunsWithBuild(_) => 1,
        PathClass::Repository(_) => 2,
        PathClass::RunsLater(_) => 3,
    }
}
