//! The class of a change: ordinary, runs later, or part of a large loss.

use super::large_loss::LargeLoss;
use super::loss::{losses, paths_of};
use super::tree_group::TreeGroup;
use crate::changes::change_set::ChangeSet;
use crate::hash::Hash;
use crate::view::LossLimit;
use placet_permission::Runner;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What one path's change means. The strictest that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeClass {
    Ordinary,
    /// The next build, test or install runs it: marked, and applied like any source file.
    RunsWithBuild(Runner),
    /// A program runs or obeys it without anyone asking for it: approved on its own.
    RunsLater(Runner),
    /// The path is a repository that is removed.
    LargeLoss(LargeLoss),
}

/// A repository that waits as a whole, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitingRepository {
    /// The outermost one, which is applied as one.
    pub path: PathBuf,
    /// Who runs or obeys one of the files, and all reasons as words.
    pub runner: Runner,
    /// Changes of its work trees that an operation in progress made: one without the other is a state that nobody made.
    pub(crate) files: BTreeSet<Arc<Path>>,
    /// What all of this would be: an approval counts only for it.
    pub(crate) state: Hash,
}

/// The classes of a change set. Paths that are not here are ordinary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeClasses {
    pub(super) by_path: BTreeMap<PathBuf, ChangeClass>,
    /// The losses of the whole set, the gravest first.
    pub losses: Vec<LargeLoss>,
    /// Trees with something that waits, and the files that name them: they are applied or wait together.
    pub(super) groups: Vec<TreeGroup>,
    /// Repositories that wait as a whole.
    pub(super) waiting: Vec<WaitingRepository>,
    /// The states of all repositories with pending changes, on both sides.
    pub(super) repositories: Vec<Hash>,
    pub(super) roots: Vec<PathBuf>,
    pub(super) limit: LossLimit,
}

impl ChangeClasses {
    pub fn of(&self, path: &Path) -> &ChangeClass {
        self.by_path.get(path).unwrap_or(&ChangeClass::Ordinary)
    }

    /// The classes of `part`, which is a part of the set of these classes.
    pub(crate) fn of_part(&self, part: &ChangeSet) -> ChangeClasses {
        let mut of_part = self.clone();
        of_part.by_path.retain(|path, _| part.get(path).is_some());
        of_part.waiting.retain(|waiting| !self.approved_with(part, &waiting.path).is_empty());
        of_part.losses = losses(part, &self.roots, self.limit, &|_| true);
        of_part
    }

    /// The paths of `set` that belong to a large loss.
    pub fn lost_paths<'a>(&self, set: &'a ChangeSet) -> BTreeSet<&'a Path> {
        self.paths_of_losses(set, &self.losses)
    }

    /// The same of some of them.
    pub(crate) fn paths_of_losses<'a>(&self, set: &'a ChangeSet, losses: &[LargeLoss]) -> BTreeSet<&'a Path> {
        paths_of(set, losses, &|_| true)
    }

    /// Who runs or obeys the path later, if some program does.
    pub fn runner(&self, path: &Path) -> Option<&Runner> {
        match self.of(path) {
            ChangeClass::RunsLater(runner) => Some(runner),
            _ => None,
        }
    }

    pub fn runs_later(&self) -> impl Iterator<Item = (&Path, &Runner)> {
        self.by_path.iter().filter_map(|(path, class)| match class {
            ChangeClass::RunsLater(runner) => Some((path.as_path(), runner)),
            _ => None,
        })
    }
}
