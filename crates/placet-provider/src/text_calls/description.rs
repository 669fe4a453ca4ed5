//! The other direction: a request for a server that has no tools. The tools are described in the system prompt, and earlier
//! calls and their results are text: as [blocks](super::block), or as the JSON objects that an [answer
//! schema](super::answer_schema) asks for. What no block can say is in the form of Hermes and Qwen, which most open models
//! have seen.

use super::answer_schema::{self, ARGUMENTS, SAY, TOOL};
use super::block;
use super::format::BLOCK_OPEN;
use crate::{ModelRequest, ToolForm};
use placet_text::conversation::{AssistantBlock, CallInput, CallResult, Message, Part, ToolCall, ToolSpec};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

const TEXT_HEAD: &str = "To call a tool, end your answer with its block as it stands here and write nothing behind it; the result is the next message. Words in capitals stand for yours, and what is in brackets may be left out. Use four backticks if a line of yours begins with three. The tools:";

const OTHER_TOOLS: &str =
    "These are called with\n<tool_call>{\"name\": \"TOOL\", \"arguments\": {...}}</tool_call>";

const JSON_HEAD: &str = "Answer with one JSON object and nothing else: {\"say\":\"TEXT\"} to speak to the person, which ends your work, or {\"tool\":\"NAME\",\"arguments\":{...}} to call a tool, whose result is the next message. The tools and their arguments:";

impl ModelRequest {
    /// The request in the form in which the model is offered tools: what the server counts. The tools that are still in it
    /// are part of the prompt with [`ToolForm::Native`] only.
    pub fn as_sent(&self) -> Cow<'_, ModelRequest> {
        without_tools(self)
    }

    /// The tools as the wire format has them.
    pub(crate) fn native_tools(&self) -> &[ToolSpec] {
        if self.model.capabilities.tools == ToolForm::Native { &self.tools } else { &[] }
    }

    /// The schema of the answer, where it is asked for as one JSON object.
    pub(crate) fn answer_schema(&self) -> Option<Value> {
        let is_json = self.model.capabilities.tools == ToolForm::Json && !self.tools.is_empty();
        is_json.then(|| answer_schema::of(&self.tools))
    }
}

/// The request with its tools as text, if the server has none. With [`ToolForm::Json`] the tools stay in it, for the schema.
fn without_tools(request: &ModelRequest) -> Cow<'_, ModelRequest> {
    let form = request.model.capabilities.tools;
    if form == ToolForm::Native || request.tools.is_empty() {
        return Cow::Borrowed(request);
    }
    let is_json = form == ToolForm::Json;
    let described = if is_json {
        let rows: Vec<String> = request.tools.iter().map(signature).collect();
        format!("{JSON_HEAD}\n{}", rows.join("\n"))
    } else {
        blocks(&request.tools)
    };
    Cow::Owned(ModelRequest {
        system: format!("{}\n\n{described}", request.system.trim_end()).into(),
        tools: if is_json { Arc::clone(&request.tools) } else { [].into() },
        messages: request.messages.iter().map(|message| rewritten(message, request)).collect(),
        ..request.clone()
    })
}

/// Each tool with its block, and then those that have none.
fn blocks(tools: &[ToolSpec]) -> String {
    let (with, without): (Vec<_>, Vec<_>) =
        tools.iter().map(|spec| (spec, block::usage(spec))).partition(|(_, block)| block.is_some());
    let row = |(spec, block): &(&ToolSpec, Option<String>)| {
        format!("{}: {}\n{}", spec.name, spec.description, block.as_deref().unwrap_or_default())
    };
    let mut rows: Vec<String> = std::iter::once(TEXT_HEAD.into()).chain(with.iter().map(row)).collect();
    if !without.is_empty() {
        rows.push(OTHER_TOOLS.into());
        rows.extend(without.iter().map(|(spec, _)| tool(spec)));
    }
    rows.join("\n")
}

fn tool(spec: &ToolSpec) -> String {
    json!({"name": spec.name, "description": spec.description, "parameters": spec.schema}).to_string()
}

/// `edit_file {"path": string, "replace_all"?: boolean}: Replaces.` The schema says the rest.
fn signature(spec: &ToolSpec) -> String {
    let required = spec.schema.get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|names| names.iter().any(|known| known == name));
    let field = |(name, schema): (&String, &Value)| {
        let mark = if is_required(name) { "" } else { "?" };
        let kind = schema.get("type").and_then(Value::as_str).unwrap_or("any");
        format!("\"{name}\"{mark}: {kind}")
    };
    let fields = spec.schema.get("properties").and_then(Value::as_object);
    let fields: Vec<String> = fields.into_iter().flatten().map(field).collect();
    format!("{} {{{}}}: {}", spec.name, fields.join(", "), spec.description)
}

