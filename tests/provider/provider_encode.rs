//! One long conversation with everything in it, encoded by each dialect and compared byte for byte.

use crate::support::history_rules;
use crate::support::talk::unmarked;
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, Image, Message, Part,
    StopReason, ThinkingBlock, ToolCall, ToolSpec,
};
use placet::provider::{
    AnthropicFormat, GeminiFormat, ModelCapabilities, ModelRequest, ModelSpec, OpenAiChatFormat,
    OpenAiResponsesFormat, OutputLimitField, ServerQuirks, SystemRole, WireFormat,
};
use serde_json::{Value, json};
use std::path::Path;

fn picture(name: &str, media_type: &str) -> Image {
    Image::new(media_type, 1, 1, name, vec![1, 2, 3, 4].into())
}

fn call(id: &str, name: &str, input: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: name.into(), input: CallInput::parse(input) }
}

fn tool(name: &str) -> ToolSpec {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    ToolSpec { name: name.into(), description: format!("What {name} does."), schema }
}

fn conversation() -> Vec<Message> {
    let read = call("toolu_1", "read_file", r#"{"path":"z.png","limit":3}"#);
    let broken = call("toolu_2", "write_file", r#"{"path": "a"#);
    let again = call("toolu_1", "run command", "{}");
    let thinking = |model: &str| ThinkingBlock {
        text: "Let me see.".into(),
        signature: Some(format!("proof-of-{model}")),
        ..ThinkingBlock::default()
    };
    let redacted = ThinkingBlock { redacted: Some("opaque".into()), ..ThinkingBlock::default() };
    let answer = |model: &str, stop, blocks| {
        Message::Assistant(AssistantMessage {
            blocks,
            stop,
            model: model.into(),
            ..AssistantMessage::default()
        })
    };
    let text = |text: &str| AssistantBlock::Text { text: text.into() };
    vec![
        Message::User {
            parts: vec![
                Part::text("look at this"),
                Part::text(""),
                Part::Image(picture("a.png", "image/png")),
                Part::Image(picture("b.tiff", "image/tiff")),
            ],
        },
        answer(
            "claude-a",
            StopReason::ToolUse,
            vec![
                AssistantBlock::Thinking(thinking("a")),
                AssistantBlock::Thinking(redacted),
                text("I read it."),
                text(""),
                AssistantBlock::Call(read.clone()),
                AssistantBlock::Call(broken.clone()),
            ],
        ),
        Message::Results {
            results: vec![
                CallResult::new(
                    &read,
                    CallOutcome::Done,
                    vec![Part::text("a picture"), Part::Image(picture("z.png", "image/png"))],
                ),
                CallResult::new(
                    &broken,
                    CallOutcome::Failed,
                    vec![Part::text("error: not JSON"), Part::Image(picture("e.png", "image/png"))],
                ),
            ],
        },
        Message::user("and now?"),
        answer(
            "claude-b",
            StopReason::ToolUse,
            vec![AssistantBlock::Thinking(thinking("b")), AssistantBlock::Call(again.clone())],
        ),
        Message::Results { results: vec![CallResult::text(&again, CallOutcome::Interrupted, "")] },
        answer(
            "claude-a",
            StopReason::Cut,
            vec![
                AssistantBlock::Thinking(ThinkingBlock { text: "half".into(), ..ThinkingBlock::default() }),
                text("Half an ans"),
                AssistantBlock::Call(call("toolu_9", "read_file", "{}")),
            ],
        ),
        Message::user("go on"),
        Message::user("\u{201c}please\u{201d}\n"),
    ]
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: ModelSpec {
            name: "claude-a".into(),
            window: 200_000,
            capabilities: ModelCapabilities::default(),
        },
        system: "You are placet.".into(),
        tools: vec![tool("read_file"), tool("write_file")].into(),
        messages,
        max_output: 4096,
    }
}

fn same_bytes(path: &str, value: &Value) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(path);
    // One message or tool a line, so that a difference can be read; between the lines every byte counts.
    let mut found = serde_json::to_string(value).unwrap() + "\n";
    for key in ["role", "type", "text", "functionCall", "functionResponse", "inlineData", "name"] {
        found = found.replace(&format!("}},{{\"{key}\""), &format!("}},\n{{\"{key}\""));
    }
    crate::support::fixture::same(&path, &found);
}

