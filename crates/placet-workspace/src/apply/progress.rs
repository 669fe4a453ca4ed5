//! How far an apply is, for a screen, and the request of a person to stop it.
//!
//! A front end holds the progress of a view and reads it from another thread. Stopping is possible until the first file
//! changes; from then on the apply completes.

use crate::files::metadata::path_state::PathState;
use std::sync::atomic::{AtomicU8, AtomicUsize, Ordering};

/// What an apply or an undo does now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApplyPhase {
    /// Another placet applies changes in this workspace. The number is that of its process, or 0.
    Waiting,
    /// Finds out what is to be done.
    Planning,
    /// Compares the files with what they were when the change was made.
    Checking,
    /// Writes the new contents next to their targets.
    Staging,
    /// Changes the files of the workspace.
    Committing,
    /// Stores the old contents for undo.
    Storing,
}

impl ApplyPhase {
    /// For whom [`ApplyPhase::Waiting`] waits.
    pub fn waiting_words(process: usize) -> String {
        let process = if process == 0 { String::new() } else { format!(" (process {process})") };
        format!("waiting for another placet{process}, which applies changes here")
    }

    /// No file of the workspace has changed yet.
    pub fn can_stop(self) -> bool {
        !matches!(self, ApplyPhase::Committing | ApplyPhase::Storing)
    }
}

const PHASES: [ApplyPhase; 6] = [
    ApplyPhase::Planning,
    ApplyPhase::Checking,
    ApplyPhase::Staging,
    ApplyPhase::Committing,
    ApplyPhase::Storing,
    ApplyPhase::Waiting,
];

const OPEN: u8 = 0;
const CANCELLED: u8 = 1;
const COMMITTED: u8 = 2;

/// Shared by the thread that applies and the thread that shows how far it is.
#[derive(Debug, Default)]
pub struct ApplyProgress {
    phase: AtomicU8,
    done: AtomicUsize,
    all: AtomicUsize,
    state: AtomicU8,
}

impl ApplyProgress {
    /// Forgets an earlier apply, and that it was stopped.
    pub fn reset(&self) {
        self.state.store(OPEN, Ordering::SeqCst);
        self.enter(ApplyPhase::Planning, 0);
    }

    /// Stops the apply before its first change. False when files change already: then the apply completes.
    pub fn cancel(&self) -> bool {
        let was = self.state.compare_exchange(OPEN, CANCELLED, Ordering::SeqCst, Ordering::SeqCst);
        was != Err(COMMITTED)
    }

    /// The phase, and how many of its files are done, of how many; 0 where that is not known.
    pub fn now(&self) -> (ApplyPhase, usize, usize) {
        let phase = PHASES.get(usize::from(self.phase.load(Ordering::Relaxed)));
        let phase = phase.copied().unwrap_or(ApplyPhase::Planning);
        (phase, self.done.load(Ordering::Relaxed), self.all.load(Ordering::Relaxed))
    }

    pub(crate) fn enter(&self, phase: ApplyPhase, all: usize) {
        let number = PHASES.iter().position(|one| *one == phase).and_then(|at| u8::try_from(at).ok());
        self.phase.store(number.unwrap_or(0), Ordering::Relaxed);
        self.done.store(0, Ordering::Relaxed);
        self.all.store(all, Ordering::Relaxed);
    }

    /// The process that has the lock.
    pub(crate) fn waits_for(&self, process: usize) {
        self.done.store(process, Ordering::Relaxed);
    }

    /// A change was handled. Only files count, as in every report.
    pub(crate) fn step(&self, before: &PathState, after: &PathState) {
        if before.counts_as_file() || after.counts_as_file() {
            self.done.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The pending changes are read, from the first on.
    pub(crate) fn begin_reading(&self) {
        if self.now().0 == ApplyPhase::Planning {
            self.enter(ApplyPhase::Planning, 0);
        }
    }

    /// A pending change was read. How many there are is not known before.
    pub(crate) fn read(&self, before: &PathState, after: &PathState) {
        if self.now().0 == ApplyPhase::Planning {
            self.step(before, after);
        }
    }

    pub fn is_cancelled(&self) -> bool {
        self.state.load(Ordering::SeqCst) == CANCELLED
    }

    /// From here on the apply is not stopped. False when it was stopped before.
    pub(super) fn begin_commit(&self) -> bool {
        self.state.compare_exchange(OPEN, COMMITTED, Ordering::SeqCst, Ordering::SeqCst) != Err(CANCELLED)
    }

    /// The next apply of the same front end can be stopped again.
    pub(super) fn end_commit(&self) {
        let _ = self.state.compare_exchange(COMMITTED, OPEN, Ordering::SeqCst, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::metadata::path_state::FileAttrs;

    #[test]
    fn an_apply_is_stopped_before_its_first_change_or_not_at_all() {
        let progress = ApplyProgress::default();
        assert!(progress.begin_commit());
        assert!(!progress.cancel());
        assert!(!progress.is_cancelled());
        progress.end_commit();
        assert!(progress.cancel() && progress.is_cancelled());
        assert!(!progress.begin_commit());
        progress.end_commit();
        assert!(progress.is_cancelled(), "the request is for all that the front end does");
        progress.reset();
        assert!(progress.begin_commit());
    }

    #[test]
    fn the_phase_and_its_files_are_seen_from_another_thread() {
        let progress = ApplyProgress::default();
        assert_eq!(progress.now(), (ApplyPhase::Planning, 0, 0));
        progress.enter(ApplyPhase::Committing, 3);
        let (none, link) = (PathState::Absent, PathState::Link { target: "a".into() });
        let dir = PathState::Directory { attrs: FileAttrs::default() };
        std::thread::scope(|scope| scope.spawn(|| progress.step(&none, &link)).join()).unwrap();
        assert_eq!(progress.now(), (ApplyPhase::Committing, 1, 3));
        // A directory is no file, and a change is read only before the apply begins.
        progress.step(&dir, &none);
        progress.begin_reading();
        progress.read(&none, &link);
        assert_eq!(progress.now(), (ApplyPhase::Committing, 1, 3));
        progress.reset();
        progress.read(&none, &link);
        progress.read(&none, &dir);
        assert_eq!(progress.now(), (ApplyPhase::Planning, 1, 0));
    }
}
