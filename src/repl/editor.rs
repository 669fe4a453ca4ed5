//! The line in the person's own editor, and back.

use crate::ui::{editor, term};
use rustyline::{Cmd, ConditionalEventHandler, Event, EventContext, RepeatCount};
use std::sync::{Arc, Mutex, PoisonError};

/// Ctrl-X Ctrl-E, Ctrl-G. The text comes back through `edited`, and the line is asked for anew with it: replacing it
/// in place would leave the cursor at its beginning.
pub(super) struct Edit {
    own: Option<String>,
    edited: Arc<Mutex<Option<String>>>,
}

impl Edit {
    pub(super) fn new(own: Option<String>, edited: Arc<Mutex<Option<String>>>) -> Edit {
        Edit { own, edited }
    }
}

impl ConditionalEventHandler for Edit {
    fn handle(&self, _: &Event, _: RepeatCount, _: bool, ctx: &EventContext) -> Option<Cmd> {
        term::write_all(b"\x1b[?2004l");
        let program = editor::program(self.own.as_deref());
        let text = term::lent(|| editor::edit(&program, ctx.line(), ".md"));
        term::write_all(b"\x1b[?2004h");
        match text {
            Ok(text) => {
                let text = text.trim_end_matches('\n').to_string();
                *self.edited.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
                Some(Cmd::Interrupt)
            }
            // The draft stays as it is.
            Err(_) => Some(Cmd::Repaint),
        }
    }
}
