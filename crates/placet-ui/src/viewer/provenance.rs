//! Who wrote which line: computed in the background, at the first request.
//!
//! The whole history of a file may have to be replayed, which can take long.

use crate::worker::Worker;

/// Computes who each line is from, in a few words. A line beyond the end of the list, and an empty entry, have no known
/// author.
pub type ProvenanceFn = Box<dyn FnOnce() -> Vec<String> + Send>;

pub(super) enum ProvenanceState {
    /// The authors cannot be found.
    Unknown,
    /// The authors are computed, once they are asked for.
    Coming(Worker<(), Vec<String>>),
    Known(Vec<String>),
}

impl ProvenanceState {
    pub(super) fn asleep(work: ProvenanceFn) -> ProvenanceState {
        let mut work = Some(work);
        let mut once = move || work.take().map_or_else(Vec::new, |work| work());
        ProvenanceState::Coming(Worker::each("blame", move |()| once()))
    }

    /// Starts the computation, once.
    pub(super) fn want(&mut self) {
        if let ProvenanceState::Coming(worker) = self
            && !worker.is_busy()
        {
            worker.send(());
        }
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, ProvenanceState::Unknown)
    }

    pub(super) fn is_coming(&self) -> bool {
        matches!(self, ProvenanceState::Coming(worker) if worker.is_busy())
    }

    /// Receives the result; true when there is something new.
    pub(super) fn take_in(&mut self) -> bool {
        let ProvenanceState::Coming(worker) = self else { return false };
        let Some(made) = worker.poll() else { return false };
        *self = made.map_or(ProvenanceState::Unknown, ProvenanceState::Known);
        true
    }

    pub(super) fn of(&self, line: usize) -> &str {
        match self {
            ProvenanceState::Known(lines) => lines.get(line).map_or("", String::as_str),
            ProvenanceState::Coming(_) => "working out…",
            ProvenanceState::Unknown => "",
        }
    }
}
