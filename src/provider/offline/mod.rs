//! The built-in provider: no model, no network, and honest about it.
//!
//! It understands the plain requests of one table, [`grammar`], and turns them into the tool calls a model would make.
//! Its answer is a pure function of the conversation: demonstrations, documentation and tests give the same result
//! every time. For a request that it does not understand, it says so and does nothing.

mod grammar;
mod pattern;
mod replies;
mod script;
mod segment;

pub use grammar::{OfflineGrammarRow, grammar};

use super::event_stream::flow;
use super::replay_stream;
use super::{AnswerStream, ModelRequest, Provider};
use crate::conversation::{AssistantMessage, Message};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The provider. Two of them are the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineProvider {
    pause: Duration,
}

impl OfflineProvider {
    pub const NAME: &str = "offline";

    /// Answers as fast as it is read.
    pub fn new() -> OfflineProvider {
        OfflineProvider::default()
    }

    /// What it answers to a conversation: a pure function. `usage` and `model` are left empty.
    pub fn next(messages: &[Message]) -> AssistantMessage {
        script::next(messages)
    }

    /// True for a text that asks for something which this provider does.
    pub fn understands(text: &str) -> bool {
        script::understands(text)
    }

    /// Waits `pause` before each piece of text, to be looked at.
    pub fn paced(pause: Duration) -> OfflineProvider {
        OfflineProvider { pause }
    }
}

impl Provider for OfflineProvider {
    fn name(&self) -> &str {
        OfflineProvider::NAME
    }

    fn answer(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let pause = self.pause;
        flow(move |emit| async move {
            let mut answer = OfflineProvider::next(&request.messages);
            answer.model.clone_from(&request.model.name);
            answer.usage = replay_stream::estimate(&request, &answer);
            replay_stream::stream_answer(answer, pause, &cancel, &emit).await;
        })
    }
}
