//! A request as the Responses API expects it: a list of items, in which a call and its result are items of their own
//! and reasoning goes back as the original item. What never changes comes first: the bytes before the newest item are
//! the same turn after turn.

use super::super::super::{ModelCapabilities, ModelRequest, ServerQuirks};
use super::super::cache_key;
use super::super::history::{
    NO_OUTPUT, NO_RESULT, ReasoningPolicy, WireAssistantPart, WireContent, WireToolResult, WireTurn, turns,
};
use super::WIRE;
use crate::wire::image;
use placet_text::conversation::{Image, ToolSpec};
use serde_json::{Map, Value, json};

pub(super) fn body(request: &ModelRequest, quirks: &ServerQuirks) -> Value {
    let capabilities = &request.model.capabilities;
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model.name));
    body.insert("stream".into(), json!(quirks.stream));
    body.insert("store".into(), json!(false));
    // A model without reasoning refuses a request for its reasoning.
    if capabilities.thinking {
        body.insert("include".into(), json!(["reasoning.encrypted_content"]));
        if let Some(summary) = &quirks.reasoning_summary {
            body.insert("reasoning".into(), json!({"summary": summary}));
        }
    }
    body.insert("max_output_tokens".into(), json!(request.max_output));
    if quirks.cache_key {
        body.insert("prompt_cache_key".into(), json!(cache_key::of(request)));
    }
    if !request.system.trim().is_empty() {
        body.insert("instructions".into(), json!(&*request.system));
    }
    if let Some(schema) = request.answer_schema() {
        let format = json!({"type": "json_schema", "name": "answer", "strict": true, "schema": schema});
        body.insert("text".into(), json!({"format": format}));
    }
    let tools = request.native_tools();
    if !tools.is_empty() {
        body.insert("tools".into(), Value::Array(tools.iter().map(tool).collect()));
        if let Some(parallel) = quirks.parallel_tool_calls {
            body.insert("parallel_tool_calls".into(), json!(parallel));
        }
    }
    let mut items = Vec::new();
    let reasoning = ReasoningPolicy::Proven { wire: WIRE, model: &request.model.name };
    for turn in turns(&request.messages, reasoning) {
        match turn {
            WireTurn::User { results, parts } => {
                items.extend(results.iter().map(|reply| output(reply, capabilities)));
                let content: Vec<Value> = parts.iter().map(|part| said(part, capabilities)).collect();
                if !content.is_empty() {
                    items.push(json!({"type": "message", "role": "user", "content": content}));
                }
            }
            WireTurn::Assistant(said) => items.extend(said.iter().filter_map(item)),
        }
    }
    body.insert("input".into(), Value::Array(items));
    Value::Object(body)
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": spec.schema,
        // Without it the server treats every parameter as required.
        "strict": false,
    })
}

fn item(said: &WireAssistantPart<'_>) -> Option<Value> {
    Some(match said {
        // As a string: content in parts is for an item with its id and status, which placet does not store.
        WireAssistantPart::Text(words) => json!({"type": "message", "role": "assistant", "content": words}),
        WireAssistantPart::Thinking(thinking) => serde_json::from_str(thinking.redacted.as_deref()?).ok()?,
        WireAssistantPart::Call { id, name, input } => json!({
            "type": "function_call",
            "call_id": id,
            "name": name,
            "arguments": input.to_string(),
        }),
    })
}

fn output(reply: &WireToolResult<'_>, capabilities: &ModelCapabilities) -> Value {
    let mut content: Vec<Value> = reply.content().iter().map(|part| said(part, capabilities)).collect();
    if reply.result.is_none() {
        content.push(text(NO_RESULT));
    }
    if content.is_empty() {
        content.push(text(NO_OUTPUT));
    }
    // Text alone is sent as a plain string, which every server accepts.
    let texts: Option<Vec<&str>> = content.iter().map(|c| c.get("text").and_then(Value::as_str)).collect();
    let plain = texts.map(|texts| Value::String(texts.join("\n")));
    let output = plain.unwrap_or(Value::Array(content));
    json!({"type": "function_call_output", "call_id": reply.id, "output": output})
}

fn said(part: &WireContent<'_>, capabilities: &ModelCapabilities) -> Value {
    match part {
        WireContent::Text(words) => text(words),
        WireContent::Image(image) => picture_or_note(image, capabilities),
    }
}

fn picture_or_note(image: &Image, capabilities: &ModelCapabilities) -> Value {
    match image::base64(image, capabilities) {
        Ok(data) => {
            let url = format!("data:{};base64,{data}", image.media_type);
            if image.is_pdf() {
                return json!({"type": "input_file", "filename": image.name, "file_data": url});
            }
            json!({"type": "input_image", "image_url": url, "detail": "auto"})
        }
        Err(omitted) => text(&omitted.to_string()),
    }
}

fn text(words: &str) -> Value {
    json!({"type": "input_text", "text": words})
}
