//! The beginning of a conversation in short: what a model is given in place of messages that no longer fit its window.

use super::{Message, Note, Part};
use serde::{Deserialize, Serialize};

/// Stands for the messages before `upto`, which stay on record. It never parts a call from its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationSummary {
    pub upto: usize,
    /// The summary itself, and notes that still hold.
    pub notes: Vec<Note>,
}

impl ConversationSummary {
    /// The conversation as the model has it: the summary, then `messages` from where it ends. In the middle of a turn
    /// what the person asked for stays in their own words.
    pub fn over(&self, messages: &[Message]) -> Vec<Message> {
        self.over_from(0, messages)
    }

    /// The same where `messages` are those from `begins` on: the turn that the summary ends in is among them.
    pub(super) fn over_from(&self, begins: usize, messages: &[Message]) -> Vec<Message> {
        let at = self.upto.saturating_sub(begins);
        let (before, after) = messages.split_at_checked(at).unwrap_or((messages, &[]));
        let (said, rest) = match after.split_first() {
            Some((Message::User { parts }, rest)) => (parts.clone(), rest),
            _ => (request_in(before), after),
        };
        // A note may have come with the request itself.
        let notes = self.notes.iter().cloned().map(Part::Note).filter(|note| !said.contains(note));
        let parts: Vec<Part> = notes.chain(said.iter().cloned()).collect();
        std::iter::once(Message::User { parts }).chain(rest.iter().cloned()).collect()
    }
}

/// What the person asked for in the turn that `messages` end in, with what they added while it ran.
fn request_in(messages: &[Message]) -> Vec<Part> {
    let mut said: Vec<&[Part]> = Vec::new();
    for (at, message) in messages.iter().enumerate().rev() {
        let Message::User { parts } = message else { continue };
        said.push(parts);
        // What follows results was added while the turn ran.
        let goes_on = at.checked_sub(1).and_then(|before| messages.get(before));
        if !matches!(goes_on, Some(Message::Results { .. })) {
            break;
        }
    }
    said.into_iter().rev().flatten().cloned().collect()
}
