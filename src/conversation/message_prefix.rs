//! The beginning of a long conversation that was summed up: how much of it there is, and where the whole can be read.
//!
//! What is sent to a model needs the end alone, so taking a conversation up again must not cost what all of it costs.
//! This knows no store: the owner of the messages gives the way to them.

use super::{Message, Note, Part};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Where the messages are.
pub trait MessageSource: Send + Sync {
    /// All of them, in order.
    fn messages(&self) -> Vec<Message>;
    /// The round in which `tool` last did what was asked: the answer, then its results.
    fn round(&self, tool: &str) -> Vec<Message>;
}

#[derive(Clone)]
pub struct MessagePrefix {
    count: usize,
    said: usize,
    kept: Arc<dyn MessageSource>,
    /// With what follows behind it, once somebody has looked.
    whole: OnceLock<Vec<Message>>,
}

impl MessagePrefix {
    /// `count` messages, of which the person said so many.
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
            // Places in the conversation are counted from its beginning: a message that is lost keeps its place.
            let lost = || Message::User { parts: vec![Part::Note(Note::MessageLost)] };
            all.resize_with(self.count, lost);
            all.extend_from_slice(after);
            all
        })
    }

    /// What was read, for it to be kept by another.
    pub(super) fn take(&mut self) -> Option<Vec<Message>> {
        self.whole.take()
    }
}

impl fmt::Debug for MessagePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} messages stored elsewhere", self.count)
    }
}
