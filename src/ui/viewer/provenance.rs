//! Who wrote which line: asked for when it is first wanted, worked out beside the drawing.
//!
//! The whole history of a file may have to be played again for it, which takes as long as it takes.

use crate::ui::worker::Worker;

/// Works out who each line is from, in a few words. Lines beyond its end, and empty words, stand for nobody.
pub type ProvenanceFn = Box<dyn FnOnce() -> Vec<String> + Send>;

pub(super) enum ProvenanceState {
    /// Nobody can say.
    Unknown,
    /// It is worked out, once that was asked for.
    Coming(Worker<(), Vec<String>>),
    Known(Vec<String>),
}

impl ProvenanceState {
    pub(super) fn asleep(work: ProvenanceFn) -> ProvenanceState {
        let mut work = Some(work);
        let mut once = move || work.take().map_or_else(Vec::new, |work| work());
        ProvenanceState::Coming(Worker::each("blame", move |()| once()))
    }

    /// Begins to work it out, once.
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

    /// Takes in what was worked out; true when there is something new.
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
