//! A message: from the person, an answer of the model, or the results of calls.

use super::{CallResult, Image, Part, TextCallFault, TokenUsage, ToolCall};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    User {
        parts: Vec<Part>,
    },
    Assistant(AssistantMessage),
    /// The results of one answer's calls, in the order of the calls.
    Results {
        results: Vec<CallResult>,
    },
}

impl Message {
    pub fn user(text: impl Into<String>) -> Message {
        Message::User { parts: vec![Part::text(text)] }
    }

    /// The same with each note as the text that a model reads: for code that compares or stores requests as they are
    /// sent.
    #[must_use]
    pub fn in_words(&self) -> Message {
        let mut message = self.clone();
        if let Message::Results { results } = &mut message {
            results.iter_mut().for_each(|result| result.facts.clear());
        }
        for part in message.parts_mut() {
            if let Part::Note(note) = part {
                *part = Part::text(note.words());
            }
        }
        message
    }

    /// The parts that the model did not write: of the person's message, or of the results of calls.
    pub fn parts(&self) -> Box<dyn DoubleEndedIterator<Item = &Part> + '_> {
        match self {
            Message::User { parts } => Box::new(parts.iter()),
            Message::Results { results } => Box::new(results.iter().flat_map(|r| r.parts.iter())),
            Message::Assistant(_) => Box::new(std::iter::empty()),
        }
    }

    /// See [`Message::parts`].
    pub fn parts_mut(&mut self) -> Box<dyn Iterator<Item = &mut Part> + '_> {
        match self {
            Message::User { parts } => Box::new(parts.iter_mut()),
            Message::Results { results } => Box::new(results.iter_mut().flat_map(|r| r.parts.iter_mut())),
            Message::Assistant(_) => Box::new(std::iter::empty()),
        }
    }

    /// Every picture in it.
    pub fn pictures_mut(&mut self) -> impl Iterator<Item = &mut Image> {
        self.parts_mut().filter_map(|part| match part {
            Part::Image(image) => Some(image),
            Part::Text { .. } | Part::Note(_) => None,
        })
    }
}

/// One answer of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AssistantMessage {
    pub blocks: Vec<AssistantBlock>,
    pub stop: StopReason,
    #[serde(default)]
    pub usage: TokenUsage,
    /// The model that wrote it: reasoning signatures are sent back only to the same model.
    #[serde(default)]
    pub model: String,
    /// The provider that answered, if it is not the requested provider.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub provider: String,
}

impl AssistantMessage {
    pub fn calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks.iter().filter_map(|b| match b {
            AssistantBlock::Call(call) => Some(call),
            _ => None,
        })
    }

    pub fn text(&self) -> String {
        let mut out = String::new();
        for block in &self.blocks {
            if let AssistantBlock::Text { text } = block {
                out.push_str(text);
            }
        }
        out
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AssistantBlock {
    Text { text: String },
    Thinking(ThinkingBlock),
    Call(ToolCall),
}

/// The model's own reasoning. It is stored because some providers require it, unchanged, with the calls that followed
/// it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ThinkingBlock {
    pub text: String,
    /// The provider's proof that `text` is its own; opaque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Reasoning the provider gave only in encrypted form; opaque.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redacted: Option<String>,
    /// The wire format of `signature` and `redacted`; empty for Anthropic's, which came first.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub wire: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    #[default]
    EndTurn,
    ToolUse,
    MaxTokens,
    Refusal,
    /// The stream broke or was stopped; the message has what had arrived. Its calls are never run.
    Cut,
    /// The model meant to call a tool, and wrote it as text that could not be taken as a call.
    TextCall(TextCallFault),
    Other(String),
}
