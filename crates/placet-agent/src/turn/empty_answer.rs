//! Answers without content: no text and no call. Local reasoning models sometimes end with such an answer, and a person
//! who sees nothing takes it for success.

use placet_text::conversation::{AssistantBlock, AssistantMessage, StopReason};
use std::fmt;

/// What came instead of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EmptyAnswer {
    Empty,
    /// Only reasoning.
    Reasoning,
    /// The answer reached the output limit before its first text.
    AtLimit,
}

impl EmptyAnswer {
    /// What is wrong with `answer` if it has no content and the model did not refuse.
    pub(crate) fn of(answer: &AssistantMessage) -> Option<EmptyAnswer> {
        let says = answer.blocks.iter().any(|block| match block {
            AssistantBlock::Text { text } => !text.trim().is_empty(),
            AssistantBlock::Call(_) => true,
            AssistantBlock::Thinking(_) => false,
        });
        let reasons = answer.blocks.iter().any(|block| matches!(block, AssistantBlock::Thinking(_)));
        match answer.stop {
            _ if says => None,
            StopReason::Refusal => None,
            StopReason::MaxTokens => Some(EmptyAnswer::AtLimit),
            _ if reasons => Some(EmptyAnswer::Reasoning),
            _ => Some(EmptyAnswer::Empty),
        }
    }

    /// True if a second request may help.
    pub(crate) fn is_retryable(self) -> bool {
        self != EmptyAnswer::AtLimit
    }

    pub(crate) fn hint(self) -> &'static str {
        match self {
            EmptyAnswer::AtLimit => "raise `max_output_tokens`, then /retry",
            _ => "/retry asks again; /model chooses another model",
        }
    }

    pub(crate) fn hint_without_shell(self) -> &'static str {
        match self {
            EmptyAnswer::AtLimit => "raise `max_output_tokens`",
            _ => "try again; `--model` chooses another model",
        }
    }
}

impl fmt::Display for EmptyAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            EmptyAnswer::Empty => "the answer was empty",
            EmptyAnswer::Reasoning => "the answer had reasoning but no text and no call",
            EmptyAnswer::AtLimit => "the answer reached the model's output limit before its first text",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_text::conversation::ThinkingBlock;

    #[test]
    fn only_text_and_calls_are_an_answer() {
        let text = |text: &str| AssistantBlock::Text { text: text.into() };
        let thinking =
            || AssistantBlock::Thinking(ThinkingBlock { text: "hm".into(), ..ThinkingBlock::default() });
        let of =
            |blocks, stop| EmptyAnswer::of(&AssistantMessage { blocks, stop, ..AssistantMessage::default() });
        assert_eq!(of(vec![], StopReason::EndTurn), Some(EmptyAnswer::Empty));
        assert_eq!(of(vec![text(" \n")], StopReason::EndTurn), Some(EmptyAnswer::Empty));
        assert_eq!(of(vec![thinking(), text("")], StopReason::EndTurn), Some(EmptyAnswer::Reasoning));
        assert_eq!(of(vec![thinking()], StopReason::MaxTokens), Some(EmptyAnswer::AtLimit));
        assert_eq!(of(vec![], StopReason::Refusal), None);
        assert_eq!(of(vec![thinking(), text("a")], StopReason::EndTurn), None);
    }
}
