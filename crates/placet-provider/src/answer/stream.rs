//! What arrives while an answer is made.

use crate::ProviderError;
use futures_util::stream::Stream;
use placet_text::conversation::{AssistantMessage, CallId, TokenUsage};
use serde::{Deserialize, Serialize};
use std::pin::Pin;
use std::time::Duration;

pub type AnswerStream = Pin<Box<dyn Stream<Item = Result<StreamEvent, ProviderError>> + Send>>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StreamEvent {
    Text(String),
    Thinking(String),
    /// A call's name is known; its arguments are still arriving.
    CallStarted {
        id: CallId,
        name: String,
    },
    /// More of the newest call's arguments: bytes, for a progress figure.
    CallArguments {
        bytes: usize,
    },
    /// Usage so far; later ones replace earlier ones.
    Usage(TokenUsage),
    /// An attempt failed and number `attempt` (of `of`) follows after `wait`: "retry 2/5 in 7 s". Sent before the wait.
    Retrying {
        attempt: u32,
        of: u32,
        wait: Duration,
        error: ProviderError,
    },
    /// Nothing has arrived for this long (sent at 10 s and then every 10 s).
    Silent {
        since: Duration,
    },
    /// Another provider answers in place of the requested one.
    Elsewhere {
        /// `openai`
        from: String,
        /// `gemini with gemini-3.8-flash`
        to: String,
        because: String,
    },
    Finished(AssistantMessage),
}
