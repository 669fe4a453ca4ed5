//! What the next start does with an apply that was killed: old or new, and no lock of ours is left.

use super::journal::{ApplyJournal, MovePhase};
use super::lock;
use super::place::ApplyPlace;
use super::run::{RecoveryGoal, drive};
use crate::error::Result;
use std::path::PathBuf;

/// Completes or reverts the apply in `place.journal`. The caller says which if it wrote files of the work tree;
/// [`ApplyJournal::phase`] tells what the apply itself would do. Nothing is done if the apply was done. What somebody else moved
/// since stays as it is. Returns locks that may be ours, or another program's: they stay, too.
pub fn recover(place: ApplyPlace<'_>, goal: RecoveryGoal) -> Result<Vec<PathBuf>> {
    let mut journal = ApplyJournal::load(place.journal)?;
    if journal.phase == MovePhase::Done && goal == RecoveryGoal::Complete {
        return Ok(Vec::new());
    }
    let unknown_locks = lock::remove_own(&journal);
    drive(&mut journal, place, goal)?;
    match goal {
        RecoveryGoal::Complete => {
            journal.locks.clear();
            journal.set_phase(MovePhase::Done)?;
            journal.remove_scratch()?;
        }
        RecoveryGoal::Revert => journal.discard()?,
    }
    Ok(unknown_locks)
}