#[test]
fn the_request_has_exactly_these_bytes() {
    let openai = OpenAiChatFormat {
        quirks: ServerQuirks {
            output_limit: OutputLimitField::MaxCompletionTokens,
            system_role: SystemRole::Developer,
            ..ServerQuirks::default()
        },
    };
    let eager = AnthropicFormat { quirks: ServerQuirks { eager_calls: true, ..ServerQuirks::default() } };
    let tools = eager.encode(&request(conversation()))["tools"].clone();
    assert!(tools.as_array().unwrap().iter().all(|tool| tool["eager_input_streaming"] == true), "{tools}");
    same_bytes("anthropic/request.json", &AnthropicFormat::default().encode(&request(conversation())));
    same_bytes("openai_chat/request.json", &openai.encode(&request(conversation())));
    let bare = ModelRequest {
        system: "".into(),
        tools: Vec::new().into(),
        model: ModelSpec {
            name: "claude-a".into(),
            window: 0,
            capabilities: ModelCapabilities { vision: false, ..ModelCapabilities::default() },
        },
        ..request(conversation().into_iter().take(1).collect())
    };
    same_bytes("anthropic/request_bare.json", &AnthropicFormat::default().encode(&bare));
    same_bytes("openai_chat/request_bare.json", &OpenAiChatFormat::default().encode(&bare));
    same_bytes("openai_responses/request_bare.json", &OpenAiResponsesFormat::default().encode(&bare));
    same_bytes("gemini/request_bare.json", &GeminiFormat::default().encode(&bare));
    let mut thinking = request(conversation_of("openai-responses"));
    thinking.model.capabilities.thinking = true;
    let quirks =
        ServerQuirks { cache_key: true, reasoning_summary: Some("auto".into()), ..ServerQuirks::default() };
    same_bytes("openai_responses/request.json", &OpenAiResponsesFormat { quirks }.encode(&thinking));
    let mut thinking = request(conversation_of("gemini"));
    thinking.model.capabilities.thinking = true;
    thinking.model.capabilities.signed_calls = true;
    let quirks = ServerQuirks { unsigned_call: Some("stand-in".into()), ..ServerQuirks::default() };
    let gemini = GeminiFormat { quirks };
    same_bytes("gemini/request.json", &gemini.encode(&thinking));
    assert_eq!(gemini.path(&thinking), "/models/claude-a:streamGenerateContent?alt=sse");
    thinking.model.name = "models/x/y?z".into();
    assert_eq!(gemini.path(&thinking), "/models/x%2Fy%3Fz:streamGenerateContent?alt=sse");
}

