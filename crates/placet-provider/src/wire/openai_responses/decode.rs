//! A streamed response, decoded. The response is a list of items, each with its own beginning, deltas and end; the end
//! repeats the whole item, which fills in what was not streamed. Items and events of unknown kinds are skipped. Only
//! the last event has the reason why the model stopped.

use super::super::super::{AnswerDecoder, ProviderError, StreamEvent};
use super::super::event::{self, part, word};
use super::WIRE;
use crate::wire::answer_builder::{AnswerBuilder, AnswerPiece, PartialCall};
use crate::wire::error_body;
use placet_text::conversation::{AssistantMessage, CallId, StopReason, ThinkingBlock, TokenUsage};
use serde_json::Value;
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct ResponsesDecoder {
    assembly: AnswerBuilder,
    /// The server's item number to the piece it became.
    places: BTreeMap<u64, usize>,
    refused: bool,
    finished: bool,
}

impl AnswerDecoder for ResponsesDecoder {
    fn feed(&mut self, _event: &str, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        if self.finished {
            return Ok(Vec::new());
        }
        let Some(value) = event::read(data)? else { return Ok(Vec::new()) };
        let mut events = Vec::new();
        match word(&value, "type") {
            "response.created" | "response.in_progress" => {
                self.assembly.model = word(part(&value, "response"), "model").to_string();
            }
            "response.output_item.added" => self.open(index(&value), part(&value, "item"), &mut events),
            "response.output_item.done" => self.close(index(&value), part(&value, "item"), &mut events),
            "response.output_text.delta" => self.text(&value, &mut events),
            "response.refusal.delta" => {
                self.refused = true;
                self.text(&value, &mut events);
            }
            "response.reasoning_summary_part.added" => self.next_part(&value, &mut events),
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.thought(&value, &mut events);
            }
            "response.function_call_arguments.delta" => self.arguments(&value, &mut events),
            "response.completed" | "response.incomplete" => {
                return Ok(self.finish(part(&value, "response"), events));
            }
            "response.failed" => return Err(error_body::of_event(part(&value, "response"))),
            "error" => return Err(error_body::of_event(&value)),
            // The whole response at once, from a server that does not stream, or an error without a type.
            "" if word(&value, "object") == "response" && word(&value, "status") != "failed" => {
                return Ok(self.finish(&value, events));
            }
            "" => return event::refusal(&value).map_or(Ok(events), Err),
            _ => {}
        }
        Ok(events)
    }

    fn is_whole(&self) -> bool {
        self.assembly.stop.is_some()
    }

    fn cut(&mut self) -> AssistantMessage {
        self.finished = true;
        self.assembly.cut()
    }
}

impl ResponsesDecoder {
    fn open(&mut self, index: u64, item: &Value, events: &mut Vec<StreamEvent>) {
        let piece = match word(item, "type") {
            "message" => AnswerPiece::Text(String::new()),
            "reasoning" => AnswerPiece::Thinking(ThinkingBlock::default()),
            "function_call" => {
                let given =
                    ["call_id", "id"].into_iter().map(|key| word(item, key)).find(|id| !id.is_empty());
                let id = self.assembly.id_for(given.unwrap_or_default());
                let name = word(item, "name").to_string();
                events.push(StreamEvent::CallStarted { id: CallId::new(id.clone()), name: name.clone() });
                AnswerPiece::Call(PartialCall { id, name, started: true, ..PartialCall::default() })
            }
            _ => return,
        };
        self.places.insert(index, self.assembly.pieces.len());
        self.assembly.pieces.push(piece);
    }

    /// Completes an item. Streamed parts stay; the missing parts come from `item`.
    fn close(&mut self, index: u64, item: &Value, events: &mut Vec<StreamEvent>) {
        if !self.places.contains_key(&index) {
            self.open(index, item, events);
        }
        let Some(piece) = self.piece(index) else { return };
        match piece {
            AnswerPiece::Text(text) if text.is_empty() => {
                let mut refused = false;
                for content in item.get("content").and_then(Value::as_array).into_iter().flatten() {
                    let refusal = word(content, "refusal");
                    refused |= !refusal.is_empty();
                    let words = if refusal.is_empty() { word(content, "text") } else { refusal };
                    text.push_str(words);
                }
                if !text.is_empty() {
                    events.push(StreamEvent::Text(text.clone()));
                }
                self.refused |= refused;
            }
            AnswerPiece::Text(_) => {}
            AnswerPiece::Thinking(thinking) => {
                if thinking.text.is_empty() {
                    thinking.text = summary(item);
                    if !thinking.text.is_empty() {
                        events.push(StreamEvent::Thinking(thinking.text.clone()));
                    }
                }
                // Without its encrypted form the server could not know the item again.
                if !word(item, "encrypted_content").is_empty() {
                    thinking.redacted = Some(without_nulls(item).to_string());
                    thinking.wire = WIRE.into();
                }
            }
            AnswerPiece::Call(call) => {
                if call.name.is_empty() {
                    call.name = word(item, "name").to_string();
                }
                if call.arguments.is_empty() {
                    call.arguments = word(item, "arguments").to_string();
                    if !call.arguments.is_empty() {
                        events.push(StreamEvent::CallArguments { bytes: call.arguments.len() });
                    }
                }
            }
        }
    }

