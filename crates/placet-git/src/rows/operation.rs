//! A rebase, merge, cherry-pick, revert, am or bisect that the change begins, moves or ends.

use crate::git_file::operation_around;
use crate::git_name::GitName;
use crate::group::WaitingGroup;
use crate::operation_state::OperationState;
use crate::question::RepositoryQuestion;
use crate::repository_move::Moved;
use crate::state::CheckoutName;

/// The operation of a checkout, before and after.
#[derive(Clone, Debug)]
pub struct OperationFact {
    pub checkout: CheckoutName,
    pub state: Moved<OperationState>,
    /// The files that are applied with it.
    pub files: Vec<GitName>,
}

pub(super) fn facts(question: &RepositoryQuestion) -> Vec<OperationFact> {
    let checkouts = question.groups.iter().filter_map(|group| match group {
        WaitingGroup::Operation(checkout) => Some(checkout),
        _ => None,
    });
    checkouts
        .map(|checkout| OperationFact {
            checkout: checkout.clone(),
            state: Moved {
                before: OperationState::of(&question.person.files, checkout),
                after: OperationState::of(&question.agent.files, checkout),
            },
            files: question
                .comparison
                .moved
                .files
                .keys()
                .filter(|name| operation_around(name).as_ref() == Some(checkout))
                .cloned()
                .collect(),
        })
        .collect()
}
