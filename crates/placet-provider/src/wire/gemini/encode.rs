//! A request as `generateContent` expects it. What never changes comes first and the contents last: the bytes before
//! the newest content are the same turn after turn.
//!
//! A proof goes back on its part: [`decode`](super::decode) describes how it is stored. Calls have ids only where the
//! server gave one.

use super::super::super::{ModelCapabilities, ModelRequest, ServerQuirks, ToolImagePlacement};
use super::super::history::{
    NO_OUTPUT, NO_RESULT, ReasoningPolicy, WireAssistantPart, WireContent, WireToolResult, WireTurn, turns,
};
use super::WIRE;
use crate::wire::image;
use placet_text::conversation::{Image, ThinkingBlock, ToolSpec};
use serde_json::{Map, Value, json};

pub(super) fn body(request: &ModelRequest, quirks: &ServerQuirks) -> Value {
    let capabilities = &request.model.capabilities;
    let writer = GeminiEncoder { capabilities, quirks };
    let mut body = Map::new();
    let mut generation = json!({"maxOutputTokens": request.max_output});
    if let (true, Value::Object(fields)) = (capabilities.thinking, &mut generation) {
        fields.insert("thinkingConfig".into(), json!({"includeThoughts": true}));
    }
    if let (Some(schema), Value::Object(fields)) = (request.answer_schema(), &mut generation) {
        fields.insert("responseMimeType".into(), json!("application/json"));
        fields.insert("responseJsonSchema".into(), schema);
    }
    body.insert("generationConfig".into(), generation);
    if !request.system.trim().is_empty() {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": &*request.system}]}));
    }
    let tools = request.native_tools();
    if !tools.is_empty() {
        let declarations: Vec<Value> = tools.iter().map(declaration).collect();
        body.insert("tools".into(), json!([{"functionDeclarations": declarations}]));
    }
    let reasoning = ReasoningPolicy::ProvenToTheEnd { wire: WIRE, model: &request.model.name };
    let contents: Vec<Value> = turns(&request.messages, reasoning)
        .iter()
        .map(|turn| match turn {
            WireTurn::User { results, parts } => {
                json!({"role": "user", "parts": writer.user(results, parts)})
            }
            WireTurn::Assistant(said) => json!({"role": "model", "parts": writer.model(said)}),
        })
        .collect();
    body.insert("contents".into(), Value::Array(contents));
    Value::Object(body)
}

/// Its parameters as plain JSON Schema, of which the older field takes only a part.
fn declaration(spec: &ToolSpec) -> Value {
    json!({"name": spec.name, "description": spec.description, "parametersJsonSchema": spec.schema})
}

/// Encodes the parts for one server.
struct GeminiEncoder<'w> {
    capabilities: &'w ModelCapabilities,
    quirks: &'w ServerQuirks,
}

impl GeminiEncoder<'_> {
    fn model(&self, said: &[WireAssistantPart<'_>]) -> Vec<Value> {
        let mut parts = Vec::new();
        let mut proof: Option<&str> = None;
        let mut calls = 0;
        for said in said {
            if let (WireAssistantPart::Thinking(_), Some(proof)) = (said, proof) {
                parts.push(alone(proof));
            }
            let mut part = match said {
                WireAssistantPart::Thinking(ThinkingBlock { redacted: Some(whole), .. }) => {
                    proof = None;
                    parts.extend(serde_json::from_str::<Value>(whole).ok());
                    continue;
                }
                WireAssistantPart::Thinking(thinking) if thinking.text.is_empty() => {
                    proof = thinking.signature.as_deref();
                    continue;
                }
                WireAssistantPart::Thinking(thinking) => {
                    proof = thinking.signature.as_deref();
                    json!({"text": thinking.text, "thought": true})
                }
                WireAssistantPart::Text(words) => json!({"text": words}),
                WireAssistantPart::Call { id, name, input } => {
                    calls += 1;
                    let mut call = json!({"name": name, "args": input});
                    put_id(&mut call, id);
                    json!({"functionCall": call})
                }
            };
            // Of parallel calls only the first one has a proof.
            let first_call = matches!(said, WireAssistantPart::Call { .. }) && calls == 1;
            let stand_in = self.quirks.unsigned_call.as_deref();
            let needed = stand_in.filter(|_| first_call && self.capabilities.signed_calls);
            if let (Some(proof), Value::Object(fields)) = (proof.take().or(needed), &mut part) {
                fields.insert("thoughtSignature".into(), json!(proof));
            }
            parts.push(part);
        }
        parts.extend(proof.map(alone));
        parts
    }

    fn user(&self, results: &[WireToolResult<'_>], said: &[WireContent<'_>]) -> Vec<Value> {
        let mut aside = Vec::new();
        let mut parts: Vec<Value> = results.iter().map(|reply| self.response(reply, &mut aside)).collect();
        parts.append(&mut aside);
        parts.extend(said.iter().map(|part| match part {
            WireContent::Text(text) => json!({"text": text}),
            WireContent::Image(image) => self.picture_or_note(image),
        }));
        parts
    }

    /// One result. Its pictures stay in it, or go to `aside`, after all results.
    fn response(&self, reply: &WireToolResult<'_>, aside: &mut Vec<Value>) -> Value {
        let mut texts = Vec::new();
        let mut inside = Vec::new();
        for part in reply.content() {
            match part {
                WireContent::Text(text) => texts.push(text.to_string()),
                WireContent::Image(image) => match image::base64(image, self.capabilities) {
                    Ok(data) if self.quirks.tool_images == ToolImagePlacement::Inside => {
                        inside.push(inline(image, &data));
                    }
                    Ok(data) => {
                        texts.push(format!("(the {} {} follows)", image.word(), image.name));
                        aside.push(json!({"text": format!("the {} {} of {}:", image.word(), image.name, reply.name)}));
                        aside.push(inline(image, &data));
                    }
                    Err(omitted) => texts.push(omitted.to_string()),
                },
            }
        }
        let words = match (&reply.result, texts.is_empty()) {
            (None, _) => NO_RESULT.to_string(),
            (Some(_), true) => NO_OUTPUT.to_string(),
            (Some(_), false) => texts.join("\n"),
        };
        let key = if reply.is_error() { "error" } else { "output" };
        let mut response = json!({"name": reply.name, "response": {key: words}});
        put_id(&mut response, &reply.id);
        if let (false, Value::Object(fields)) = (inside.is_empty(), &mut response) {
            fields.insert("parts".into(), Value::Array(inside));
        }
        json!({"functionResponse": response})
    }

    fn picture_or_note(&self, image: &Image) -> Value {
        match image::base64(image, self.capabilities) {
            Ok(data) => inline(image, &data),
            Err(omitted) => json!({"text": omitted.to_string()}),
        }
    }
}

/// A proof without its part, which may have been blank.
fn alone(proof: &str) -> Value {
    json!({"text": "", "thoughtSignature": proof})
}

fn inline(image: &Image, data: &str) -> Value {
    json!({"inlineData": {"mimeType": image.media_type, "data": data}})
}

/// The id, unless placet made it up because the server gave none: these are `call_` and a number.
fn put_id(holder: &mut Value, id: &str) {
    let made_up = id
        .strip_prefix("call_")
        .is_some_and(|rest| !rest.is_empty() && rest.chars().all(|c| c.is_ascii_digit() || c == '-'));
    if let (false, Value::Object(fields)) = (made_up, holder) {
        fields.insert("id".into(), json!(id));
    }
}