fn rewritten(message: &Message, request: &ModelRequest) -> Message {
    let form = request.model.capabilities.tools;
    let mut message = message.clone();
    match &mut message {
        Message::Assistant(answer) => {
            for block in &mut answer.blocks {
                let text = match (&*block, form) {
                    (AssistantBlock::Call(call), ToolForm::Json) => object(call),
                    (AssistantBlock::Call(call), _) => written(call, &request.tools),
                    (AssistantBlock::Text { text }, ToolForm::Json) => json!({ SAY: text }).to_string(),
                    _ => continue,
                };
                *block = AssistantBlock::Text { text };
            }
            message
        }
        Message::Results { results } => {
            Message::User { parts: std::mem::take(results).into_iter().flat_map(result).collect() }
        }
        Message::User { .. } => message,
    }
}

fn object(call: &ToolCall) -> String {
    json!({TOOL: call.name, ARGUMENTS: call.input.to_replay()}).to_string()
}

/// Behind the words of the answer.
pub(super) fn written(call: &ToolCall, tools: &[ToolSpec]) -> String {
    let arguments = match &call.input {
        CallInput::Malformed { raw, .. } if BLOCK_OPEN.iter().any(|open| raw.starts_with(open)) => {
            return format!("\n{raw}");
        }
        CallInput::Malformed { raw, .. } => raw.clone(),
        input => {
            let value = input.to_replay();
            let spec = tools.iter().find(|spec| spec.name == call.name);
            if let Some(block) = spec.and_then(|spec| block::of_call(spec, &value)) {
                return format!("\n{block}");
            }
            value.to_string()
        }
    };
    format!("\n<tool_call>{{\"name\": {}, \"arguments\": {arguments}}}</tool_call>", json!(call.name))
}

fn result(result: CallResult) -> Vec<Part> {
    let mut parts = vec![Part::text(format!("<tool_response name={}>", json!(result.name)))];
    parts.extend(result.parts);
    parts.push(Part::text("</tool_response>"));
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelCapabilities, ModelSpec};
    use placet_text::conversation::{AssistantMessage, CallId, CallOutcome};

    #[test]
    fn a_server_without_tools_gets_them_as_text_and_the_same_beginning_each_time() {
        let call =
            ToolCall { id: CallId::new("c"), name: "look".into(), input: CallInput::parse("{\"at\":\"a\"}") };
        let say = AssistantBlock::Text { text: "I look.".into() };
        let blocks = vec![say, AssistantBlock::Call(call.clone())];
        let results = vec![CallResult::text(&call, CallOutcome::Done, "one")];
        let spec =
            ToolSpec { name: "look".into(), description: "Looks.".into(), schema: json!({"type": "object"}) };
        let capabilities = ModelCapabilities { tools: ToolForm::Text, ..ModelCapabilities::default() };
        let mut request = ModelRequest {
            model: ModelSpec { name: "m".into(), window: 4096, capabilities },
            system: "Be brief.".into(),
            tools: [spec].into(),
            messages: vec![
                Message::user("go"),
                Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() }),
                Message::Results { results },
            ],
            max_output: 10,
        };
        let sent = without_tools(&request).into_owned();
        assert!(sent.tools.is_empty());
        let tool = r#"{"name":"look","description":"Looks.","parameters":{"type":"object"}}"#;
        assert!(
            sent.system.starts_with("Be brief.\n\nTo call a tool") && sent.system.ends_with(tool),
            "{}",
            sent.system
        );
        let Some(Message::Assistant(answer)) = sent.messages.get(1) else { panic!() };
        assert_eq!(
            answer.text(),
            "I look.\n<tool_call>{\"name\": \"look\", \"arguments\": {\"at\":\"a\"}}</tool_call>"
        );
        let parts = ["<tool_response name=\"look\">", "one", "</tool_response>"].map(Part::text).to_vec();
        assert_eq!(sent.messages.get(2), Some(&Message::User { parts }));
        request.model.capabilities.tools = ToolForm::Json;
        let sent = without_tools(&request).into_owned();
        assert!(sent.system.ends_with("\nlook {}: Looks.") && sent.tools.len() == 1, "{}", sent.system);
        let Some(Message::Assistant(answer)) = sent.messages.get(1) else { panic!() };
        assert_eq!(answer.text(), "{\"say\":\"I look.\"}{\"tool\":\"look\",\"arguments\":{\"at\":\"a\"}}");
        request.model.capabilities.tools = ToolForm::Native;
        assert!(matches!(without_tools(&request), Cow::Borrowed(_)));
    }
}
