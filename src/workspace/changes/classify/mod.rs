//! What a pending change means for the person, beyond its bytes: whether some program runs or obeys it later, whether
//! the next build runs it, whether it takes much away.
//!
//! Every surface asks here and nowhere else: the apply question, the review, the command line, JSON, write mode and the
//! apply itself, which refuses what runs later unless a person approved exactly that path.

mod approval;
mod class;
mod classifier;
mod command_group;
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
pub use command_group::CommandGroup;
pub(in crate::workspace) use distant_links::{forget as forget_links, git_files};
pub use large_loss::LargeLoss;
pub use loss::lost_paths;

use super::change_set::ChangeSet;
use crate::permission::Runner;
use crate::workspace::view::View;
use std::collections::BTreeMap;

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
        let groups = groups_of_losses(set, &losses);
        ChangeClasses { by_path, losses, groups, waiting, roots, limit }
    }
}

/// The commands of which a part is a loss of many files. A repository or a root that is removed waits by itself.
fn groups_of_losses(set: &ChangeSet, losses: &[LargeLoss]) -> Vec<CommandGroup> {
    let of_files: Vec<LargeLoss> =
        losses.iter().filter(|loss| matches!(loss, LargeLoss::Files { .. })).cloned().collect();
    match of_files.is_empty() {
        true => Vec::new(),
        false => command_group::groups_of(set, &loss::paths_of(set, &of_files, &|_| true)),
    }
}

#[cfg(test)]
#[path = "classify_tests.rs"]
mod tests;

pub(in crate::workspace) use classifier::{ChangeClassifier, is_reached};
pub(in crate::workspace) use scope::class_below;
pub(in crate::workspace) use waiting_repository::state_of;
