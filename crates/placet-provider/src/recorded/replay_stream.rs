//! An answer that exists already, replayed as a stream: in small pieces, in order, and cancelled like any
//! other.

use crate::answer::event_stream::EventEmitter;
use crate::{ModelRequest, ProviderError, StreamEvent};
use placet_text::conversation::{AssistantBlock, AssistantMessage, CallInput, Message, Part, TokenUsage};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// About how many bytes one piece of text has.
const PIECE: usize = 24;

/// Sends `answer` piece by piece, with `pause` before each, and `Finished` at the end.
pub(crate) async fn stream_answer(
    answer: AssistantMessage,
    pause: Duration,
    cancel: &CancellationToken,
    emit: &EventEmitter,
) {
    for event in events(&answer) {
        if !pause.is_zero() {
            tokio::select! {
                biased;
                () = cancel.cancelled() => {}
                () = tokio::time::sleep(pause) => {}
            }
        }
        if cancel.is_cancelled() {
            return emit.fail(ProviderError::Cancelled).await;
        }
        emit.send(event).await;
    }
    emit.send(StreamEvent::Finished(answer)).await;
}

/// What a server would have streamed for `answer`, without `Finished`.
fn events(answer: &AssistantMessage) -> Vec<StreamEvent> {
    let mut out = Vec::new();
    for block in &answer.blocks {
        match block {
            AssistantBlock::Text { text } => out.extend(pieces(text).into_iter().map(StreamEvent::Text)),
            AssistantBlock::Thinking(thinking) => {
                out.extend(pieces(&thinking.text).into_iter().map(StreamEvent::Thinking))
            }
            AssistantBlock::Call(call) => {
                out.push(StreamEvent::CallStarted { id: call.id.clone(), name: call.name.clone() });
                let bytes = match &call.input {
                    CallInput::Object(value) => value.to_string().len(),
                    CallInput::Malformed { raw, .. } => raw.len(),
                };
                out.push(StreamEvent::CallArguments { bytes });
            }
        }
    }
    if !answer.usage.is_zero() {
        out.push(StreamEvent::Usage(answer.usage));
    }
    out
}

/// `text` in pieces that end behind a space or a line break where there is one.
fn pieces(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    let mut piece = String::new();
    for word in text.split_inclusive([' ', '\n']) {
        piece.push_str(word);
        if piece.len() >= PIECE {
            out.push(std::mem::take(&mut piece));
        }
    }
    if !piece.is_empty() {
        out.push(piece);
    }
    out
}

/// Usage guessed at four bytes a token, for providers that count nothing.
pub(crate) fn estimate(request: &ModelRequest, answer: &AssistantMessage) -> TokenUsage {
    let fixed: usize =
        request.tools.iter().map(|t| t.name.len() + t.description.len() + t.schema.to_string().len()).sum();
    let said: usize = request.messages.iter().map(weight).sum();
    let output = weigh_answer(answer);
    TokenUsage {
        input: tokens(request.system.len() + fixed + said),
        output: tokens(output),
        ..TokenUsage::default()
    }
}

fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

fn weight(message: &Message) -> usize {
    let parts =
        |parts: &[Part]| -> usize { parts.iter().filter_map(Part::words).map(|words| words.len()).sum() };
    match message {
        Message::User { parts: said } => parts(said),
        Message::Assistant(answer) => weigh_answer(answer),
        Message::Results { results } => results.iter().map(|r| parts(&r.parts)).sum(),
    }
}

fn weigh_answer(answer: &AssistantMessage) -> usize {
    let calls: usize = answer.calls().map(|c| c.name.len() + c.input.to_replay().to_string().len()).sum();
    answer.text().len() + calls
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_are_small_and_lose_nothing() {
        let text = "one two three four five six seven\neight \u{1F600}ninetenelevenTwelvethirteen\n\nend";
        let parts = pieces(text);
        assert!(parts.len() > 2);
        assert_eq!(parts.concat(), text);
        assert!(pieces("").is_empty());
    }
}
