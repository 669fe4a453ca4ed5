//! The present conversation, always in a state that a provider accepts.

use super::message_prefix::MessagePrefix;
use super::{CallId, CallInterruption, CallResult, ConversationSummary, Image, Message};
use std::borrow::Cow;
use thiserror::Error;

/// An append-only list of messages. Invariants: every call is answered by exactly one result in the very next message,
/// in the order of the calls; call ids are unique within their answer; nothing is empty.
///
/// Its beginning may still be in a store: it is loaded on first access, which the caller does not notice.
#[derive(Clone, Debug, Default)]
pub struct Transcript {
    earlier: Option<MessagePrefix>,
    messages: Vec<Message>,
}

impl PartialEq for Transcript {
    fn eq(&self, other: &Transcript) -> bool {
        self.messages() == other.messages()
    }
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
    /// A conversation after a beginning that is not loaded yet.
    pub fn after(earlier: MessagePrefix) -> Transcript {
        Transcript { earlier: Some(earlier), messages: Vec::new() }
    }

    /// All messages. Loads the beginning from its source on first use, and stores it.
    pub fn messages(&self) -> &[Message] {
        self.earlier.as_ref().map_or(&self.messages, |earlier| earlier.with(&self.messages))
    }

    /// How many messages are in the source.
    pub fn begins(&self) -> usize {
        self.earlier.as_ref().map_or(0, MessagePrefix::count)
    }

    pub fn len(&self) -> usize {
        self.begins() + self.messages.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The messages from `index` on.
    pub fn since(&self, index: usize) -> &[Message] {
        match index.checked_sub(self.begins()) {
            Some(at) => self.messages.get(at..).unwrap_or(&[]),
            None => self.messages().get(index..).unwrap_or(&[]),
        }
    }

    pub fn last(&self) -> Option<&Message> {
        self.since(self.len().saturating_sub(1)).last()
    }

    /// How many messages the person wrote.
    pub fn user_message_count(&self) -> usize {
        let said = self.messages.iter().filter(|m| matches!(m, Message::User { .. })).count();
        self.earlier.as_ref().map_or(0, MessagePrefix::user_message_count) + said
    }

    /// The conversation as the model gets it: from the summary on, if there is one.
    pub fn over(&self, summary: Option<&ConversationSummary>) -> Cow<'_, [Message]> {
        match summary {
            None => Cow::Borrowed(self.messages()),
            Some(summary) if summary.upto >= self.begins() => {
                Cow::Owned(summary.over_from(self.begins(), &self.messages))
            }
            Some(summary) => Cow::Owned(summary.over_from(0, self.messages())),
        }
    }

    /// The round of the last successful call of `tool` in the part that is in the source: the answer, then its results.
    pub fn earlier_round(&self, tool: &str) -> Vec<Message> {
        self.earlier.as_ref().map_or_else(Vec::new, |earlier| earlier.round(tool))
    }

    /// Moves the loaded beginning into `messages`.
    fn merge_earlier(&mut self) {
        if let Some(whole) = self.earlier.as_mut().and_then(MessagePrefix::take) {
            self.messages = whole;
            self.earlier = None;
        }
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
        self.merge_earlier();
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

    /// Answers every open call as interrupted, after a crash or a kill. Returns the message that it added.
    pub fn close_open_calls(&mut self, at: CallInterruption) -> Option<Message> {
        let results: Vec<CallResult> = match self.messages.last() {
            Some(Message::Assistant(answer)) => {
                answer.calls().map(|call| CallResult::interrupted(call, at)).collect()
            }
            _ => Vec::new(),
        };
        if results.is_empty() {
            return None;
        }
        let message = Message::Results { results };
        self.merge_earlier();
        self.messages.push(message.clone());
        Some(message)
    }

    /// Removes the messages from `index` on, and returns them.
    pub fn truncate(&mut self, index: usize) -> Vec<Message> {
        if index < self.begins() {
            self.messages();
        }
        self.merge_earlier();
        let at = index.saturating_sub(self.begins());
        self.messages.split_off(at.min(self.messages.len()))
    }

    /// Every picture of the loaded messages, so that the caller can fill in its bytes: the invariants do not depend on
    /// the bytes.
    pub fn pictures_mut(&mut self) -> impl Iterator<Item = &mut Image> {
        self.merge_earlier();
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
