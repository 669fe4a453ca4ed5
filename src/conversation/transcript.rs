//! The conversation so far, always in a state that a provider accepts.

use super::{CallId, CallResult, Image, Message, Outcome};
use thiserror::Error;

/// An append-only list of messages. Invariants: every call is answered by exactly one result in the very next
/// message, in the order of the calls; call ids are unique within their answer; nothing is empty.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Transcript {
    messages: Vec<Message>,
}

#[derive(Debug, Error, PartialEq, Eq)]
pub enum TranscriptError {
    #[error("the call `{0}` has no result yet")]
    Unanswered(CallId),
    #[error("the result `{0}` answers no open call")]
    Unasked(CallId),
    #[error("two calls of one answer are both named `{0}`")]
    Duplicate(CallId),
    #[error("a message without content")]
    Empty,
}

impl Transcript {
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// Appends `message`, or refuses it and changes nothing.
    pub fn push(&mut self, message: Message) -> Result<(), TranscriptError> {
        let open = self.open_calls();
        match &message {
            Message::Results { results } => {
                let answered: Vec<CallId> = results.iter().map(|r| r.id.clone()).collect();
                if let Some(extra) = answered.iter().find(|id| !open.contains(id)) {
                    return Err(TranscriptError::Unasked(extra.clone()));
                }
                if let Some(missing) = open.iter().find(|id| !answered.contains(id)) {
                    return Err(TranscriptError::Unanswered(missing.clone()));
                }
                if answered.len() != open.len() {
                    return Err(TranscriptError::Unasked(
                        answered.last().cloned().unwrap_or_else(|| CallId::new("")),
                    ));
                }
                if results.is_empty() {
                    return Err(TranscriptError::Empty);
                }
            }
            Message::User { parts } => {
                refuse_open(&open)?;
                if parts.is_empty() {
                    return Err(TranscriptError::Empty);
                }
            }
            Message::Assistant(answer) => {
                refuse_open(&open)?;
                if answer.blocks.is_empty() {
                    return Err(TranscriptError::Empty);
                }
                let mut seen: Vec<&CallId> = Vec::new();
                for call in answer.calls() {
                    if seen.contains(&&call.id) {
                        return Err(TranscriptError::Duplicate(call.id.clone()));
                    }
                    seen.push(&call.id);
                }
            }
        }
        self.messages.push(message);
        Ok(())
    }

    /// The calls of the last answer that still wait for their results, in order.
    pub fn open_calls(&self) -> Vec<CallId> {
        match self.messages.last() {
            Some(Message::Assistant(answer)) => answer.calls().map(|c| c.id.clone()).collect(),
            _ => Vec::new(),
        }
    }

    /// Answers every open call as interrupted: what a crash or a kill left behind. Returns the message it added.
    pub fn close_open_calls(&mut self, why: &str) -> Option<Message> {
        let results: Vec<CallResult> = match self.messages.last() {
            Some(Message::Assistant(answer)) => {
                answer.calls().map(|call| CallResult::text(call, Outcome::Interrupted, why)).collect()
            }
            _ => Vec::new(),
        };
        if results.is_empty() {
            return None;
        }
        let message = Message::Results { results };
        self.messages.push(message.clone());
        Some(message)
    }

    /// Forgets everything from the message `index` on, and returns it.
    pub fn truncate(&mut self, index: usize) -> Vec<Message> {
        self.messages.split_off(index.min(self.messages.len()))
    }

    /// Every picture, for its bytes to be put in: they are no part of what must hold.
    pub fn pictures_mut(&mut self) -> impl Iterator<Item = &mut Image> {
        self.messages.iter_mut().flat_map(Message::pictures_mut)
    }
}

fn refuse_open(open: &[CallId]) -> Result<(), TranscriptError> {
    match open.first() {
        Some(id) => Err(TranscriptError::Unanswered(id.clone())),
        None => Ok(()),
    }
}

#[cfg(test)]
#[path = "transcript_tests.rs"]
mod tests;
