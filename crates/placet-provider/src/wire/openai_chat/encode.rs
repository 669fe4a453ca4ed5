//! A request as Chat Completions expects it. What never changes comes first and the messages last: the bytes before the
//! newest message are the same turn after turn.
//!
//! A `tool` message has text only, on most servers: pictures in results move into the user message that follows.
//! Reasoning is sent back only where the quirks name a field for it; the API itself has none.

use super::super::super::{
    AfterToolResults, CallIdFormat, EmptyContent, ModelCapabilities, ModelRequest, OutputLimitField,
    ServerQuirks, SystemRole, ToolImagePlacement,
};
use super::super::cache_key;
use super::super::history::{
    NO_OUTPUT, NO_RESULT, ReasoningPolicy, WireAssistantPart, WireContent, WireToolResult, WireTurn, turns,
};
use super::WIRE;
use crate::wire::image::{self, OmittedImage};
use placet_text::conversation::{Image, ToolSpec};
use serde_json::{Map, Value, json};
use std::borrow::Cow;

/// What the model is made to say between results and the person, where a server wants it to speak first.
const FILLER: &str = "(continuing)";

pub(super) fn body(request: &ModelRequest, quirks: &ServerQuirks) -> Value {
    let mut body = Map::new();
    body.insert("model".into(), json!(request.model.name));
    body.insert("stream".into(), json!(quirks.stream));
    if quirks.stream && quirks.stream_options {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    if quirks.cache_key {
        body.insert("prompt_cache_key".into(), json!(cache_key::of(request)));
    }
    match quirks.output_limit {
        OutputLimitField::MaxCompletionTokens => {
            body.insert("max_completion_tokens".into(), json!(request.max_output));
        }
        OutputLimitField::MaxTokens => {
            body.insert("max_tokens".into(), json!(request.max_output));
        }
        OutputLimitField::Unsaid => {}
    }
    let tools = request.native_tools();
    if let Some(schema) = request.answer_schema() {
        let format = json!({"name": "answer", "strict": true, "schema": schema});
        body.insert("response_format".into(), json!({"type": "json_schema", "json_schema": format}));
    } else if !tools.is_empty() {
        body.insert("tools".into(), Value::Array(tools.iter().map(tool).collect()));
        if let Some(parallel) = quirks.parallel_tool_calls {
            body.insert("parallel_tool_calls".into(), json!(parallel));
        }
    }
    let mut messages = Vec::new();
    if !request.system.trim().is_empty() {
        let role = match quirks.system_role {
            SystemRole::System => "system",
            SystemRole::Developer => "developer",
        };
        messages.push(json!({"role": role, "content": &*request.system}));
    }
    let writer = ChatEncoder { capabilities: &request.model.capabilities, quirks };
    let reasoning = match (&quirks.reasoning_blocks, &quirks.reasoning_back) {
        (Some(_), _) => ReasoningPolicy::Proven { wire: WIRE, model: &request.model.name },
        (None, Some(_)) => ReasoningPolicy::Words { model: &request.model.name },
        (None, None) => ReasoningPolicy::Drop,
    };
    for turn in turns(&request.messages, reasoning) {
        match turn {
            WireTurn::User { results, parts } => {
                writer.user(&results, &parts, &mut messages);
            }
            WireTurn::Assistant(said) => messages.push(writer.assistant(&said)),
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

/// Spells the messages as one server wants them.
struct ChatEncoder<'w> {
    capabilities: &'w ModelCapabilities,
    quirks: &'w ServerQuirks,
}

impl ChatEncoder<'_> {
    fn assistant(&self, said: &[WireAssistantPart<'_>]) -> Value {
        let (mut texts, mut calls, mut words, mut blocks) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for said in said {
            match said {
                WireAssistantPart::Text(text) => texts.push(*text),
                WireAssistantPart::Thinking(thinking) => match &thinking.redacted {
                    Some(list) => blocks.extend(serde_json::from_str::<Vec<Value>>(list).unwrap_or_default()),
                    None => words.push(thinking.text.as_str()),
                },
                WireAssistantPart::Call { id, name, input } => calls.push(json!({
                    "id": self.call_id(id),
                    "type": "function",
                    "function": {"name": name, "arguments": input.to_string()},
                })),
            }
        }
        let mut message = Map::new();
        message.insert("role".into(), json!("assistant"));
        match (texts.is_empty(), self.quirks.empty_content) {
            (false, _) => drop(message.insert("content".into(), Value::String(texts.concat()))),
            (true, EmptyContent::Null) => drop(message.insert("content".into(), Value::Null)),
            (true, EmptyContent::Empty) => drop(message.insert("content".into(), json!(""))),
            (true, EmptyContent::Omitted) => {}
        }
        // A server that wants reasoning back wants the field even where there was none, or came from another model.
        if let Some(field) = &self.quirks.reasoning_back {
            message.insert(field.clone(), Value::String(words.concat()));
        }
        if let (Some(field), false) = (&self.quirks.reasoning_blocks, blocks.is_empty()) {
            message.insert(field.clone(), Value::Array(blocks));
        }
        if !calls.is_empty() {
            message.insert("tool_calls".into(), Value::Array(calls));
        }
        Value::Object(message)
    }

    fn user(&self, results: &[WireToolResult<'_>], parts: &[WireContent<'_>], messages: &mut Vec<Value>) {
        let mut content = Vec::new();
        for reply in results {
            let said = self.tool_content(reply, &mut content);
            messages.push(json!({"role": "tool", "tool_call_id": self.call_id(&reply.id), "content": said}));
        }
        for part in parts {
            match part {
                WireContent::Text(words) => content.push(text(words)),
                WireContent::Image(image) => content.push(self.picture_or_note(image)),
            }
        }
        if content.is_empty() {
            return;
        }
        if !results.is_empty() && self.quirks.after_results == AfterToolResults::Assistant {
            messages.push(json!({"role": "assistant", "content": FILLER}));
        }
        // Text alone is sent as a plain string: some servers' templates support nothing else.
        let texts: Option<Vec<&str>> =
            content.iter().map(|block| block.get("text").and_then(Value::as_str)).collect();
        let plain = texts.map(|texts| Value::String(texts.join("\n\n")));
        messages.push(json!({"role": "user", "content": plain.unwrap_or(Value::Array(content))}));
    }

    /// One result. Its pictures stay in it, or go to `aside`, each after a line that names its call.
    fn tool_content(&self, reply: &WireToolResult<'_>, aside: &mut Vec<Value>) -> Value {
        if reply.result.is_none() {
            return json!(NO_RESULT);
        }
        let mut texts = Vec::new();
        let mut pictures = Vec::new();
        for part in reply.content() {
            match part {
                WireContent::Text(text) => texts.push(text.to_string()),
                WireContent::Image(image) => match self.base64(image) {
                    Ok(data) if self.quirks.tool_images == ToolImagePlacement::Inside => {
                        pictures.push(image_url(image, &data));
                    }
                    Ok(data) => {
                        texts.push(format!("(the picture {} is in the next message)", image.name));
                        let whose = format!("the picture {} of the call {}:", image.name, reply.id);
                        aside.push(text(&whose));
                        aside.push(image_url(image, &data));
                    }
                    Err(omitted) => texts.push(omitted.to_string()),
                },
            }
        }
        let words = if texts.is_empty() { NO_OUTPUT.to_string() } else { texts.join("\n") };
        if pictures.is_empty() {
            return Value::String(words);
        }
        pictures.insert(0, text(&words));
        Value::Array(pictures)
    }

    /// Compatible servers do not agree on a place for a PDF.
    fn base64(&self, image: &Image) -> Result<String, OmittedImage> {
        if image.is_pdf() {
            return image::base64(image, &ModelCapabilities { pdf: false, ..self.capabilities.clone() });
        }
        image::base64(image, self.capabilities)
    }

    fn picture_or_note(&self, image: &Image) -> Value {
        match self.base64(image) {
            Ok(data) => image_url(image, &data),
            Err(omitted) => text(&omitted.to_string()),
        }
    }

    /// The id as this server takes it; the same one always becomes the same.
    fn call_id<'i>(&self, id: &'i str) -> Cow<'i, str> {
        let fits = id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric());
        match self.quirks.call_ids {
            CallIdFormat::Nine if !fits => {
                let digest = blake3::hash(id.as_bytes()).to_hex();
                Cow::Owned(digest.get(..9).unwrap_or_default().to_string())
            }
            _ => Cow::Borrowed(id),
        }
    }
}

fn image_url(image: &Image, data: &str) -> Value {
    let url = format!("data:{};base64,{data}", image.media_type);
    json!({"type": "image_url", "image_url": {"url": url}})
}

fn text(words: &str) -> Value {
    json!({"type": "text", "text": words})
}
