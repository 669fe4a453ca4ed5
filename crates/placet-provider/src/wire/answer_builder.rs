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
        // Only the last piece can be incomplete: a call before it was closed by what followed.
        let last = self.pieces.len().saturating_sub(1);
        let cut_at = (stop == StopReason::MaxTokens).then_some(self.usage.output);
        self.answer(stop, |at, call| Some(close(call, cut_at.filter(|_| at == last))))
    }

    /// The answer that a broken stream leaves. It is whole if the stop reason had arrived; else it is marked as cut and
    /// has no call: a later call that did not arrive could have changed the meaning of an earlier one.
    pub(super) fn cut(&mut self) -> AssistantMessage {
        if self.stop.is_some() { self.finish() } else { self.answer(StopReason::Cut, |_, _| None) }
    }

    fn answer(
        &mut self,
        stop: StopReason,
        call: impl Fn(usize, PartialCall) -> Option<ToolCall>,
    ) -> AssistantMessage {
        let blocks = std::mem::take(&mut self.pieces)
            .into_iter()
            .enumerate()
            .filter_map(|(at, piece)| match piece {
                AnswerPiece::Text(text) => (!text.is_empty()).then_some(AssistantBlock::Text { text }),
                AnswerPiece::Thinking(thinking) => {
                    (thinking != ThinkingBlock::default()).then_some(AssistantBlock::Thinking(thinking))
                }
                AnswerPiece::Call(open) => call(at, open).map(AssistantBlock::Call),
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

/// A call at its end; `cut_at` where the answer reached its limit of so many tokens within this call.
fn close(call: PartialCall, cut_at: Option<u64>) -> ToolCall {
    let input = match cut_at {
        Some(tokens) => CallInput::parse_cut(&call.arguments, tokens),
        None => CallInput::parse(&call.arguments),
    };
    ToolCall { id: CallId::new(call.id), name: call.name, input }
}
