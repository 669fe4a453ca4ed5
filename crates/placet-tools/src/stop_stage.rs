//! What a call still has to do when it is stopped: the turn reads it before it gives the call up.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is left of a call that was stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StopStage {
    /// Nothing that a person must know.
    #[default]
    Plain,
    /// A command that runs in layers of its own: they are discarded.
    CommandRuns,
    /// The command has ended, and its changes are being collected.
    Collects,
    /// The turn no longer waits for the call.
    GivenUp,
}

/// The stage of one call: the call writes it and the turn reads it.
#[derive(Clone, Debug, Default)]
pub struct StopStageCell(Arc<Mutex<StopStage>>);

impl StopStageCell {
    pub fn get(&self) -> StopStage {
        *self.lock()
    }

    /// Gives the call up, and returns the stage until then.
    pub fn give_up(&self) -> StopStage {
        std::mem::replace(&mut *self.lock(), StopStage::GivenUp)
    }

    /// False if the call was given up already: the person was told what became of it, and the call must do exactly that.
    pub(super) fn enter(&self, stage: StopStage) -> bool {
        let mut now = self.lock();
        let is_awaited = *now != StopStage::GivenUp;
        if is_awaited {
            *now = stage;
        }
        is_awaited
    }

    fn lock(&self) -> MutexGuard<'_, StopStage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
