//! Every request that can be made is held to a schema of its wire format, written from the vendor's public reference, and
//! to the rules of strict servers. The conversations are made at random: broken answers, calls nobody answered, blank
//! texts, strange ids and names, pictures of every kind, proofs of other wire formats.

use crate::support::{history_rules, schema};
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, Image, Message, Part,
    StopReason, ThinkingBlock, ToolCall, ToolSpec,
};
use placet::provider::{
    ModelCapabilities, ModelRequest, ModelSpec, ProviderPreset, ServerQuirks, ToolImagePlacement,
    WireFormatKind,
};
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::io::Write;
use std::path::Path;

const WIRES: [&str; 4] = ["", "openai-responses", "gemini", "openai-chat"];

fn schema_of(wire: WireFormatKind) -> Value {
    let name = wire.name().replace('-', "_");
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/wire").join(format!("{name}.schema.json"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just(" \n".into()), Just("plain".into()), ".{0,12}", "[a-z]{1,5}"]
}

fn part() -> impl Strategy<Value = Part> {
    let image = (0..4_usize, 0..3_usize).prop_map(|(kind, bytes)| {
        let kind = ["image/png", "image/jpeg", "image/tiff", "image/webp"][kind];
        Part::Image(Image::new(kind, 9000 * u32::from(bytes == 2) + 1, 1, "p", vec![7; bytes].into()))
    });
    let pdf = (0..3_usize).prop_map(|bytes| Part::Image(Image::pdf("p.pdf", vec![37; bytes].into())));
    prop_oneof![6 => text().prop_map(Part::text), 2 => image, 1 => pdf]
}

fn thinking() -> impl Strategy<Value = ThinkingBlock> {
    (text(), 0..5_usize, 0..4_usize).prop_map(|(text, kind, wire)| {
        let item =
            json!({"id": "rs", "type": "reasoning", "summary": [], "encrypted_content": "e"}).to_string();
        let alone = json!({"text": "", "thoughtSignature": "c2ln"}).to_string();
        let blocks = json!([{"type": "reasoning.text", "text": "x"}]).to_string();
        let wire = WIRES[wire].to_string();
        // Each wire format only ever keeps what it can read again.
        let redacted = match wire.as_str() {
            "openai-responses" => item,
            "gemini" => alone,
            "openai-chat" => blocks,
            _ => "opaque".into(),
        };
        match (kind, wire.as_str()) {
            (0, _) => ThinkingBlock { text, ..ThinkingBlock::default() },
            (1, "" | "gemini") => {
                ThinkingBlock { text, signature: Some("c2ln".into()), wire, redacted: None }
            }
            _ => ThinkingBlock { text, signature: None, redacted: Some(redacted), wire },
        }
    })
}

fn call() -> impl Strategy<Value = ToolCall> {
    let id = prop_oneof![Just(String::new()), Just("call_0".into()), "[a-z0-9]{1,9}", ".{0,70}"];
    let name = prop_oneof![Just("read_file".to_string()), Just(String::new()), ".{0,70}"];
    let input =
        prop_oneof![Just("{}"), Just("{\"a\":[1,{\"b\":null}]}"), Just("{\"a\""), Just("[]"), Just("")];
    (id, name, input).prop_map(|(id, name, input)| ToolCall {
        id: CallId::new(id),
        name,
        input: CallInput::parse(input),
    })
}

fn messages() -> impl Strategy<Value = Vec<Message>> {
    let block = prop_oneof![
        text().prop_map(|text| AssistantBlock::Text { text }),
        thinking().prop_map(AssistantBlock::Thinking),
        call().prop_map(AssistantBlock::Call),
    ];
    let round =
        (vec(part(), 1..4), vec(block, 0..5), 0..4_usize, vec(part(), 0..3), any::<bool>(), any::<bool>());
    vec(round, 1..5).prop_map(|rounds| {
        let mut out = Vec::new();
        for (said, blocks, stop, found, answered, speaks) in rounds {
            if speaks || out.is_empty() {
                out.push(Message::User { parts: said });
            }
            let stop = [StopReason::EndTurn, StopReason::ToolUse, StopReason::Cut, StopReason::MaxTokens]
                [stop]
                .clone();
            let model = if speaks { "m" } else { "other" };
            let answer =
                AssistantMessage { blocks, stop, model: model.into(), ..AssistantMessage::default() };
            let outcome = if answered { CallOutcome::Done } else { CallOutcome::Failed };
            let results: Vec<CallResult> =
                answer.calls().map(|call| CallResult::new(call, outcome, found.clone())).collect();
            out.push(Message::Assistant(answer));
            if answered && !results.is_empty() {
                out.push(Message::Results { results });
            }
        }
        out
    })
}

