//! Whether a change takes something away: in write mode placet applies what only adds, and asks about the rest.

use crate::group::WaitingGroup;
use crate::question::RepositoryQuestion;
use crate::rows::{HeadFact, IndexFact, RefFact, RefMovement, RepositoryRows};
use crate::state::RefTarget;

impl RepositoryRows {
    /// True where both sides moved something, where a ref, a commit, a stash entry or a staged change goes, and where anything
    /// waits but files of git, each of which waits by its name.
    #[must_use]
    pub fn takes_away(&self, question: &RepositoryQuestion) -> bool {
        let by_ref = |fact: &RefFact| match &fact.movement {
            RefMovement::New(_) | RefMovement::Renamed { .. } => false,
            // A tag is not counted: it names one object for good.
            RefMovement::Moved { from: RefTarget::Object(_), to: RefTarget::Object(_), counts } => {
                counts.is_none_or(|(_, fewer)| fewer > 0)
            }
            RefMovement::Moved { .. } | RefMovement::Deleted(_) => true,
        };
        let by_head = |head: &HeadFact| head.had_staged || !self.dropped.is_empty();
        // Who resolves a conflict takes its versions out of the index.
        let by_entry = |fact: &IndexFact| {
            fact.loses_staged || fact.moved.before.iter().flatten().any(|entry| entry.stage > 0)
        };
        let is_file = |group: &WaitingGroup| matches!(group, WaitingGroup::File(_));
        !question.comparison.conflicts.is_empty()
            || self.refs.iter().any(by_ref)
            || self.heads.iter().any(by_head)
            || self.index.values().flatten().any(by_entry)
            || !self.stash_dropped.is_empty()
            || !question.groups.iter().all(is_file)
    }
}
