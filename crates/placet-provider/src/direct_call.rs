//! A provider for a turn that needs no model: one call that the person wrote out, and its result as the answer.
//!
//! Such a call is handled like all others: it is planned, judged, shown, run, saved and applied as if a model had made
//! it, and the model sees later that it was made.

use super::{AnswerStream, ModelRequest, Provider};
use crate::answer::event_stream::flow;
use crate::recorded::replay_stream;
use placet_text::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, Message, StopReason, ToolCall,
};
use serde_json::Value;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

#[derive(Clone, Debug)]
pub struct DirectCallProvider {
    tool: String,
    input: Value,
}

impl DirectCallProvider {
    pub fn new(tool: &str, input: Value) -> DirectCallProvider {
        DirectCallProvider { tool: tool.into(), input }
    }

    fn next(&self, messages: &[Message]) -> AssistantMessage {
        let (block, stop) = match messages.last() {
            Some(Message::Results { results }) => {
                let text = results.iter().map(|result| result.body()).collect::<Vec<_>>().join("\n");
                (AssistantBlock::Text { text }, StopReason::EndTurn)
            }
            _ => {
                // The conversation only grows, so no earlier typed call has this number.
                let id = CallId::new(format!("typed-{}", messages.len()));
                let input = CallInput::Object(self.input.clone());
                (AssistantBlock::Call(ToolCall { id, name: self.tool.clone(), input }), StopReason::ToolUse)
            }
        };
        AssistantMessage { blocks: vec![block], stop, ..AssistantMessage::default() }
    }
}

impl Provider for DirectCallProvider {
    fn name(&self) -> &str {
        "direct"
    }

    fn answer(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let answer = self.next(&request.messages);
        flow(
            move |emit| async move { replay_stream::stream_answer(answer, Duration::ZERO, &cancel, &emit).await },
        )
    }
}
