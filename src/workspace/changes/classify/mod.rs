//! What a pending change means for the person, beyond its bytes: whether some program runs or obeys it later, whether
//! the next build runs it, whether it takes much away.
//!
//! Every surface asks here and nowhere else: the apply question, the review, the command line, JSON, write mode and the
//! apply itself, which refuses what runs later unless a person approved exactly that path.

mod approval;
mod class;
mod classifier;
mod distant_links;
mod large_loss;
mod leading_link;
mod links;
mod loss;
mod merged_tree;
mod removed_repository;
mod repository_loss;
mod scope;
mod staying;
mod tree_group;
mod unseen_links;
mod waiting_repository;

pub use class::{ChangeClass, ChangeClasses, WaitingRepository, lost_paths};

pub use approval::{ChangeApproval, PermittedChanges};
pub(in crate::workspace) use distant_links::{forget as forget_links, git_files};
pub use large_loss::LargeLoss;

use super::change_set::ChangeSet;
use crate::permission::Runner;
use crate::workspace::view::View;
use std::collections::BTreeMap;
use tree_group::TreeGroup;

impl View {
    /// What each change of `set` means. Other modules have it with what is shown: [`View::shown`].
    pub(in crate::workspace) fn classify(&self, set: &ChangeSet) -> ChangeClasses {
        let protected = self.protected();
        let classifier = ChangeClassifier::new(set, self.roots(), &protected);
        let mut by_path = BTreeMap::new();
        for change in &set.changes {
            match classifier.classify(change) {
                ChangeClass::Ordinary => {}
                class => drop(by_path.insert(change.path.to_path_buf(), class)),
            }
        }
        let (roots, limit) = (self.roots().to_vec(), self.loss_limit());
        let losses = loss::losses(set, &roots, limit, &|_| true);
        let waiting = self.waiting_repositories(set, &classifier);
        let groups = self.tree_groups(set, &losses);
        ChangeClasses { by_path, losses, groups, waiting, roots, limit }
    }

    /// The trees that a loss of many files is about. A repository or a root that is removed waits by itself.
    fn tree_groups(&self, set: &ChangeSet, losses: &[LargeLoss]) -> Vec<TreeGroup> {
        let is_of_files = |loss: &&LargeLoss| matches!(loss, LargeLoss::Files { .. });
        let of_files: Vec<LargeLoss> = losses.iter().filter(is_of_files).cloned().collect();
        match of_files.is_empty() {
            true => Vec::new(),
            false => tree_group::tree_groups(set, &loss::paths_of(set, &of_files, &|_| true), self.objects()),
        }
    }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;

pub(in crate::workspace) use classifier::{ChangeClassifier, is_reached};
pub(in crate::workspace) use scope::class_below;
pub(in crate::workspace) use waiting_repository::state_of;
