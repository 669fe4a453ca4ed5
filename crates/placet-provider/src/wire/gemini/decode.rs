//! A streamed response, decoded. Every event is a piece of the same content. Only the end of the connection shows that
//! there is no more, and the answer is returned then.
//!
//! A proof is stored in the form in which it goes back on its own part. A proof with a call or with text is an empty
//! reasoning block directly before that block; a proof on the reasoning itself stays there; a proof that came alone is
//! stored as its own part.

use super::super::super::{AnswerDecoder, ProviderError, StreamEvent};
use super::super::event::{self, word};
use super::{UNREADABLE, WIRE};
use crate::wire::answer_builder::{AnswerBuilder, AnswerPiece, PartialCall};
use crate::wire::error_body;
use placet_text::conversation::{AssistantMessage, CallId, StopReason, ThinkingBlock, TokenUsage};
use serde_json::{Value, json};

#[derive(Debug, Default)]
pub(super) struct GeminiDecoder {
    assembly: AnswerBuilder,
    /// The last piece is complete: what comes next begins another.
    sealed: bool,
    finished: bool,
}

impl AnswerDecoder for GeminiDecoder {
    fn feed(&mut self, _event: &str, data: &str) -> Result<Vec<StreamEvent>, ProviderError> {
        if self.finished {
            return Ok(Vec::new());
        }
        let Some(value) = event::read(data)? else { return Ok(Vec::new()) };
        if let Some(error) = event::refusal(&value) {
            return Err(error);
        }
        // A server that does not stream sends a list of everything.
        let mut events = Vec::new();
        match &value {
            Value::Array(chunks) => {
                for chunk in chunks {
                    self.chunk(chunk, &mut events)?;
                }
            }
            chunk => self.chunk(chunk, &mut events)?,
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

impl GeminiDecoder {
    fn chunk(&mut self, chunk: &Value, events: &mut Vec<StreamEvent>) -> Result<(), ProviderError> {
        if self.assembly.model.is_empty() {
            self.assembly.model = word(chunk, "modelVersion").to_string();
        }
        if let Some(reason) = chunk.pointer("/promptFeedback/blockReason").and_then(Value::as_str) {
            return Err(error_body::blocked(reason));
        }
        let candidate = chunk.pointer("/candidates/0").unwrap_or(&Value::Null);
        for part in candidate.pointer("/content/parts").and_then(Value::as_array).into_iter().flatten() {
            self.part(part, events);
        }
        if let Some(usage) = chunk.get("usageMetadata").filter(|u| u.is_object()) {
            let counted = counted(usage);
            if counted != self.assembly.usage {
                self.assembly.usage = counted;
                events.push(StreamEvent::Usage(counted));
            }
        }
        if let Some(reason) = candidate.get("finishReason").and_then(Value::as_str) {
            self.stop(reason, word(candidate, "finishMessage"), events);
        }
        Ok(())
    }

    fn part(&mut self, part: &Value, events: &mut Vec<StreamEvent>) {
        let proof = ["thoughtSignature", "thought_signature"].into_iter().map(|k| word(part, k));
        let proof = proof.into_iter().find(|p| !p.is_empty()).map(String::from);
        let words = word(part, "text");
        if let Some(call) = part.get("functionCall") {
            self.prove(proof);
            self.call(call, events);
        } else if part.get("thought").and_then(Value::as_bool) == Some(true) {
            self.thought(words, proof, events);
        } else if let (true, Some(proof)) = (words.is_empty(), &proof) {
            let whole = json!({"text": "", "thoughtSignature": proof}).to_string();
            let thinking =
                ThinkingBlock { redacted: Some(whole), wire: WIRE.into(), ..ThinkingBlock::default() };
            self.assembly.pieces.push(AnswerPiece::Thinking(thinking));
            self.sealed = true;
        } else if !words.is_empty() {
            let proven = proof.is_some();
            self.prove(proof);
            self.text(words, events);
            self.sealed = proven;
        }
    }

    /// Puts the proof of the next piece before it.
    fn prove(&mut self, proof: Option<String>) {
        if proof.is_some() {
            let thinking = ThinkingBlock { signature: proof, wire: WIRE.into(), ..ThinkingBlock::default() };
            self.assembly.pieces.push(AnswerPiece::Thinking(thinking));
            self.sealed = true;
        }
    }

    fn call(&mut self, call: &Value, events: &mut Vec<StreamEvent>) {
        let id = self.assembly.id_for(word(call, "id"));
        let name = word(call, "name").to_string();
        let arguments = match call.get("args") {
            Some(args) if !args.is_null() => args.to_string(),
            _ => String::new(),
        };
        events.push(StreamEvent::CallStarted { id: CallId::new(id.clone()), name: name.clone() });
        if !arguments.is_empty() {
            events.push(StreamEvent::CallArguments { bytes: arguments.len() });
        }
        self.assembly.pieces.push(AnswerPiece::Call(PartialCall { id, name, arguments, started: true }));
    }

    fn thought(&mut self, words: &str, proof: Option<String>, events: &mut Vec<StreamEvent>) {
        let open = !std::mem::take(&mut self.sealed);
        match self.assembly.pieces.last_mut() {
            Some(AnswerPiece::Thinking(thinking)) if open => {
                thinking.text.push_str(words);
                thinking.signature = proof.clone();
            }
            _ => {
                let wire = WIRE.to_string();
                let thinking =
                    ThinkingBlock { text: words.into(), signature: proof.clone(), wire, redacted: None };
                self.assembly.pieces.push(AnswerPiece::Thinking(thinking));
            }
        }
        self.sealed = proof.is_some();
        if !words.is_empty() {
            events.push(StreamEvent::Thinking(words.to_string()));
        }
    }

    fn text(&mut self, words: &str, events: &mut Vec<StreamEvent>) {
        let open = !std::mem::take(&mut self.sealed);
        match self.assembly.pieces.last_mut() {
            Some(AnswerPiece::Text(text)) if open => text.push_str(words),
            _ => self.assembly.pieces.push(AnswerPiece::Text(words.to_string())),
        }
        events.push(StreamEvent::Text(words.to_string()));
    }

    fn stop(&mut self, reason: &str, message: &str, events: &mut Vec<StreamEvent>) {
        let stop = match reason {
            "STOP" => StopReason::EndTurn,
            "MAX_TOKENS" => StopReason::MaxTokens,
            "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
            | "IMAGE_SAFETY" => StopReason::Refusal,
            "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" => {
                // The model sees the reason in a failed call, and can repeat the call.
                let raw = if message.is_empty() { reason } else { message };
                let id = self.assembly.id_for("");
                let name = UNREADABLE.to_string();
                events.push(StreamEvent::CallStarted { id: CallId::new(id.clone()), name: name.clone() });
                events.push(StreamEvent::CallArguments { bytes: raw.len() });
                let arguments = raw.to_string();
                self.assembly.pieces.push(AnswerPiece::Call(PartialCall {
                    id,
                    name,
                    arguments,
                    started: true,
                }));
                StopReason::ToolUse
            }
            other => StopReason::Other(other.to_string()),
        };
        self.assembly.stop = Some(stop);
    }
}

fn counted(usage: &Value) -> TokenUsage {
    let figure = |key: &str| usage.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (cache_read, thoughts) = (figure("cachedContentTokenCount"), figure("thoughtsTokenCount"));
    let prompt = figure("promptTokenCount") + figure("toolUsePromptTokenCount");
    TokenUsage {
        // Google counts the cached tokens as part of the prompt.
        input: prompt.saturating_sub(cache_read),
        // Google counts the thoughts separately from the answer; they cost the same.
        output: figure("candidatesTokenCount") + thoughts,
        cache_read,
        cache_write: 0,
        reasoning: thoughts,
    }
}
