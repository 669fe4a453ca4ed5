//! Who wrote which line: asked for when it is first wanted, worked out beside the drawing.
//!
//! The whole history of a file may have to be played again for it, which takes as long as it takes.

use std::sync::mpsc::{Receiver, TryRecvError, channel};

/// Works out who each line is from, in a few words. Lines beyond its end, and empty words, stand for nobody.
pub type ProvenanceFn = Box<dyn FnOnce() -> Vec<String> + Send>;

pub(super) enum ProvenanceState {
    /// Nobody can say.
    Unknown,
    /// It was not asked for yet.
    Asleep(ProvenanceFn),
    Coming(Receiver<Vec<String>>),
    Known(Vec<String>),
}

impl ProvenanceState {
    /// Begins to work it out, once.
    pub(super) fn want(&mut self) {
        let ProvenanceState::Asleep(_) = self else { return };
        let ProvenanceState::Asleep(work) = std::mem::replace(self, ProvenanceState::Unknown) else { return };
        let (sender, made) = channel();
        let thread = std::thread::Builder::new().name("blame".into());
        if thread.spawn(move || drop(sender.send(work()))).is_ok() {
            *self = ProvenanceState::Coming(made);
        }
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(self, ProvenanceState::Unknown)
    }

    pub(super) fn is_coming(&self) -> bool {
        matches!(self, ProvenanceState::Coming(_))
    }

    /// Takes in what was worked out; true when there is something new.
    pub(super) fn take_in(&mut self) -> bool {
        let ProvenanceState::Coming(made) = self else { return false };
        *self = match made.try_recv() {
            Ok(lines) => ProvenanceState::Known(lines),
            Err(TryRecvError::Disconnected) => ProvenanceState::Unknown,
            Err(TryRecvError::Empty) => return false,
        };
        true
    }

    pub(super) fn of(&self, line: usize) -> &str {
        match self {
            ProvenanceState::Known(lines) => lines.get(line).map_or("", String::as_str),
            ProvenanceState::Coming(_) => "working out…",
            ProvenanceState::Unknown | ProvenanceState::Asleep(_) => "",
        }
    }
}