/// The conversation, with proofs as `wire` gives them.
fn conversation_of(wire: &str) -> Vec<Message> {
    let mut messages = conversation();
    for message in &mut messages {
        let Message::Assistant(answer) = message else { continue };
        for block in &mut answer.blocks {
            let AssistantBlock::Thinking(thinking) = block else { continue };
            thinking.wire = wire.into();
            if wire == "openai-responses" {
                let item =
                    json!({"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "opaque"});
                thinking.redacted = thinking.redacted.is_some().then(|| item.to_string());
                thinking.signature = None;
            } else {
                let proof = |text: &str| json!({"text": "", "thoughtSignature": text}).to_string();
                thinking.redacted = thinking.redacted.as_deref().map(proof);
            }
        }
    }
    messages
}

/// Reasoning of another wire format would be refused, and with it every later request.
#[test]
fn proofs_of_another_wire_stay_behind() {
    let proofs = ["proof-of-a", "opaque"];
    let dialects: [(&str, &dyn WireFormat); 4] = [
        ("", &AnthropicFormat::default()),
        ("openai-responses", &OpenAiResponsesFormat::default()),
        ("gemini", &GeminiFormat::default()),
        ("openai-chat", &OpenAiChatFormat::default()),
    ];
    for (own, dialect) in dialects {
        for wire in ["", "openai-responses", "gemini", "openai-chat"] {
            let mut messages = conversation();
            for message in &mut messages {
                let Message::Assistant(answer) = message else { continue };
                for block in &mut answer.blocks {
                    if let AssistantBlock::Thinking(thinking) = block {
                        thinking.wire = wire.into();
                    }
                }
            }
            let sent = dialect.encode(&request(messages)).to_string();
            let carried = proofs.iter().filter(|proof| sent.contains(*proof)).count();
            assert_eq!(carried > 0, own == wire && matches!(own, "" | "gemini"), "{own} {wire}: {sent}");
        }
    }
}

/// Prompt caches hold only while the bytes before the newest message stay as they were.
#[test]
fn a_longer_conversation_keeps_the_bytes_of_the_shorter_one() {
    let dialects: [&dyn WireFormat; 4] = [
        &AnthropicFormat::default(),
        &OpenAiChatFormat::default(),
        &OpenAiResponsesFormat::default(),
        &GeminiFormat::default(),
    ];
    for dialect in dialects {
        let whole = bytes(dialect, conversation());
        for length in [1, 3, 6] {
            let shorter: Vec<Message> = conversation().into_iter().take(length).collect();
            let shorter = bytes(dialect, shorter);
            let open = shorter.strip_suffix("]}").unwrap();
            // Results and what is said after them are one message for some: its end is open as well.
            let kept = open.strip_suffix("]}").unwrap_or(open);
            assert!(whole.starts_with(kept), "{length} messages:\n{kept}\n{whole}");
        }
    }
}

/// Without the marks for the cache: those move, and are no part of what is cached.
fn bytes(dialect: &dyn WireFormat, messages: Vec<Message>) -> String {
    serde_json::to_string(&unmarked(dialect.encode(&request(messages)))).unwrap()
}

#[test]
fn the_cache_has_a_mark_where_this_request_ends_and_where_the_last_one_did() {
    let marked = |length| {
        let messages: Vec<Message> = conversation().into_iter().take(length).collect();
        let body = AnthropicFormat::default().encode(&request(messages));
        let marks = |at: &Value| at.to_string().matches("cache_control").count();
        assert_eq!((marks(&body["tools"]), marks(&body["system"])), (1, 1));
        assert_eq!(marks(&body["tools"][1]), 1, "the last of the tools");
        let messages = body["messages"].as_array().unwrap().clone();
        let marked = messages.iter().enumerate().filter(|(_, m)| marks(m) > 0).map(|(k, _)| k);
        let ends = messages.iter().map(|m| marks(m["content"].as_array().unwrap().last().unwrap()));
        assert_eq!(ends.sum::<usize>(), marks(&body["messages"]), "only at the end of a message");
        marked.collect::<Vec<_>>()
    };
    assert_eq!(marked(1), [0]);
    assert_eq!(marked(3), [0, 2]);
    assert_eq!(marked(6), [2, 4]);
    assert_eq!(marked(9), [4, 6]);
}

#[test]
fn a_request_without_vision_holds_no_base64() {
    let mut blind = request(conversation());
    blind.model.capabilities.vision = false;
    for dialect in [
        &AnthropicFormat::default() as &dyn WireFormat,
        &OpenAiChatFormat::default(),
        &OpenAiResponsesFormat::default(),
        &GeminiFormat::default(),
    ] {
        let bytes = serde_json::to_string(&dialect.encode(&blind)).unwrap();
        assert!(!bytes.contains("base64") && !bytes.contains("inlineData"), "{bytes}");
        assert!(bytes.contains("this model does not accept pictures"));
    }
}

#[test]
fn every_beginning_of_the_conversation_keeps_the_rules_of_strict_servers() {
    for length in [1, 3, 4, 6, 8, 9] {
        let messages: Vec<Message> = conversation().into_iter().take(length).collect();
        let dialects: [&dyn WireFormat; 4] = [
            &AnthropicFormat::default(),
            &OpenAiChatFormat::default(),
            &OpenAiResponsesFormat::default(),
            &GeminiFormat::default(),
        ];
        for dialect in dialects {
            let request = request(messages.clone());
            let broken = history_rules::broken(&dialect.path(&request), &dialect.encode(&request));
            assert_eq!(broken, Vec::<String>::new(), "{length} messages");
        }
    }
}

/// The rules themselves: a request spoilt in one place breaks one.
#[test]
fn the_mock_server_notices_what_real_servers_refuse() {
    let request = request(conversation());
    let spoilt = |dialect: &dyn WireFormat, pointer: &str, value: Value| {
        let mut body = dialect.encode(&request);
        *body.pointer_mut(pointer).unwrap_or_else(|| panic!("{pointer}")) = value;
        history_rules::broken(&dialect.path(&request), &body).len()
    };
    for (pointer, value) in [
        ("/messages/0/content/0/text", json!(" ")),
        ("/messages/1/role", json!("user")),
        ("/messages/1/content/0/signature", json!("")),
        ("/messages/1/content/3/id", json!("toolu_2")),
        ("/messages/1/content/4/input", json!("{}")),
        ("/messages/2/content/0/tool_use_id", json!("other")),
        ("/messages/2/content/1", json!({"type": "text", "text": "in between"})),
        ("/messages/4/content", json!([])),
        ("/tools/1/name", json!("read_file")),
    ] {
        assert!(spoilt(&AnthropicFormat::default(), pointer, value) > 0, "{pointer}");
    }
    for (pointer, value) in [
        ("/messages/2/tool_calls/0/function/arguments", json!("{")),
        ("/messages/3/tool_call_id", json!("other")),
        ("/messages/3/content", json!("")),
        ("/messages/5/role", json!("assistant")),
        ("/tools/0/function/parameters", json!({"type": "array"})),
    ] {
        assert!(spoilt(&OpenAiChatFormat::default(), pointer, value) > 0, "{pointer}");
    }
    for (pointer, value) in [
        ("/store", json!(true)),
        ("/input/0/content", json!([])),
        ("/input/2/call_id", json!("toolu_2")),
        ("/input/3/arguments", json!("[]")),
        ("/input/4/call_id", json!("other")),
        ("/input/5/output", json!("")),
        ("/input/6/type", json!("reasoning")),
    ] {
        assert!(spoilt(&OpenAiResponsesFormat::default(), pointer, value) > 0, "{pointer}");
    }
    for (pointer, value) in [
        ("/contents/0/role", json!("model")),
        ("/contents/1/parts", json!([])),
        ("/contents/1/parts/1/functionCall/args", json!("{}")),
        ("/contents/2/parts/0/functionResponse/id", json!("other")),
        ("/contents/2/parts/1", json!({"text": "in between"})),
        ("/contents/0/parts/0/text", json!("")),
        ("/tools/0/functionDeclarations/1/name", json!("read_file")),
    ] {
        assert!(spoilt(&GeminiFormat::default(), pointer, value) > 0, "{pointer}");
    }
}
