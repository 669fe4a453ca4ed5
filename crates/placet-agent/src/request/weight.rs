//! The estimated tokens of a text, a part or a message. The provider's count corrects the estimate.

use placet_text::conversation::{AssistantBlock, Message, Part};

/// Bytes per token, on the low side: code and CJK have fewer than prose.
pub(crate) const BYTES_PER_TOKEN: f64 = 3.5;

pub(crate) fn tokens(bytes: usize) -> f64 {
    bytes as f64 / BYTES_PER_TOKEN
}

/// The estimated tokens of a conversation.
pub(crate) fn estimate(messages: &[Message]) -> f64 {
    messages.iter().map(weight).sum()
}

pub(crate) fn weight(message: &Message) -> f64 {
    let parts: f64 = message.parts().map(part_weight).sum();
    let blocks: f64 = match message {
        Message::Assistant(answer) => answer
            .blocks
            .iter()
            .map(|block| match block {
                AssistantBlock::Text { text } => tokens(text.len()),
                AssistantBlock::Thinking(t) => {
                    tokens(t.text.len() + t.redacted.as_ref().map_or(0, String::len))
                }
                AssistantBlock::Call(call) => {
                    // 40 bytes for the id and the field names that every wire format sends with a call.
                    tokens(call.name.len() + call.input.to_replay().to_string().len() + 40)
                }
            })
            .sum(),
        _ => 0.0,
    };
    // 8 tokens for the role and the delimiters around each message.
    parts + blocks + 8.0
}

pub(crate) fn part_weight(part: &Part) -> f64 {
    match part {
        Part::Text { text } => tokens(text.len()),
        Part::Note(note) => tokens(note.words().len()),
        Part::Image(image) => image.tokens() as f64,
    }
}
