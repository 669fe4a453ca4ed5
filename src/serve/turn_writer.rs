//! What every way of writing a turn without a screen does.

use super::changes::ChangeReport;
use crate::agent::TurnEnding;
use crate::agent::TurnEvent;
use std::io::Write;
use std::io::{self};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerAudience {
    /// At a terminal of so many columns.
    Person {
        columns: usize,
    },
    Program,
}

/// What hears a turn's events and writes them down.
pub(super) trait TurnWriter {
    fn write_event(&mut self, event: &TurnEvent, out: &mut dyn Write, side: &mut dyn Write)
    -> io::Result<()>;

    fn end(
        &mut self,
        ending: &TurnEnding,
        changes: Vec<ChangeReport>,
        out: &mut dyn Write,
        side: &mut dyn Write,
    ) -> io::Result<()>;
}
