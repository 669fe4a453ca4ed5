//! The parts of an answer while they arrive, the same for every wire format: text, reasoning, and calls whose arguments
//! are still arriving. This module decides what may leave a stream that broke: never a call.

use placet_text::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, StopReason, ThinkingBlock, TokenUsage, ToolCall,
};

/// A call while its arguments stream in.
#[derive(Debug, Default)]
pub(super) struct PartialCall {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) arguments: String,
    /// Its name has been sent on.
    pub(super) started: bool,
}

#[derive(Debug)]
pub(super) enum AnswerPiece {
    Text(String),
    Thinking(ThinkingBlock),
    Call(PartialCall),
}

/// The answer so far, in order.
#[derive(Debug, Default)]
pub(super) struct AnswerBuilder {
    pub(super) pieces: Vec<AnswerPiece>,
    pub(super) usage: TokenUsage,
    pub(super) model: String,
    /// Why the model stopped; known only when everything of the answer has arrived.
    pub(super) stop: Option<StopReason>,
}

impl AnswerBuilder {
    /// An id for a new call: the server's own, or a made-up one where it gave none or one that is taken.
    pub(super) fn id_for(&self, given: &str) -> String {
        let taken = |id: &str| self.calls().any(|call| call.id == id);
        if !given.is_empty() && !taken(given) {
            return given.to_string();
        }
        let stem = if given.is_empty() { "call" } else { given };
        let first = self.calls().count();
        (first..).map(|n| format!("{stem}_{n}")).find(|id| !taken(id)).unwrap_or_default()
    }

    pub(super) fn calls(&self) -> impl Iterator<Item = &PartialCall> {
        self.pieces.iter().filter_map(|piece| match piece {
            AnswerPiece::Call(call) => Some(call),
            _ => None,
        })
    }

    /// The whole answer. The builder is empty afterwards.
    pub(super) fn finish(&mut self) -> AssistantMessage {
        let has_calls = self.calls().next().is_some();
        let stop = match self.stop.take() {
            // Some servers say "stop" after calls.
            None | Some(StopReason::EndTurn) if has_calls => StopReason::ToolUse,
            Some(stop) => stop,
            None => StopReason::EndTurn,
        };
        let limited = stop == StopReason::MaxTokens;
        self.answer(stop, |call| Some(close(call, limited)))
    }

    /// The answer that a broken stream leaves. It is whole if the stop reason had arrived; else it is marked as cut and
    /// has no call: a later call that did not arrive could have changed the meaning of an earlier one.
    pub(super) fn cut(&mut self) -> AssistantMessage {
        if self.stop.is_some() { self.finish() } else { self.answer(StopReason::Cut, |_| None) }
    }

    fn answer(
        &mut self,
        stop: StopReason,
        call: impl Fn(PartialCall) -> Option<ToolCall>,
    ) -> AssistantMessage {
        let blocks = std::mem::take(&mut self.pieces)
            .into_iter()
            .filter_map(|piece| match piece {
                AnswerPiece::Text(text) => (!text.is_empty()).then_some(AssistantBlock::Text { text }),
                AnswerPiece::Thinking(thinking) => {
                    (thinking != ThinkingBlock::default()).then_some(AssistantBlock::Thinking(thinking))
                }
                AnswerPiece::Call(open) => call(open).map(AssistantBlock::Call),
            })
            .collect();
        AssistantMessage {
            blocks,
            stop,
            usage: self.usage,
            model: std::mem::take(&mut self.model),
            ..AssistantMessage::default()
        }
    }
}

/// A call at its end. Where the answer ran into its token limit, missing arguments do not mean "none".
fn close(call: PartialCall, limited: bool) -> ToolCall {
    let input = if limited && call.arguments.trim().is_empty() {
        CallInput::Malformed {
            raw: call.arguments,
            reason: "the answer reached its token limit before the arguments were complete".into(),
        }
    } else {
        CallInput::parse(&call.arguments)
    };
    ToolCall { id: CallId::new(call.id), name: call.name, input }
}
