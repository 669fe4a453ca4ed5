//! What the person was asked about by itself and left pending: the same question does not come twice in a session.

use super::shown::ShownChanges;
use crate::changes::change_set::FileChange;
use crate::changes::classify::{ChangeApproval, LargeLoss};
use crate::view::View;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

impl View {
    /// The person was asked for this approval.
    pub fn note_asked(&self, approval: &ChangeApproval) {
        let mut asked = self.asked();
        *asked = approval.clone().and(&asked);
    }

    fn asked(&self) -> MutexGuard<'_, ChangeApproval> {
        self.0.asked.approval.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ShownChanges {
    /// The paths that wait for an approval, and about which the person was asked exactly as they are.
    pub fn asked_paths(&self) -> Vec<PathBuf> {
        let (set, classes, asked) = (self.set(), self.classes(), self.view().asked());
        let waiting = classes.to_approve(set).into_iter().map(|(path, _)| path);
        let was_asked = |path: &&Path| classes.is_approved_at(set, path, &asked);
        waiting.filter(was_asked).map(Path::to_path_buf).collect()
    }

    /// The losses that the person was asked about, and the others.
    pub fn losses_by_asked(&self) -> (Vec<LargeLoss>, Vec<LargeLoss>) {
        let asked = self.view().asked();
        self.classes().losses.iter().cloned().partition(|loss| asked.allows(loss))
    }

    /// The same without all of that, and without the new directories that only that needs.
    #[must_use]
    pub fn unasked(&self) -> ShownChanges {
        let (set, classes) = (self.set(), self.classes());
        let (paths, (losses, _)) = (self.asked_paths(), self.losses_by_asked());
        if paths.is_empty() && losses.is_empty() {
            return self.clone();
        }
        let with: BTreeSet<Arc<Path>> =
            paths.iter().flat_map(|path| classes.approved_with(set, path)).collect();
        let lost = classes.paths_of_losses(set, &losses);
        let stays = |change: &&FileChange| !with.contains(&change.path) && !lost.contains(&*change.path);
        let is_new_directory = |change: &FileChange| change.is_directory_alone() && change.before.is_absent();
        // In their order, what is in a directory follows it.
        let holds_nothing = |change: &FileChange| {
            let next = set.changes.partition_point(|other| other.path <= change.path);
            !set.changes.get(next).is_some_and(|other| other.path.starts_with(&change.path))
        };
        let others = set.changes.iter().filter(stays).filter(|c| !is_new_directory(c) || holds_nothing(c));
        let needed: HashSet<&Path> = others.flat_map(|change| change.path.ancestors()).collect();
        self.part(|change| stays(&change) && (!is_new_directory(change) || needed.contains(&*change.path)))
    }
}
