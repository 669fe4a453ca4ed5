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
mod setup_command;

pub use grammar::{OfflineGrammarRow, grammar};

use super::{AnswerStream, ModelRequest, Provider};
use crate::answer::event_stream::flow;
use crate::recorded::replay_stream;
use placet_text::conversation::{AssistantMessage, Message};
use setup_command::SetupCommand;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// The provider. Two of them are the same.
#[derive(Clone, Copy, Debug, Default)]
pub struct OfflineProvider {
    pause: Duration,
    setup: SetupCommand,
}

impl OfflineProvider {
    pub const NAME: &str = "offline";

    /// Answers as fast as it is read.
    pub fn new() -> OfflineProvider {
        OfflineProvider::default()
    }

    /// What it answers to a conversation: a pure function. `usage` and `model` are left empty.
    pub fn next(messages: &[Message]) -> AssistantMessage {
        script::next(messages, SetupCommand::default())
    }

    /// The same provider for a conversation in the shell.
    pub fn in_shell() -> OfflineProvider {
        OfflineProvider { setup: SetupCommand::Slash, ..OfflineProvider::default() }
    }

    /// True for a text that asks for something which this provider does.
    pub fn understands(text: &str) -> bool {
        script::understands(text)
    }

    /// The forms of the requests that a text comes close to, where this provider does not understand the text.
    pub fn similar(text: &str) -> Vec<String> {
        script::similar(text)
    }

    /// Waits `pause` before each piece of text, to be looked at.
    pub fn paced(pause: Duration) -> OfflineProvider {
        OfflineProvider { pause, ..OfflineProvider::default() }
    }
}

impl Provider for OfflineProvider {
    fn name(&self) -> &str {
        OfflineProvider::NAME
    }

    fn answer(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let (pause, setup) = (self.pause, self.setup);
        flow(move |emit| async move {
            let mut answer = script::next(&request.messages, setup);
            answer.model.clone_from(&request.model.name);
            answer.usage = replay_stream::estimate(&request, &answer);
            replay_stream::stream_answer(answer, pause, &cancel, &emit).await;
        })
    }
}
