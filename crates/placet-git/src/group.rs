//! What waits for an answer of its own, and what is applied of a change after the answers.

use crate::compare::{Comparison, RepositoryItem};
use crate::error::{GitError, Result};
use crate::git_file::{GitFileClass, class_of, operation_around};
use crate::git_name::GitName;
use crate::repository_move::{Moved, RepositoryMove, branches_to_return_to};
use crate::state::{CheckoutName, IndexEntry, branch_of};
use std::collections::BTreeSet;

/// Items that are applied together or not at all, and only where the person said so by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitingGroup {
    /// A file that runs or configures something.
    File(GitName),
    /// A rebase, merge, cherry-pick, revert, am or bisect: its state files with `HEAD`, index and branches.
    Operation(CheckoutName),
    /// A linked worktree that is registered or removed.
    Worktree(GitName),
    /// Index entries at which git no longer looks.
    HiddenFiles(CheckoutName),
}

/// The groups that a person approved by name.
pub type ApprovedGroups = BTreeSet<WaitingGroup>;

/// Whether git looks at the file of an index entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Visibility {
    Same,
    Hidden,
    Shown,
}

pub(crate) fn visibility(moved: &Moved<Vec<IndexEntry>>, is_sparse: bool) -> Visibility {
    let hidden = |entries: &Option<Vec<IndexEntry>>| entries.iter().flatten().any(IndexEntry::hides_changes);
    let is_left_out = |entry: &IndexEntry| entry.skip_worktree && !entry.assume_unchanged;
    if is_sparse && moved.before.is_none() && moved.after.iter().flatten().all(is_left_out) {
        return Visibility::Same;
    }
    match (hidden(&moved.before), hidden(&moved.after)) {
        (false, true) => Visibility::Hidden,
        (true, false) if moved.after.is_some() => Visibility::Shown,
        _ => Visibility::Same,
    }
}

impl Comparison {
    /// What of it waits.
    #[must_use]
    pub fn groups(&self) -> BTreeSet<WaitingGroup> {
        let mut groups = BTreeSet::new();
        for name in self.moved.files.keys() {
            groups.insert(match class_of(name) {
                GitFileClass::Operation(checkout) | GitFileClass::OperationTrace(checkout) => {
                    WaitingGroup::Operation(checkout)
                }
                GitFileClass::Worktree(name) => WaitingGroup::Worktree(name),
                _ => WaitingGroup::File(name.clone()),
            });
        }
        // What both sides moved of a checkout belongs to its operation, too.
        let conflicts = self.conflicts.iter().filter_map(|item| match item {
            RepositoryItem::Head(name) | RepositoryItem::Index(name, _) => Some(name),
            _ => None,
        });
        let moved =
            self.moved.checkouts.keys().chain(conflicts).filter(|name| self.in_progress.contains(name));
        groups.extend(moved.cloned().map(WaitingGroup::Operation));
        for (name, checkout) in &self.moved.checkouts {
            let is_sparse = self.sparse.contains(name);
            if checkout.index.values().any(|moved| visibility(moved, is_sparse) != Visibility::Same) {
                groups.insert(WaitingGroup::HiddenFiles(name.clone()));
            }
            if checkout.own_refs.keys().any(|name| name.starts_with("refs/bisect/")) {
                groups.insert(WaitingGroup::Operation(name.clone()));
            }
            if let (CheckoutName::Linked(linked), Some(head)) = (name, &checkout.head)
                && (head.before.is_none() || head.after.is_none())
            {
                groups.insert(WaitingGroup::Worktree(linked.clone()));
            }
        }
        groups
    }

    /// The change with the groups that were approved. Nothing is applied where both sides moved an item.
    pub fn selected(&self, approved: &ApprovedGroups) -> Result<RepositoryMove> {
        let mut change = self.moved.clone();
        if let Some(item) = self.conflicts.first() {
            return Err(item.conflict());
        }
        for group in self.groups().difference(approved) {
            self.leave_group(&mut change, group);
        }
        change.refs.retain(|_, moved| moved.before != moved.after);
        change.checkouts.retain(|_, checkout| !checkout.is_empty());
        self.check_heads(&change)?;
        Ok(change)
    }

    fn leave_group(&self, change: &mut RepositoryMove, group: &WaitingGroup) {
        match group {
            WaitingGroup::File(name) => {
                change.files.remove(name);
            }
            WaitingGroup::Operation(checkout) => {
                for branch in self.operation_branches(checkout) {
                    change.refs.remove(&branch);
                }
                change.files.retain(|name, _| operation_around(name).as_ref() != Some(checkout));
                change.checkouts.remove(checkout);
            }
            WaitingGroup::Worktree(name) => {
                change.files.retain(|file, _| class_of(file) != GitFileClass::Worktree(name.clone()));
                change.checkouts.remove(&CheckoutName::Linked(name.clone()));
            }
            WaitingGroup::HiddenFiles(checkout) => {
                let Some(checkout) = change.checkouts.get_mut(checkout) else { return };
                for moved in checkout.index.values_mut() {
                    let before = moved.before.iter().flatten().find(|entry| entry.stage == 0).cloned();
                    for entry in moved.after.iter_mut().flatten().filter(|entry| entry.stage == 0) {
                        entry.assume_unchanged =
                            before.as_ref().is_some_and(|before| before.assume_unchanged);
                        entry.skip_worktree = before.as_ref().is_some_and(|before| before.skip_worktree);
                    }
                }
                checkout.index.retain(|_, moved| moved.before != moved.after);
            }
        }
    }

    /// The branches that an operation moves: those at `HEAD`, and the one that a rebase returns to.
    fn operation_branches(&self, checkout: &CheckoutName) -> Vec<GitName> {
        let mut branches: Vec<GitName> = Vec::new();
        if let Some(head) = self.moved.checkouts.get(checkout).and_then(|checkout| checkout.head.as_ref()) {
            branches.extend(
                [branch_of(head.before.as_ref()), branch_of(head.after.as_ref())]
                    .into_iter()
                    .flatten()
                    .cloned(),
            );
        } else if let Some(branch) = self.heads.get(checkout).and_then(|head| branch_of(Some(head))) {
            branches.push(branch.clone());
        }
        branches.extend(branches_to_return_to(&self.moved.files));
        branches
    }

    /// A `HEAD` must not end on a branch that stays away.
    fn check_heads(&self, change: &RepositoryMove) -> Result<()> {
        for checkout in change.checkouts.values() {
            let Some(branch) = checkout.head.as_ref().and_then(|head| branch_of(head.after.as_ref())) else {
                continue;
            };
            let is_new = self.moved.refs.get(branch).is_some_and(|moved| moved.before.is_none());
            if is_new && !change.refs.contains_key(branch) {
                let words = format!("HEAD would be on `{}`, which is left out", branch.escaped());
                return Err(GitError::Unsupported(words));
            }
        }
        Ok(())
    }
}