    fn text(&mut self, event: &Value, events: &mut Vec<StreamEvent>) {
        let more = word(event, "delta");
        if more.is_empty() {
            return;
        }
        if self.piece(index(event)).is_none() {
            self.places.insert(index(event), self.assembly.pieces.len());
            self.assembly.pieces.push(AnswerPiece::Text(String::new()));
        }
        if let Some(AnswerPiece::Text(text)) = self.piece(index(event)) {
            text.push_str(more);
            events.push(StreamEvent::Text(more.to_string()));
        }
    }

    fn thought(&mut self, event: &Value, events: &mut Vec<StreamEvent>) {
        let more = word(event, "delta");
        if let (Some(AnswerPiece::Thinking(thinking)), false) = (self.piece(index(event)), more.is_empty()) {
            thinking.text.push_str(more);
            events.push(StreamEvent::Thinking(more.to_string()));
        }
    }

    /// A summary has several parts; each begins a paragraph.
    fn next_part(&mut self, event: &Value, events: &mut Vec<StreamEvent>) {
        if let Some(AnswerPiece::Thinking(thinking)) = self.piece(index(event))
            && !thinking.text.is_empty()
        {
            thinking.text.push_str("\n\n");
            events.push(StreamEvent::Thinking("\n\n".into()));
        }
    }

    fn arguments(&mut self, event: &Value, events: &mut Vec<StreamEvent>) {
        let more = word(event, "delta");
        if let (Some(AnswerPiece::Call(call)), false) = (self.piece(index(event)), more.is_empty()) {
            call.arguments.push_str(more);
            events.push(StreamEvent::CallArguments { bytes: more.len() });
        }
    }

    fn finish(&mut self, response: &Value, mut events: Vec<StreamEvent>) -> Vec<StreamEvent> {
        if self.assembly.pieces.is_empty() {
            let items = response.get("output").and_then(Value::as_array).into_iter().flatten();
            for (item, index) in items.zip(0..) {
                self.close(index, item, &mut events);
            }
        }
        if self.assembly.model.is_empty() {
            self.assembly.model = word(response, "model").to_string();
        }
        if let Some(usage) = response.get("usage").filter(|u| u.is_object()) {
            self.assembly.usage = counted(usage);
            events.push(StreamEvent::Usage(self.assembly.usage));
        }
        self.assembly.stop =
            Some(match part(response, "incomplete_details").get("reason").and_then(Value::as_str) {
                Some("max_output_tokens") => StopReason::MaxTokens,
                Some("content_filter") => StopReason::Refusal,
                Some(other) => StopReason::Other(other.to_string()),
                None if self.refused => StopReason::Refusal,
                // Compatible servers leave the reason out; for any reason, the last call may be incomplete.
                None if word(response, "status") == "incomplete" => StopReason::MaxTokens,
                None => StopReason::EndTurn,
            });
        self.finished = true;
        events.push(StreamEvent::Finished(self.assembly.finish()));
        events
    }

    fn piece(&mut self, index: u64) -> Option<&mut AnswerPiece> {
        let place = *self.places.get(&index)?;
        self.assembly.pieces.get_mut(place)
    }
}

fn summary(item: &Value) -> String {
    let parts = item.get("summary").and_then(Value::as_array).into_iter().flatten();
    parts.map(|p| word(p, "text")).collect::<Vec<_>>().join("\n\n")
}

/// The item as the API takes it back: fields that came as null are refused there.
fn without_nulls(item: &Value) -> Value {
    match item {
        Value::Object(fields) => Value::Object(
            fields.iter().filter(|(_, v)| !v.is_null()).map(|(k, v)| (k.clone(), v.clone())).collect(),
        ),
        other => other.clone(),
    }
}

fn counted(usage: &Value) -> TokenUsage {
    let figure = |path: &str| usage.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    let cache_read = figure("/input_tokens_details/cached_tokens");
    let cache_write = figure("/input_tokens_details/cache_write_tokens");
    TokenUsage {
        // `input_tokens` includes what was read from the cache and written to it.
        input: figure("/input_tokens").saturating_sub(cache_read).saturating_sub(cache_write),
        output: figure("/output_tokens"),
        cache_read,
        cache_write,
        reasoning: figure("/output_tokens_details/reasoning_tokens"),
    }
}

fn index(event: &Value) -> u64 {
    event.get("output_index").and_then(Value::as_u64).unwrap_or_default()
}
