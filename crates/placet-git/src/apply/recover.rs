//! What the next start does with an apply that was killed: old or new, and no lock of ours is left.

use super::journal::{ApplyJournal, MovePhase};
use super::{ApplyPlace, ApplyRun, NewObjects, lock};
use crate::compare::{Comparison, RepositoryItem};
use crate::error::Result;
use crate::repository_move::{Moved, RepositoryMove};
use crate::runner::PlainRunner;
use crate::source::PlainSource;
use crate::state::{RepositoryState, StashEntry};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Where recovery goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryGoal {
    Revert,
    Complete,
}

/// What recovery did.
#[derive(Clone, Debug)]
pub struct MoveRecovery {
    pub goal: RecoveryGoal,
    /// Items that somebody else moved since; they stay as they are.
    pub left_alone: BTreeSet<RepositoryItem>,
    /// Locks that may be ours, or another program's: they stay.
    pub unknown_locks: Vec<PathBuf>,
}

/// Completes or reverts the apply in `place.journal`. The caller says which if it wrote files of the work tree;
/// [`ApplyJournal::phase`] tells what the apply itself would do. Nothing is done if the apply was done.
pub fn recover(place: ApplyPlace<'_>, goal: RecoveryGoal) -> Result<MoveRecovery> {
    let mut journal = ApplyJournal::load(place.journal)?;
    let nothing = MoveRecovery { goal, left_alone: BTreeSet::new(), unknown_locks: Vec::new() };
    if journal.phase == MovePhase::Done && goal == RecoveryGoal::Complete {
        return Ok(nothing);
    }
    let unknown_locks = lock::remove_own(&journal);
    let left_alone = drive(&mut journal, place, goal)?;
    match goal {
        RecoveryGoal::Complete => {
            journal.locks.clear();
            journal.set_phase(MovePhase::Done)?;
            journal.remove_scratch()?;
        }
        RecoveryGoal::Revert => journal.discard()?,
    }
    Ok(MoveRecovery { goal, left_alone, unknown_locks })
}

/// Moves each item that is not there yet.
pub(super) fn drive(
    journal: &mut ApplyJournal,
    place: ApplyPlace<'_>,
    goal: RecoveryGoal,
) -> Result<BTreeSet<RepositoryItem>> {
    let change = match goal {
        RecoveryGoal::Complete => journal.change.clone(),
        RecoveryGoal::Revert => journal.change.inverse(),
    };
    let scratch = journal.scratch()?;
    let now = RepositoryState::read(&PlainSource::new(place.git_dir), &scratch.join("found"), &PlainRunner)?;
    let found = Comparison::again(&change, &now);
    let mut left = found.moved.clone();
    let mut conflicts = found.conflicts.clone();
    if let Some(stash) = interrupted_stash(&change, &now.stash) {
        conflicts.remove(&RepositoryItem::Stash);
        left.stash = Some(stash);
    }
    if !left.is_empty() {
        let mut run = ApplyRun::new(journal.clone(), place.git_dir);
        let done = run.prepare(&left, NewObjects::Nothing, place).and_then(|()| run.finish(&left, place));
        if let Err(error) = done {
            if let Some(refs) = run.refs.take() {
                refs.abort();
            }
            run.locks.release();
            return Err(error);
        }
    }
    Ok(conflicts)
}

/// A list that was being written has the oldest entries of the old or of the new one.
fn interrupted_stash(change: &RepositoryMove, now: &[StashEntry]) -> Option<Moved<Vec<StashEntry>>> {
    let Moved { before, after } = change.stash.as_ref()?;
    let (before, after) = (before.as_deref().unwrap_or_default(), after.as_deref().unwrap_or_default());
    let is_part = now != before && now != after && (before.ends_with(now) || after.ends_with(now));
    is_part.then(|| Moved { before: Some(now.to_vec()), after: Some(after.to_vec()) })
}
