//! The beginning of a long conversation that was summarized: its length, and the source of the messages.
//!
//! A request to a model needs only the end, and so a resume must not load the whole conversation. This module knows no
//! store: the owner of the messages provides the source.

use super::{Message, Note, Part};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The source of the messages.
pub trait MessageSource: Send + Sync {
    /// All of them, in order.
    fn messages(&self) -> Vec<Message>;
    /// The round of the last successful call of `tool`: the answer, then its results.
    fn round(&self, tool: &str) -> Vec<Message>;
}

#[derive(Clone)]
pub struct MessagePrefix {
    count: usize,
    said: usize,
    kept: Arc<dyn MessageSource>,
    /// The messages, including those after the prefix, once somebody has read them.
    whole: OnceLock<Vec<Message>>,
}

impl MessagePrefix {
    /// `count` messages, of which `said` are from the person.
    pub fn new(count: usize, said: usize, kept: Arc<dyn MessageSource>) -> MessagePrefix {
        MessagePrefix { count, said, kept, whole: OnceLock::new() }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn user_message_count(&self) -> usize {
        self.said
    }

    pub(super) fn round(&self, tool: &str) -> Vec<Message> {
        self.kept.round(tool)
    }

    pub(super) fn with(&self, after: &[Message]) -> &[Message] {
        self.whole.get_or_init(|| {
            let mut all = self.kept.messages();
            // Positions in the conversation are counted from its beginning: a lost message retains its position.
            let lost = || Message::User { parts: vec![Part::Note(Note::MessageLost)] };
            all.resize_with(self.count, lost);
            all.extend_from_slice(after);
            all
        })
    }

    /// Moves the loaded messages out, to be stored elsewhere.
    pub(super) fn take(&mut self) -> Option<Vec<Message>> {
        self.whole.take()
    }
}

impl fmt::Debug for MessagePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages stored elsewhere", self.count)
    }
}
