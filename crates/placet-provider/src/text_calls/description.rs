//! The other direction: a request for a server that has no tools. The tools are described in the system prompt, and earlier
//! calls and their results are text, in the form of Hermes and Qwen, which most open models have seen.

use crate::ModelRequest;
use placet_text::conversation::{AssistantBlock, CallInput, CallResult, Message, Part, ToolCall, ToolSpec};
use serde_json::json;
use std::borrow::Cow;

const HEAD: &str = "To call a tool, end your answer with\n<tool_call>{\"name\": \"TOOL\", \"arguments\": {...}}</tool_call>\nand write nothing behind it; the result is the next message. The tools:";

/// The request with its tools as text, if the server has none.
pub(crate) fn without_tools(request: &ModelRequest) -> Cow<'_, ModelRequest> {
    if request.model.capabilities.tools || request.tools.is_empty() {
        return Cow::Borrowed(request);
    }
    let list: Vec<String> = request.tools.iter().map(tool).collect();
    Cow::Owned(ModelRequest {
        system: format!("{}\n\n{HEAD}\n{}", request.system.trim_end(), list.join("\n")).into(),
        tools: [].into(),
        messages: request.messages.iter().map(message).collect(),
        ..request.clone()
    })
}

fn tool(spec: &ToolSpec) -> String {
    json!({"name": spec.name, "description": spec.description, "parameters": spec.schema}).to_string()
}

fn message(message: &Message) -> Message {
    let mut message = message.clone();
    match &mut message {
        Message::Assistant(answer) => {
            for block in &mut answer.blocks {
                if let AssistantBlock::Call(call) = block {
                    *block = AssistantBlock::Text { text: written(call) };
                }
            }
            message
        }
        Message::Results { results } => {
            Message::User { parts: std::mem::take(results).into_iter().flat_map(result).collect() }
        }
        Message::User { .. } => message,
    }
}

fn written(call: &ToolCall) -> String {
    let arguments = match &call.input {
        CallInput::Malformed { raw, .. } => raw.clone(),
        input => input.to_replay().to_string(),
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
        let capabilities = ModelCapabilities { tools: false, ..ModelCapabilities::default() };
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
        request.model.capabilities.tools = true;
        assert!(matches!(without_tools(&request), Cow::Borrowed(_)));
    }
}
