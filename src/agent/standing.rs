//! Notes that hold until they are told anew, in brackets among the messages: the mode, and the project's instructions.
//! They must outlive the messages they came with, and are recognised by how they begin.

use crate::conversation::{Message, Part, SUMMED_UP};
use crate::permission::Mode;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    Summary,
    Mode,
    Instructions,
}

pub(super) const KINDS: [Standing; 3] = [Standing::Summary, Standing::Instructions, Standing::Mode];

/// The first lines of the project's instructions as they are told; `GONE` is the whole note.
pub(super) const FIRST: &str = "[placet: the project's instructions]\n";
pub(super) const AGAIN: &str =
    "[placet: the project's instructions, changed; this replaces the earlier text]\n";
pub(super) const GONE: &str = "[placet: the project's AGENTS.md is gone; its instructions no longer hold]";

pub(super) fn mode_words(mode: Mode) -> String {
    format!("[placet: the mode is {mode}: {}]", mode.meaning())
}

/// The mode that `text` told, if it is such a note.
pub(super) fn mode_in(text: &str) -> Option<Mode> {
    Mode::ALL.into_iter().find(|mode| mode_words(*mode) == text)
}

/// The instructions that `text` told; empty where it told that there are none any more.
pub(super) fn instructions_in(text: &str) -> Option<&str> {
    match text {
        GONE => Some(""),
        _ => text.strip_prefix(AGAIN).or_else(|| text.strip_prefix(FIRST)),
    }
}

pub(super) fn kind_of(text: &str) -> Option<Standing> {
    match (mode_in(text), instructions_in(text)) {
        (Some(_), _) => Some(Standing::Mode),
        (None, Some(_)) => Some(Standing::Instructions),
        (None, None) => text.starts_with(SUMMED_UP).then_some(Standing::Summary),
    }
}

/// The texts of a message that did not come from the model, the last first.
pub(super) fn texts(message: &Message) -> Box<dyn Iterator<Item = &str> + '_> {
    match message {
        Message::User { parts } => Box::new(parts.iter().rev().filter_map(Part::as_text)),
        Message::Results { results } => {
            Box::new(results.iter().rev().flat_map(|r| r.parts.iter().rev()).filter_map(Part::as_text))
        }
        Message::Assistant(_) => Box::new(std::iter::empty()),
    }
}
