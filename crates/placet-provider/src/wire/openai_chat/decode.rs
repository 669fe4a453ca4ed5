//! A streamed completion, decoded. Calls come as deltas that name their place by `index`; compatible servers leave out
//! the index or the id, repeat the id, send it empty, or send a call whole. The decoder accepts all of these.

use super::super::super::{AnswerDecoder, ProviderError, ServerQuirks, StreamEvent};
use super::super::event::{self, word};
use super::WIRE;
use crate::wire::answer_builder::{AnswerBuilder, AnswerPiece, PartialCall};
use placet_text::conversation::{AssistantMessage, CallId, StopReason, ThinkingBlock, TokenUsage};
use serde_json::Value;
use std::borrow::Cow;

#[derive(Debug, Default)]
pub(super) struct ChatDecoder {
    assembly: AnswerBuilder,
    /// The calls, in the order in which they began.
    calls: Vec<ChatCallSlot>,
    refused: bool,
    finished: bool,
    /// Where reasoning is read from, in this order.
    reasoning_fields: Vec<String>,
    reasoning_blocks: Option<String>,
    /// Reasoning as blocks, which go back unchanged.
    blocks: Vec<Value>,
}

/// A call's piece and the name that the server gave it.
#[derive(Debug)]
struct ChatCallSlot {
    place: usize,
    index: Option<u64>,
    given_id: String,
}

impl AnswerDecoder for ChatDecoder {
    fn feed(&mut self, _event: &str, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        if self.finished {
            return Ok(Vec::new());
        }
        if data.trim() == "[DONE]" {
            self.finished = true;
            self.keep_blocks();
            return Ok(vec![StreamEvent::Finished(self.assembly.finish())]);
        }
        let Some(chunk) = event::read(data)? else { return Ok(Vec::new()) };
        event::refusal(&chunk).map_or_else(|| Ok(self.chunk(&chunk)), Err)
    }

    fn is_whole(&self) -> bool {
        self.assembly.stop.is_some()
    }

    fn cut(&mut self) -> AssistantMessage {
        self.finished = true;
        self.keep_blocks();
        self.assembly.cut()
    }
}

impl ChatDecoder {
    pub(super) fn new(quirks: &ServerQuirks) -> ChatDecoder {
        ChatDecoder {
            reasoning_fields: quirks.reasoning_fields.clone(),
            reasoning_blocks: quirks.reasoning_blocks.clone(),
            ..ChatDecoder::default()
        }
    }

    fn chunk(&mut self, chunk: &Value) -> Vec<StreamEvent> {
        let mut events = Vec::new();
        if self.assembly.model.is_empty() {
            self.assembly.model = word(chunk, "model").to_string();
        }
        if let Some(choice) = chunk.pointer("/choices/0") {
            // `message` where the server does not stream and sends everything at once.
            let delta = choice.get("delta").or_else(|| choice.get("message")).unwrap_or(&Value::Null);
            self.delta(delta, &mut events);
            if let Some(reason) = choice.get("finish_reason").and_then(Value::as_str) {
                // A refusal as text ends with a plain "stop".
                let stop = if self.refused { StopReason::Refusal } else { stop_reason(reason) };
                self.assembly.stop = Some(stop);
            }
        }
        if let Some(usage) = chunk.get("usage").filter(|u| u.is_object()) {
            self.assembly.usage = counted(usage);
            events.push(StreamEvent::Usage(self.assembly.usage));
        }
        events
    }

    fn delta(&mut self, delta: &Value, events: &mut Vec<StreamEvent>) {
        if let Some(Value::Array(blocks)) =
            self.reasoning_blocks.as_deref().and_then(|field| delta.get(field))
        {
            for block in blocks {
                gather(&mut self.blocks, block);
            }
        }
        let thought = self.reasoning_fields.iter().map(|k| word(delta, k)).find(|t| !t.is_empty());
        if let Some(thought) = thought {
            match self.assembly.pieces.last_mut() {
                Some(AnswerPiece::Thinking(thinking)) => thinking.text.push_str(thought),
                _ => self.assembly.pieces.push(AnswerPiece::Thinking(ThinkingBlock {
                    text: thought.to_string(),
                    ..ThinkingBlock::default()
                })),
            }
            events.push(StreamEvent::Thinking(thought.to_string()));
        }
        let refusal = word(delta, "refusal");
        self.refused |= !refusal.is_empty();
        for words in [content(delta), Cow::Borrowed(refusal)] {
            if !words.is_empty() {
                self.text(&words);
                events.push(StreamEvent::Text(words.into_owned()));
            }
        }
        for call in delta.get("tool_calls").and_then(Value::as_array).into_iter().flatten() {
            self.call(call, events);
        }
    }

    /// The blocks belong to the answer's reasoning, whose text was shown already.
    fn keep_blocks(&mut self) {
        let blocks = std::mem::take(&mut self.blocks);
        if blocks.is_empty() {
            return;
        }
        let redacted = Some(Value::Array(blocks).to_string());
        let first = self.assembly.pieces.iter_mut().find_map(|piece| match piece {
            AnswerPiece::Thinking(thinking) => Some(thinking),
            _ => None,
        });
        match first {
            Some(thinking) => {
                thinking.redacted = redacted;
                thinking.wire = WIRE.into();
            }
            None => {
                let thinking = ThinkingBlock { redacted, wire: WIRE.into(), ..ThinkingBlock::default() };
                self.assembly.pieces.insert(0, AnswerPiece::Thinking(thinking));
            }
        }
    }

