//! Which parts of a change add and which take away: in write mode placet applies what adds, and asks about the rest.

use crate::git_name::GitName;
use crate::group::WaitingGroup;
use crate::question::RepositoryQuestion;
use crate::rows::{IndexFact, RefMovement, RepositoryRows};
use crate::state::{CheckoutName, RefTarget, StashEntry};

/// Why a change waits in write mode.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakenAway {
    /// Both sides moved something.
    Conflict,
    RefDeleted(GitName),
    /// Commits are no longer on it, or it names another object.
    RefRewritten(GitName),
    /// A ref became symbolic, or no longer is.
    RefRedirected(GitName),
    /// `HEAD` leaves the person's branch while their index has staged entries.
    SwitchedWithStaged(CheckoutName),
    /// `HEAD` leaves commits that no ref has.
    CommitsDropped(CheckoutName),
    /// Staged content is neither committed nor staged any more.
    StagedLost(CheckoutName, GitName),
    StashDropped(StashEntry),
    /// A file of git, an operation, a worktree, hidden files.
    Group(WaitingGroup),
}

impl RepositoryRows {
    /// What of a change takes something away; nothing if all of it only adds.
    #[must_use]
    pub fn taken_away(&self, question: &RepositoryQuestion) -> Vec<TakenAway> {
        let mut found: Vec<TakenAway> = Vec::new();
        if !question.comparison.conflicts.is_empty() {
            found.push(TakenAway::Conflict);
        }
        for fact in &self.refs {
            let name = || fact.name.clone();
            match &fact.movement {
                RefMovement::New(_) | RefMovement::Renamed { .. } => {}
                RefMovement::Deleted(_) => found.push(TakenAway::RefDeleted(name())),
                RefMovement::Moved { from: RefTarget::Object(_), to: RefTarget::Object(_), counts } => {
                    // A tag is not counted: it names one object for good.
                    if counts.is_none_or(|(_, fewer)| fewer > 0) {
                        found.push(TakenAway::RefRewritten(name()));
                    }
                }
                RefMovement::Moved { .. } => found.push(TakenAway::RefRedirected(name())),
            }
        }
        for head in &self.heads {
            let name = &head.checkout;
            if head.had_staged {
                found.push(TakenAway::SwitchedWithStaged(name.clone()));
            }
            if !self.dropped.is_empty() {
                found.push(TakenAway::CommitsDropped(name.clone()));
            }
        }
        for (checkout, facts) in &self.index {
            // Who resolves a conflict takes its versions out of the index.
            let is_resolved =
                |fact: &&IndexFact| fact.moved.before.iter().flatten().any(|entry| entry.stage > 0);
            let lost = facts.iter().filter(|fact| fact.loses_staged || is_resolved(fact));
            found.extend(lost.map(|fact| TakenAway::StagedLost(checkout.clone(), fact.path.clone())));
        }
        found.extend(self.stash_dropped.iter().map(|fact| TakenAway::StashDropped(fact.entry.clone())));
        found.extend(question.groups.iter().cloned().map(TakenAway::Group));
        found
    }
}
