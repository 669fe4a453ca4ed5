//! Reads placet's own notes from a conversation. Notes are values, and only values are read: texts are never searched.

use placet_permission::Mode;
use placet_text::conversation::{Message, Note, Part, words_of};

pub(crate) fn mode_note(mode: Mode) -> Note {
    Note::Mode { mode: mode.name().into(), meaning: mode.meaning_for_model().into() }
}

/// The mode that `note` reported, if it is such a note.
pub(crate) fn mode_in(note: &Note) -> Option<Mode> {
    let Note::Mode { mode: name, .. } = note else { return None };
    Mode::ALL.into_iter().find(|mode| mode.name() == name)
}

/// The instructions that `note` gave; empty if it reported that there are no instructions any more.
pub(crate) fn instructions_in(note: &Note) -> Option<&str> {
    match note {
        Note::Instructions { text, .. } => Some(text),
        Note::InstructionsGone => Some(""),
        _ => None,
    }
}

/// The list of skills that `note` gave.
pub(crate) fn skills_in(note: &Note) -> Option<&str> {
    match note {
        Note::Skills { text, .. } => Some(text),
        _ => None,
    }
}

/// The notes of `messages`, the newest first.
pub(crate) fn newest_first(messages: &[Message]) -> impl Iterator<Item = &Note> {
    messages.iter().rev().flat_map(|message| message.parts().rev().filter_map(Part::as_note))
}

/// The text of a message that the model did not write, as the model reads it.
pub(crate) fn words_in(message: &Message) -> String {
    match message {
        Message::User { parts } => words_of(parts),
        Message::Results { results } => {
            results.iter().map(|result| result.body()).collect::<Vec<_>>().join("\n")
        }
        Message::Assistant(_) => String::new(),
    }
}