fn request() -> impl Strategy<Value = ModelRequest> {
    (messages(), 0..3_usize, text(), any::<[bool; 4]>(), 1..100_000_u64).prop_map(
        |(messages, tools, system, [vision, thinking, signed_calls, pdf], max_output)| {
            let tool = |k: usize| ToolSpec {
                name: format!("tool_{k}"),
                description: "What it does.".into(),
                schema: json!({"type": "object", "properties": {"a": {"type": "string"}}}),
            };
            let capabilities =
                ModelCapabilities { vision, thinking, signed_calls, pdf, ..ModelCapabilities::default() };
            ModelRequest {
                model: ModelSpec { name: "m".into(), window: 200_000, capabilities },
                system: system.into(),
                tools: (0..tools).map(tool).collect(),
                messages,
                max_output,
            }
        },
    )
}

/// The quirks of every preset, and some that none has.
fn quirks() -> Vec<(WireFormatKind, ServerQuirks)> {
    let mut all: Vec<(WireFormatKind, ServerQuirks)> =
        ProviderPreset::all().iter().map(|p| (p.wire, p.quirks.clone())).collect();
    for wire in WireFormatKind::ALL {
        all.push((wire, ServerQuirks::default()));
        all.push((
            wire,
            ServerQuirks {
                tool_images: ToolImagePlacement::Inside,
                cache_key: true,
                ..ServerQuirks::default()
            },
        ));
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_request_fits_the_schema_and_the_rules_of_its_wire(request in request()) {
        for (wire, quirks) in quirks() {
            let dialect = wire.dialect(&quirks);
            let body = dialect.encode(&request);
            let misfits = schema::misfits(&schemas()[wire as usize], &body);
            prop_assert!(misfits.is_empty(), "{wire:?} {quirks:?}\n{body:#}\n{misfits:#?}");
            record(wire, &quirks, &body);
            let broken = history_rules::broken(&dialect.path(&request), &body);
            prop_assert!(broken.is_empty(), "{wire:?} {quirks:?}\n{body:#}\n{broken:#?}");
        }
    }
}

/// `PLACET_BODIES=DIRECTORY` writes every body down, for `.ci/conformance` to hold it to the vendors' own types.
fn record(wire: WireFormatKind, quirks: &ServerQuirks, body: &Value) {
    let Some(directory) = std::env::var_os("PLACET_BODIES") else { return };
    // Pictures inside of results are for compatible servers: OpenAI has no place for them there.
    if wire == WireFormatKind::OpenaiChat && quirks.tool_images == ToolImagePlacement::Inside {
        return;
    }
    let path = Path::new(&directory).join(format!("{}.jsonl", wire.name()));
    let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
    writeln!(file, "{body}").unwrap();
}

fn schemas() -> &'static [Value; 4] {
    static SCHEMAS: std::sync::OnceLock<[Value; 4]> = std::sync::OnceLock::new();
    SCHEMAS.get_or_init(|| WireFormatKind::ALL.map(schema_of))
}

/// The schemas themselves: a request spoilt in one place does not fit.
#[test]
fn a_spoilt_request_does_not_fit_its_schema() {
    let request = ModelRequest {
        model: ModelSpec { name: "m".into(), window: 1000, capabilities: ModelCapabilities::default() },
        system: "s".into(),
        tools: Vec::new().into(),
        messages: vec![Message::user("hi")],
        max_output: 10,
    };
    for wire in WireFormatKind::ALL {
        let body = wire.dialect(&ServerQuirks::default()).encode(&request);
        let schema = schema_of(wire);
        assert_eq!(schema::misfits(&schema, &body), Vec::<String>::new());
        let mut unknown = body.clone();
        unknown["temprature"] = json!(1);
        assert!(!schema::misfits(&schema, &unknown).is_empty(), "{wire:?}");
        for pointer in ["/messages/0", "/input/0", "/contents/0"] {
            let mut spoilt = body.clone();
            if let Some(first) = spoilt.pointer_mut(pointer) {
                first["role"] = json!("nobody");
                assert!(!schema::misfits(&schema, &spoilt).is_empty(), "{wire:?}");
            }
        }
    }
}
