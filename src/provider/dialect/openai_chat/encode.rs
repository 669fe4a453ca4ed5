//! A request as Chat Completions wants it. What never changes comes first and the messages last, so the bytes
//! before the newest message are the same turn after turn.
//!
//! A `tool` message holds text only: pictures in results move into the user message that follows. Reasoning is
//! never sent back; the API has no place for it.

use super::super::super::{Capabilities, Request};
use super::super::history::{NO_OUTPUT, NO_RESULT, Reasoning, Reply, Said, Turn, turns};
use super::super::picture;
use super::{OutputLimit, Quirks, SystemRole};
use crate::conversation::{Image, Part, ToolSpec};
use serde_json::{Map, Value, json};

pub(super) fn body(request: &Request, quirks: Quirks) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model.name));
    body.insert("stream".into(), json!(true));
    body.insert("stream_options".into(), json!({"include_usage": true}));
    match quirks.output_limit {
        OutputLimit::MaxCompletionTokens => {
            body.insert("max_completion_tokens".into(), json!(request.max_output));
        }
        OutputLimit::MaxTokens => {
            body.insert("max_tokens".into(), json!(request.max_output));
        }
        OutputLimit::Unsaid => {}
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), Value::Array(request.tools.iter().map(tool).collect()));
    }
    let mut messages = Vec::new();
    if !request.system.trim().is_empty() {
        let role = match quirks.system_role {
            SystemRole::System => "system",
            SystemRole::Developer => "developer",
        };
        messages.push(json!({"role": role, "content": &*request.system}));
    }
    for turn in turns(&request.messages, Reasoning::Drop) {
        match turn {
            Turn::User { results, parts } => {
                let parts: Vec<&Part> = parts.iter().map(AsRef::as_ref).collect();
                user(&results, &parts, &request.model.capabilities, &mut messages);
            }
            Turn::Assistant(said) => messages.push(assistant(&said)),
        }
    }
    body.insert("messages".into(), Value::Array(messages));
    Value::Object(body)
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": spec.schema},
    })
}

fn assistant(said: &[Said<'_>]) -> Value {
    let mut texts = Vec::new();
    let mut calls = Vec::new();
    for said in said {
        match said {
            Said::Text(text) => texts.push(*text),
            Said::Thinking(_) => {}
            Said::Call { id, name, input } => calls.push(json!({
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": input.to_string()},
            })),
        }
    }
    let content = if texts.is_empty() { Value::Null } else { Value::String(texts.concat()) };
    let mut message = json!({"role": "assistant", "content": content});
    if let (false, Value::Object(fields)) = (calls.is_empty(), &mut message) {
        fields.insert("tool_calls".into(), Value::Array(calls));
    }
    message
}

fn user(results: &[Reply<'_>], parts: &[&Part], capabilities: &Capabilities, messages: &mut Vec<Value>) {
    let mut content = Vec::new();
    for reply in results {
        let texts = tool_text(reply, capabilities, &mut content);
        messages.push(json!({"role": "tool", "tool_call_id": reply.id, "content": texts}));
    }
    for part in parts {
        match part {
            Part::Text { text: words } => content.push(text(words)),
            Part::Image(image) => content.push(picture_or_note(image, capabilities)),
        }
    }
    if content.is_empty() {
        return;
    }
    // Text alone goes as a plain string: some servers' templates know nothing else.
    let texts: Option<Vec<&str>> =
        content.iter().map(|block| block.get("text").and_then(Value::as_str)).collect();
    let plain = texts.map(|texts| Value::String(texts.join("\n\n")));
    messages.push(json!({"role": "user", "content": plain.unwrap_or(Value::Array(content))}));
}

/// The text of one result; its pictures go to `aside`, each behind a line that says whose it is.
fn tool_text(reply: &Reply<'_>, capabilities: &Capabilities, aside: &mut Vec<Value>) -> String {
    let Some(result) = reply.result else { return NO_RESULT.into() };
    let mut texts = Vec::new();
    for part in &result.parts {
        match part {
            Part::Text { text } if text.trim().is_empty() => {}
            Part::Text { text } => texts.push(text.clone()),
            Part::Image(image) => match picture::base64(image, capabilities) {
                Ok(data) => {
                    texts.push(format!("(the picture {} is in the next message)", image.name));
                    aside.push(text(&format!("the picture {} of the call {}:", image.name, reply.id)));
                    aside.push(image_url(image, &data));
                }
                Err(note) => texts.push(note),
            },
        }
    }
    if texts.is_empty() { NO_OUTPUT.into() } else { texts.join("\n") }
}

fn picture_or_note(image: &Image, capabilities: &Capabilities) -> Value {
    match picture::base64(image, capabilities) {
        Ok(data) => image_url(image, &data),
        Err(note) => text(&note),
    }
}

fn image_url(image: &Image, data: &str) -> Value {
    let url = format!("data:{};base64,{data}", image.media_type);
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}
