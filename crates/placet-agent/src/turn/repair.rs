//! How a turn repairs requests and answers: the changes to a refused request, and the changes to an answer before its
//! use.

use super::empty_answer::EmptyAnswer;
use placet_provider::{ExceededWindow, ProviderError, RejectionCause};
use placet_text::conversation::{AssistantBlock, AssistantMessage, CallId, TextCallFault};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnRepair {
    /// Omit pictures, and put a note in their place.
    Images,
    /// Omit new results, then send the conversation as plain text.
    Content,
    /// Omit the tool at this position of the list.
    Tool(usize),
    /// Send no tools: calls are made in the way of a model without them.
    WithoutTools,
    /// Send less; the server's own message may contain the figures.
    Shorten { message: String, exceeded: Option<ExceededWindow> },
    /// The answer broke off: its beginning is stored, and the rest is requested.
    GoOn { message: String },
    /// The answer was empty: it is requested once more.
    Nudge(EmptyAnswer),
    /// The answer was a call as text that cannot run: the model is told the right form, once.
    TextCall(TextCallFault),
}

/// How much of the text of an answer that exceeded a limit is stored.
const MAX_KEPT: usize = 64 * 1024;

/// The beginning of an answer: its first text, up to [`MAX_KEPT`].
pub(crate) fn shortened(partial: AssistantMessage) -> AssistantMessage {
    let first = partial.blocks.into_iter().find_map(|block| match block {
        AssistantBlock::Text { text } if !text.trim().is_empty() => Some(text),
        _ => None,
    });
    let blocks = first.map(|mut text| {
        text.truncate(text.floor_char_boundary(MAX_KEPT));
        AssistantBlock::Text { text }
    });
    AssistantMessage { blocks: blocks.into_iter().collect(), ..partial }
}

pub(crate) fn repair_for(error: &ProviderError) -> Option<TurnRepair> {
    match error {
        ProviderError::BadRequest { blames: RejectionCause::Image, .. } => Some(TurnRepair::Images),
        ProviderError::BadRequest { blames: RejectionCause::Content, .. } => Some(TurnRepair::Content),
        ProviderError::BadRequest { blames: RejectionCause::Tool(at), .. } => Some(TurnRepair::Tool(*at)),
        ProviderError::BadRequest { blames: RejectionCause::Tools, .. } => Some(TurnRepair::WithoutTools),
        ProviderError::TooLong { message, exceeded } => {
            Some(TurnRepair::Shorten { message: message.clone(), exceeded: *exceeded })
        }
        _ => None,
    }
}

/// The results of two calls with one id could not be distinguished: later calls are renamed.
pub(crate) fn rename_duplicates(answer: &mut AssistantMessage) {
    let mut seen: Vec<CallId> = Vec::new();
    for block in &mut answer.blocks {
        let AssistantBlock::Call(call) = block else { continue };
        let original = call.id.0.clone();
        let mut number = 2;
        while seen.contains(&call.id) || call.id.0.is_empty() {
            call.id = CallId::new(format!("{original}_{number}"));
            number += 1;
        }
        seen.push(call.id.clone());
    }
}
