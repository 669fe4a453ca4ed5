//! Which paths that run later a person approved, one by one.

use super::{ChangeClasses, Runner};
use crate::workspace::change::{Change, ChangeSet};
use crate::workspace::node::Node;
use crate::workspace::view::Choice;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Paths that run later and that a person approved, each by itself. Without it an apply refuses them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approval(BTreeMap<PathBuf, Option<Node>>);

impl Approval {
    /// Nothing that runs later.
    pub fn none() -> Approval {
        Approval::default()
    }

    /// The person named exactly this path.
    #[must_use]
    pub fn named(mut self, path: &Path) -> Approval {
        self.0.insert(path.to_path_buf(), None);
        self
    }

    /// The person saw this change: another content at the path needs another approval.
    #[must_use]
    pub fn shown(mut self, change: &Change) -> Approval {
        self.0.insert(change.path.clone(), Some(change.after.clone()));
        self
    }

    pub fn paths(&self) -> impl Iterator<Item = &Path> {
        self.0.keys().map(PathBuf::as_path)
    }

    /// True for the path itself, and for what goes with a directory whose removal was approved.
    pub fn covers(&self, change: &Change) -> bool {
        let exact = self.0.get(&change.path);
        exact.is_some_and(|seen| seen.as_ref().is_none_or(|seen| *seen == change.after))
            || change.after.is_absent() && change.path.ancestors().skip(1).any(|dir| self.0.contains_key(dir))
    }
}

impl ChangeClasses {
    /// What runs later and needs an approval of its own: a directory that goes stands for all that goes with it.
    pub fn to_approve<'a>(&'a self, set: &ChangeSet) -> Vec<(&'a Path, &'a Runner)> {
        let stands_for = |path: &Path| {
            let goes = |dir: &Path| set.get(dir).is_some_and(|c| !c.after.is_directory());
            path.ancestors().skip(1).any(|dir| self.runner(dir).is_some() && goes(dir))
        };
        let gone = |path: &Path| set.get(path).is_some_and(|c| c.after.is_absent());
        self.runs_later().filter(|(path, _)| !(gone(path) && stands_for(path))).collect()
    }

    /// Of `choice`, what may be applied with this approval, and the paths that run later and stay pending.
    ///
    /// With a path that stays, the directories that only it needs stay as well, and so does the removal of a directory
    /// that it lies in, and of the file that it was moved from.
    pub fn permitted(&self, set: &ChangeSet, choice: &Choice, approval: &Approval) -> (Choice, Vec<PathBuf>) {
        let chosen = |path: &Path| choice.contains_key(path);
        let waits = |c: &&Change| self.runner(&c.path).is_some() && !approval.covers(c);
        let waiting: BTreeSet<&Path> =
            set.changes.iter().filter(|c| chosen(&c.path)).filter(waits).map(|c| c.path.as_path()).collect();
        if waiting.is_empty() {
            return (choice.clone(), Vec::new());
        }
        let mut left = choice.clone();
        left.retain(|path, _| !waiting.contains(path.as_path()));
        for change in &set.changes {
            let below = |path: &Path| path != change.path && path.starts_with(&change.path);
            let holds_waiting = waiting.iter().any(|path| below(path));
            let comes = change.after.is_directory() && !change.before.is_directory();
            let goes = change.before.is_directory() && !change.after.is_directory();
            let needed = comes && left.keys().any(|path| below(path));
            if holds_waiting && (goes || comes && !needed) {
                left.remove(&change.path);
            }
            if let (true, Some(from)) = (waiting.contains(change.path.as_path()), &change.moved_from) {
                left.remove(from);
            }
        }
        let shown = self.to_approve(set);
        let waiting = waiting.into_iter().filter(|p| shown.iter().any(|(path, _)| path == p));
        (left, waiting.map(Path::to_path_buf).collect())
    }
}
