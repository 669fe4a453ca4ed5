//! One supervisor that waits for the next command, so that no command waits for the start of its supervisor.

use crate::ReadySupervisor;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A supervisor that no command has taken for this long is ended: it is a process, and it keeps mounts that have ended
/// outside.
const KEEP: Duration = Duration::from_secs(5);

/// See the module. Clones share the supervisor.
#[derive(Clone, Debug, Default)]
pub struct SupervisorReserve(Arc<Mutex<ReserveState>>);

#[derive(Debug, Default)]
struct ReserveState {
    waiting: Option<ReadySupervisor>,
    /// How many have been started: the timer of one must not end another.
    started: u64,
}

impl SupervisorReserve {
    /// Starts a supervisor, unless one waits already; `program` is placet itself. Call it within a runtime. Where it cannot
    /// be started, the command starts one, and reports why that fails.
    pub fn fill(&self, program: &Path) {
        let number = {
            let mut state = self.state();
            if state.waiting.is_some() {
                return;
            }
            state.waiting = ReadySupervisor::start(program).ok();
            state.started += 1;
            state.started
        };
        let shared = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            tokio::time::sleep(KEEP).await;
            if let Some(shared) = shared.upgrade() {
                SupervisorReserve(shared).end(number);
            }
        });
    }

    /// The supervisor that waits, if there is one.
    pub fn take(&self) -> Option<ReadySupervisor> {
        self.state().waiting.take()
    }

    fn end(&self, number: u64) {
        let mut state = self.state();
        if state.started != number {
            return;
        }
        if let Some(unused) = state.waiting.take() {
            tokio::task::spawn_blocking(move || unused.end());
        }
    }

    fn state(&self) -> MutexGuard<'_, ReserveState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