    fn text(&mut self, words: &str) {
        match self.assembly.pieces.last_mut() {
            Some(AnswerPiece::Text(text)) => text.push_str(words),
            _ => self.assembly.pieces.push(AnswerPiece::Text(words.to_string())),
        }
    }

    fn call(&mut self, delta: &Value, events: &mut Vec<StreamEvent>) {
        let function = delta.get("function").unwrap_or(&Value::Null);
        let (id, name) = (word(delta, "id"), word(function, "name"));
        let index = delta.get("index").and_then(Value::as_u64);
        let arguments = function.get("arguments").unwrap_or(&Value::Null);
        let place = match self.slot(index, id, name, arguments) {
            Some(place) => place,
            None => self.open(index, id),
        };
        let Some(AnswerPiece::Call(call)) = self.assembly.pieces.get_mut(place) else { return };
        // Some servers repeat the whole name in every delta, others send it in pieces.
        if call.name != name {
            call.name.push_str(name);
        }
        if !call.started && !call.name.is_empty() {
            call.started = true;
            let id = CallId::new(call.id.clone());
            events.push(StreamEvent::CallStarted { id, name: call.name.clone() });
        }
        let more = match arguments {
            Value::String(more) => Cow::Borrowed(more.as_str()),
            Value::Null => Cow::Borrowed(""),
            whole => Cow::Owned(whole.to_string()),
        };
        if !more.is_empty() {
            call.arguments.push_str(&more);
            events.push(StreamEvent::CallArguments { bytes: more.len() });
        }
    }

    /// The call that a delta belongs to, or `None` where it begins a new one.
    fn slot(&self, index: Option<u64>, id: &str, name: &str, arguments: &Value) -> Option<usize> {
        let by_id = |slot: &&ChatCallSlot| !id.is_empty() && slot.given_id == id;
        let found = match index {
            Some(_) => self.calls.iter().rev().find(|slot| slot.index == index)?,
            None => match self.calls.iter().find(by_id) {
                Some(slot) => slot,
                None if id.is_empty() => self.calls.last()?,
                None => return None,
            },
        };
        let Some(AnswerPiece::Call(call)) = self.assembly.pieces.get(found.place) else { return None };
        let another_id = !id.is_empty() && !found.given_id.is_empty() && found.given_id != id;
        let same_place = index.is_some() && !id.is_empty() && found.given_id == id;
        let says_arguments = !arguments.is_null() && arguments != "";
        // For servers that give every call the same index: a name after complete arguments begins another call.
        let after_a_whole_one = || says_arguments && !call.name.is_empty() && is_whole(&call.arguments);
        let begins = !name.is_empty() && (another_id || !same_place && after_a_whole_one());
        (!begins).then_some(found.place)
    }

    fn open(&mut self, index: Option<u64>, id: &str) -> usize {
        let place = self.assembly.pieces.len();
        let call = PartialCall { id: self.assembly.id_for(id), ..PartialCall::default() };
        self.assembly.pieces.push(AnswerPiece::Call(call));
        self.calls.push(ChatCallSlot { place, index, given_id: id.to_string() });
        place
    }
}

/// Adds a piece of a block to the block it continues: the newest one, when kind and place are the same.
fn gather(blocks: &mut Vec<Value>, piece: &Value) {
    let same = |key: &str, a: &Value, b: &Value| a.get(key) == b.get(key);
    let continued = blocks.last_mut().filter(|last| same("type", last, piece) && same("index", last, piece));
    let (Some(Value::Object(last)), Value::Object(new)) = (continued, piece) else {
        blocks.push(piece.clone());
        return;
    };
    for (key, value) in new {
        match (last.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more))
                if matches!(key.as_str(), "text" | "summary" | "data") =>
            {
                text.push_str(more);
            }
            (Some(_), Value::Null) => {}
            _ => drop(last.insert(key.clone(), value.clone())),
        }
    }
}

/// True where nothing can follow: the arguments are one JSON object already.
fn is_whole(arguments: &str) -> bool {
    arguments.trim_end().ends_with('}') && serde_json::from_str::<serde::de::IgnoredAny>(arguments).is_ok()
}

/// `content` as a string, or as the list of text parts that some servers make of it.
fn content(delta: &Value) -> Cow<'_, str> {
    match delta.get("content") {
        Some(Value::String(words)) => Cow::Borrowed(words),
        Some(Value::Array(parts)) => Cow::Owned(parts.iter().map(|part| word(part, "text")).collect()),
        _ => Cow::Borrowed(""),
    }
}

fn counted(usage: &Value) -> TokenUsage {
    let figure = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    // DeepSeek counts what was in its cache in a field of its own.
    let cache_read = figure("/prompt_tokens_details/cached_tokens").max(figure("/prompt_cache_hit_tokens"));
    let cache_write = figure("/prompt_tokens_details/cache_write_tokens");
    TokenUsage {
        // `prompt_tokens` includes what was read from the cache and written to it.
        input: figure("/prompt_tokens").saturating_sub(cache_read).saturating_sub(cache_write),
        output: figure("/completion_tokens"),
        cache_read,
        cache_write,
        reasoning: figure("/completion_tokens_details/reasoning_tokens"),
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "stop" => StopReason::EndTurn,
        "tool_calls" | "function_call" => StopReason::ToolUse,
        "length" => StopReason::MaxTokens,
        "content_filter" => StopReason::Refusal,
        other => StopReason::Other(other.to_string()),
    }
}
