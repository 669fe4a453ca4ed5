//! A request as the Messages API wants it.
//!
//! The parts that never change come first and the messages last, so the bytes before the newest message are the
//! same turn after turn. Four cache breakpoints, which is all there may be: after the tools, after the system prompt,
//! at the end of the person's turn before the newest, where the last request ended, and at the very end.

use super::super::super::{ModelCapabilities, ModelRequest, ServerQuirks};
use super::super::history::{
    NO_OUTPUT, NO_RESULT, ReasoningPolicy, WireAssistantPart, WireContent, WireToolResult, WireTurn, turns,
};
use crate::wire::image;
use placet_text::conversation::{Image, ThinkingBlock, ToolSpec};
use serde_json::{Map, Value, json};

/// The name of this wire format's proofs. It is empty, because this format had proofs before the name existed.
pub(super) const WIRE: &str = "";

pub(super) fn body(request: &ModelRequest, quirks: &ServerQuirks) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model.name));
    body.insert("max_tokens".into(), json!(request.max_output));
    body.insert("stream".into(), json!(quirks.stream));
    let tools = request.native_tools();
    if !tools.is_empty() {
        let mut tools: Vec<Value> = tools.iter().map(|spec| tool(spec, quirks)).collect();
        mark_cached(tools.last_mut());
        body.insert("tools".into(), Value::Array(tools));
    }
    if !request.system.trim().is_empty() {
        let mut system = text(&request.system);
        mark_cached(Some(&mut system));
        body.insert("system".into(), json!([system]));
    }
    let capabilities = &request.model.capabilities;
    let mut messages: Vec<Value> =
        turns(&request.messages, ReasoningPolicy::Proven { wire: WIRE, model: &request.model.name })
            .iter()
            .map(|turn| message(turn, capabilities))
            .collect();
    // The server looks back only so far from a breakpoint: where the last request ended must be one again.
    let ends = messages.iter_mut().rev().filter(|m| m.get("role").and_then(Value::as_str) == Some("user"));
    for message in ends.take(2) {
        let content = message.get_mut("content").and_then(Value::as_array_mut);
        mark_cached(content.and_then(|content| content.last_mut()));
    }
    body.insert("messages".into(), Value::Array(messages));
    Value::Object(body)
}

fn mark_cached(block: Option<&mut Value>) {
    if let Some(Value::Object(block)) = block {
        block.insert("cache_control".into(), json!({"type": "ephemeral"}));
    }
}

/// `eager_input_streaming` has the arguments sent as they are written, not when they are whole: a long file is seen to
/// come. What they are in the end is checked here as always.
fn tool(spec: &ToolSpec, quirks: &ServerQuirks) -> Value {
    let mut tool = json!({"name": spec.name, "description": spec.description, "input_schema": spec.schema});
    if let (true, Value::Object(fields)) = (quirks.eager_calls, &mut tool) {
        fields.insert("eager_input_streaming".into(), json!(true));
    }
    tool
}

fn message(turn: &WireTurn<'_>, capabilities: &ModelCapabilities) -> Value {
    match turn {
        WireTurn::User { results, parts } => {
            let mut content = Vec::new();
            let mut aside = Vec::new();
            for reply in results {
                content.push(result(reply, capabilities, &mut aside));
            }
            content.append(&mut aside);
            content.extend(parts.iter().map(|part| block(part, capabilities)));
            json!({"role": "user", "content": content})
        }
        WireTurn::Assistant(said) => {
            let content: Vec<Value> = said.iter().map(spoken).collect();
            json!({"role": "assistant", "content": content})
        }
    }
}

fn spoken(said: &WireAssistantPart<'_>) -> Value {
    match said {
        WireAssistantPart::Text(words) => text(words),
        WireAssistantPart::Thinking(ThinkingBlock { redacted: Some(data), .. }) => {
            json!({"type": "redacted_thinking", "data": data})
        }
        WireAssistantPart::Thinking(thinking) => {
            json!({"type": "thinking", "thinking": thinking.text, "signature": thinking.signature})
        }
        WireAssistantPart::Call { id, name, input } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": input})
        }
    }
}

/// One result. An error may have text only: its pictures go to `aside`, after all results.
fn result(reply: &WireToolResult<'_>, capabilities: &ModelCapabilities, aside: &mut Vec<Value>) -> Value {
    let is_error = reply.is_error();
    let mut content = Vec::new();
    if reply.result.is_none() {
        content.push(text(NO_RESULT));
    }
    for part in reply.content() {
        match part {
            WireContent::Image(_) if is_error => aside.push(block(part, capabilities)),
            _ => content.push(block(part, capabilities)),
        }
    }
    if content.is_empty() {
        content.push(text(NO_OUTPUT));
    }
    let mut out = json!({"type": "tool_result", "tool_use_id": reply.id, "content": content});
    if let (true, Value::Object(fields)) = (is_error, &mut out) {
        fields.insert("is_error".into(), json!(true));
    }
    out
}

fn block(part: &WireContent<'_>, capabilities: &ModelCapabilities) -> Value {
    match part {
        WireContent::Text(words) => text(words),
        WireContent::Image(image) => image_block(image, capabilities),
    }
}

fn image_block(image: &Image, capabilities: &ModelCapabilities) -> Value {
    match image::base64(image, capabilities) {
        Ok(data) if image.is_pdf() => json!({
            "type": "document",
            "source": {"type": "base64", "media_type": image.media_type, "data": data},
            "title": image.name,
        }),
        Ok(data) => json!({
            "type": "image",
            "source": {"type": "base64", "media_type": image.media_type, "data": data},
        }),
        Err(omitted) => text(&omitted.to_string()),
    }
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}
