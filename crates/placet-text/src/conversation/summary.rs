//! The summary of the beginning of a conversation: it replaces messages that no longer fit the model's window.

use super::{Message, Note, Part};
use serde::{Deserialize, Serialize};

/// Replaces the messages before `upto`, which remain in the session. It never separates a call from its result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationSummary {
    pub upto: usize,
    /// The summary itself, and notes that still apply.
    pub notes: Vec<Note>,
}

impl ConversationSummary {
    /// The conversation as the model gets it: the summary, then `messages` from its end on. In the middle of a turn,
    /// the person's request remains word for word.
    pub fn over(&self, messages: &[Message]) -> Vec<Message> {
        self.over_from(0, messages)
    }

    /// The same for `messages` from the position `begins` on; they include the turn in which the summary ends.
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

/// The person's request in the last turn of `messages`, with what the person added while the turn ran.
fn request_in(messages: &[Message]) -> Vec<Part> {
    let mut said: Vec<&[Part]> = Vec::new();
    for (at, message) in messages.iter().enumerate().rev() {
        let Message::User { parts } = message else { continue };
        said.push(parts);
        // A message after results was added while the turn ran.
        let goes_on = at.checked_sub(1).and_then(|before| messages.get(before));
        if !matches!(goes_on, Some(Message::Results { .. })) {
            break;
        }
    }
    said.into_iter().rev().flatten().cloned().collect()
}
