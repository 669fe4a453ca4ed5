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
mod unseen_links;
mod waiting_repository;

pub use class::{ChangeClass, ChangeClasses, WaitingRepository};

pub use approval::{ChangeApproval, PermittedChanges};
pub(in crate::workspace) use distant_links::{forget as forget_links, git_files};
pub use large_loss::LargeLoss;
pub use loss::lost_paths;

use super::change_set::ChangeSet;
use crate::permission::Runner;
use crate::workspace::view::View;
use std::collections::BTreeMap;

impl View {
    /// What each change of `set` means.
    pub fn classify(&self, set: &ChangeSet) -> ChangeClasses {
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
        ChangeClasses { by_path, losses, waiting, roots, limit }
    }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;

pub(in crate::workspace) use classifier::{ChangeClassifier, is_reached};
pub(in crate::workspace) use scope::class_below;
pub(in crate::workspace) use waiting_repository::state_of;
