//! How a turn mends what came: what a refused request is changed to, and what is made of an answer before it is used.

use super::empty_answer::EmptyAnswer;
use crate::conversation::{AssistantBlock, AssistantMessage, CallId};
use crate::provider::{ProviderError, RejectionCause};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TurnRepair {
    /// Leave pictures out, a note in their place.
    Images,
    /// Leave out what is new, then send what was said as plain text.
    Content,
    /// Leave out the tool at this place of the list.
    Tool(usize),
    /// Send less; the server's own words may hold the figures.
    Shorten { message: String },
    /// The answer broke off: what had come is said, and the rest is asked for.
    GoOn { message: String },
    /// The answer said nothing: it is asked for once more.
    Nudge(EmptyAnswer),
}

/// What is kept of the text of an answer that went over a limit.
const MAX_KEPT: usize = 64 * 1024;

/// The beginning of an answer: its first text, up to [`MAX_KEPT`].
pub(in crate::agent) fn shortened(partial: AssistantMessage) -> AssistantMessage {
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

pub(in crate::agent) fn repair_for(error: &ProviderError) -> Option<TurnRepair> {
    match error {
        ProviderError::BadRequest { blames: RejectionCause::Image, .. } => Some(TurnRepair::Images),
        ProviderError::BadRequest { blames: RejectionCause::Content, .. } => Some(TurnRepair::Content),
        ProviderError::BadRequest { blames: RejectionCause::Tool(at), .. } => Some(TurnRepair::Tool(*at)),
        ProviderError::TooLong { message } => Some(TurnRepair::Shorten { message: message.clone() }),
        _ => None,
    }
}

/// Two calls of one name could not be distinguished by their results: later ones are renamed.
pub(in crate::agent) fn rename_duplicates(answer: &mut AssistantMessage) {
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
