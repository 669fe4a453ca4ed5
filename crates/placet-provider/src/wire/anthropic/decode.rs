//! A streamed message, taken apart. Blocks come one after another, each with its own start, deltas and stop; the
//! stop reason comes when all blocks are whole. Events and deltas of kinds not known here are passed over, as the
//! API's versioning policy asks.

use super::super::super::{AnswerDecoder, ProviderError, StreamEvent};
use super::super::event::{self, word};
use crate::wire::answer_builder::{AnswerBuilder, AnswerPiece, PartialCall};
use crate::wire::error_body;
use placet_text::conversation::{AssistantMessage, CallId, StopReason, ThinkingBlock, TokenUsage};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct AnthropicDecoder {
    assembly: AnswerBuilder,
    /// The server's block number to the piece it became.
    places: BTreeMap<u64, usize>,
    finished: bool,
}

impl AnswerDecoder for AnthropicDecoder {
    fn feed(&mut self, _event: &str, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        if self.finished {
            return Ok(Vec::new());
        }
        let Some(value) = event::read(data)? else { return Ok(Vec::new()) };
        match word(&value, "type") {
            "message_start" => Ok(self.message_start(value.get("message").unwrap_or(&Value::Null))),
            "content_block_start" => Ok(self.block_start(&value)),
            "content_block_delta" => Ok(self.block_delta(&value)),
            "message_delta" => Ok(self.message_delta(&value)),
            "message_stop" => {
                self.finished = true;
                Ok(vec![StreamEvent::Finished(self.assembly.finish())])
            }
            "message" => Ok(self.whole(&value)),
            "error" => Err(error_body::of_event(&value)),
            _ => Ok(Vec::new()),
        }
    }

    fn is_whole(&self) -> bool {
        self.assembly.stop.is_some()
    }

    fn cut(&mut self) -> AssistantMessage {
        self.finished = true;
        self.assembly.cut()
    }
}

impl AnthropicDecoder {
    fn message_start(&mut self, message: &Value) -> Vec<StreamEvent> {
        self.assembly.model = word(message, "model").to_string();
        self.count(message.get("usage"))
    }

    /// The message at once, from a server that does not stream.
    fn whole(&mut self, message: &Value) -> Vec<StreamEvent> {
        let mut events = self.message_start(message);
        for (block, index) in
            message.get("content").and_then(Value::as_array).into_iter().flatten().zip(0_u64..)
        {
            events.extend(self.block_start(&json!({"index": index, "content_block": block})));
        }
        let reason = message.get("stop_reason").and_then(Value::as_str);
        self.assembly.stop = Some(stop_reason(reason.unwrap_or("end_turn")));
        self.finished = true;
        events.push(StreamEvent::Finished(self.assembly.finish()));
        events
    }

    fn block_start(&mut self, event: &Value) -> Vec<StreamEvent> {
        let block = event.get("content_block").unwrap_or(&Value::Null);
        let (piece, events) = match word(block, "type") {
            "text" => {
                let text = word(block, "text");
                (AnswerPiece::Text(text.to_string()), told(text, StreamEvent::Text))
            }
            "thinking" => {
                let text = word(block, "thinking");
                let signature = Some(word(block, "signature")).filter(|s| !s.is_empty()).map(String::from);
                let thinking =
                    ThinkingBlock { text: text.to_string(), signature, ..ThinkingBlock::default() };
                (AnswerPiece::Thinking(thinking), told(text, StreamEvent::Thinking))
            }
            "redacted_thinking" => {
                let redacted = Some(word(block, "data").to_string());
                (AnswerPiece::Thinking(ThinkingBlock { redacted, ..ThinkingBlock::default() }), Vec::new())
            }
            "tool_use" => {
                let id = self.assembly.id_for(word(block, "id"));
                let name = word(block, "name").to_string();
                // Servers that do not stream arguments give them whole, here.
                let arguments = match block.get("input") {
                    // In a stream `{}` is only a placeholder: the arguments follow as deltas.
                    Some(Value::Object(input)) if input.is_empty() => String::new(),
                    Some(input) if !input.is_null() => input.to_string(),
                    _ => String::new(),
                };
                let started = StreamEvent::CallStarted { id: CallId::new(id.clone()), name: name.clone() };
                (AnswerPiece::Call(PartialCall { id, name, arguments, started: true }), vec![started])
            }
            _ => return Vec::new(),
        };
        self.places.insert(index(event), self.assembly.pieces.len());
        self.assembly.pieces.push(piece);
        events
    }

    fn block_delta(&mut self, event: &Value) -> Vec<StreamEvent> {
        let delta = event.get("delta").unwrap_or(&Value::Null);
        let place = self.places.get(&index(event)).copied();
        let Some(piece) = place.and_then(|place| self.assembly.pieces.get_mut(place)) else {
            return Vec::new();
        };
        match (word(delta, "type"), piece) {
            ("text_delta", AnswerPiece::Text(text)) => {
                let more = word(delta, "text");
                text.push_str(more);
                told(more, StreamEvent::Text)
            }
            ("thinking_delta", AnswerPiece::Thinking(thinking)) => {
                let more = word(delta, "thinking");
                thinking.text.push_str(more);
                told(more, StreamEvent::Thinking)
            }
            ("signature_delta", AnswerPiece::Thinking(thinking)) => {
                thinking.signature.get_or_insert_default().push_str(word(delta, "signature"));
                Vec::new()
            }
            ("input_json_delta", AnswerPiece::Call(call)) => {
                let more = word(delta, "partial_json");
                call.arguments.push_str(more);
                match more.len() {
                    0 => Vec::new(),
                    bytes => vec![StreamEvent::CallArguments { bytes }],
                }
            }
            _ => Vec::new(),
        }
    }

    fn message_delta(&mut self, event: &Value) -> Vec<StreamEvent> {
        if let Some(reason) = event.pointer("/delta/stop_reason").and_then(Value::as_str) {
            self.assembly.stop = Some(stop_reason(reason));
        }
        self.count(event.get("usage"))
    }

    /// Figures are totals so far; one that is missing keeps its last value.
    fn count(&mut self, usage: Option<&Value>) -> Vec<StreamEvent> {
        let Some(given) = usage.filter(|u| u.is_object()) else { return Vec::new() };
        let figure = |key: &str, before: u64| given.get(key).and_then(Value::as_u64).unwrap_or(before);
        let before = self.assembly.usage;
        self.assembly.usage = TokenUsage {
            input: figure("input_tokens", before.input),
            output: figure("output_tokens", before.output),
            cache_read: figure("cache_read_input_tokens", before.cache_read),
            cache_write: figure("cache_creation_input_tokens", before.cache_write),
            reasoning: before.reasoning,
        };
        vec![StreamEvent::Usage(self.assembly.usage)]
    }
}

fn stop_reason(reason: &str) -> StopReason {
    match reason {
        "end_turn" | "stop_sequence" => StopReason::EndTurn,
        "tool_use" => StopReason::ToolUse,
        "max_tokens" | "model_context_window_exceeded" => StopReason::MaxTokens,
        "refusal" => StopReason::Refusal,
        other => StopReason::Other(other.to_string()),
    }
}

fn index(event: &Value) -> u64 {
    event.get("index").and_then(Value::as_u64).unwrap_or_default()
}

fn told(text: &str, event: impl Fn(String) -> StreamEvent) -> Vec<StreamEvent> {
    if text.is_empty() { Vec::new() } else { vec![event(text.to_string())] }
}
