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
mod other_names;
mod removed_repository;
mod scope;
mod staying;
mod tree_group;
mod unseen_links;
mod waiting_repository;

pub use class::{ChangeClass, ChangeClasses, WaitingRepository};

pub use approval::{ChangeApproval, PermittedChanges};
pub use large_loss::LargeLoss;
pub use tree_group::TreeGroup;

use super::change_set::ChangeSet;
use crate::view::View;
use placet_permission::Runner;
use std::path::Path;

impl View {
    /// What each change of `set` means. Other modules have it with what is shown: [`View::shown`].
    pub(crate) fn classify(&self, set: &ChangeSet) -> ChangeClasses {
        let protected = self.protected();
        let classifier = ChangeClassifier::new(set, self.roots(), &protected);
        let mut classes = ChangeClasses { limit: self.loss_limit(), ..ChangeClasses::default() };
        for change in &set.changes {
            match classifier.classify(change) {
                ChangeClass::Ordinary => {}
                class => drop(classes.by_path.insert(change.path.to_path_buf(), class)),
            }
        }
        let later: Vec<&Path> = classes.runs_later().map(|(path, _)| path).collect();
        let known = self.checked_out(set, &later);
        classes.by_path.retain(|path, _| !known.contains(path));
        classes.roots = self.roots().to_vec();
        classes.losses = loss::losses(set, &classes.roots, classes.limit, &|_| true);
        (classes.waiting, classes.repositories) = self.waiting_repositories(set, &classifier);
        let mut can_wait = classes.lost_paths(set);
        can_wait.extend(classes.runs_later().map(|(path, _)| path));
        if !can_wait.is_empty() {
            classes.groups = tree_group::tree_groups(set, &can_wait, self.objects());
        }
        classes
    }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;

pub(crate) use classifier::{ChangeClassifier, is_reached};
pub(crate) use scope::class_below;
pub(crate) use waiting_repository::state_of;
