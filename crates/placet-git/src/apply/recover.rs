//! What the next start does with an apply that was killed: old or new, and no lock of ours is left.

use super::journal::{ApplyJournal, MovePhase};
use super::lock;
use super::place::ApplyPlace;
use super::run::{RecoveryGoal, drive};
use crate::compare::RepositoryItem;
use crate::error::Result;
use std::collections::BTreeSet;
use std::path::PathBuf;

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
