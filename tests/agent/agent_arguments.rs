//! Arguments that are not what they should be: never run, never guessed, answered with an error that teaches, and kept
//! in a history that all wires accept.

use crate::support::is_full;
use crate::support::mock_server::Say;
use crate::support::talk::{ALL_WIRES, Talk, Wire, turn};
use placet::agent::{Agent, TurnEnding};
use placet::provider::{ModelLimits, ModelRequest};

/// After whatever happened, the conversation goes on here, read back, and with the other vendors.
async fn goes_on(talk: &mut Talk, mut agent: Agent, what: &str) {
    talk.server.push(talk.wire.reply(&[Say::Text("yes")]));
    assert_eq!(turn(&mut agent, "and on", |_, _| {}).await, TurnEnding::Done, "{what}");
    drop(agent);
    for wire in ALL_WIRES {
        talk.wire = wire;
        talk.server.push(wire.reply(&[Say::Text("yes")]));
        assert_eq!(turn(&mut talk.resume(), "and on", |_, _| {}).await, TurnEnding::Done, "{what} {wire:?}");
    }
    assert_eq!(talk.server.violations(), Vec::<String>::new(), "{what}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn arguments_that_are_no_object_are_refused_with_words_and_never_run() {
    for wire in ALL_WIRES {
        for (input, words) in [
            (r#"{"name":"p""#, "not valid JSON"),
            (r#"{"name":"p\ud800"}"#, "not valid JSON"),
            (r#"["p"]"#, "are an array, not a JSON object"),
            (r#""p""#, "are a string"),
            ("3", "are a number"),
            ("null", "are null"),
            (r#"{"name":"p"} and more"#, "not valid JSON"),
            (r#"{"name":"p","name":"q"}"#, "`name` is given twice"),
            (r#"{"name":"p","do":{"a":1,"a":2}}"#, "`a` is given twice"),
            ("", "`name` is missing"),
            ("{}", "`name` is missing"),
        ] {
            let what = format!("{wire:?} {input}");
            // Gemini sends arguments as JSON within JSON: what is none, or has a name twice, cannot be said in it;
            // null is its word for none.
            let sayable =
                serde_json::from_str::<serde_json::Value>(input).is_ok() && !words.contains("twice");
            if wire == Wire::Gemini && (!sayable || input == "null") {
                continue;
            }
            let mut talk = Talk::new(wire);
            talk.server.push(wire.reply(&[Say::Text("now"), Say::Call("c", "probe", input)]));
            talk.server.push(wire.reply(&[Say::Text("sorry")]));
            let mut agent = talk.begin();
            assert_eq!(turn(&mut agent, "go", |_, _| {}).await, TurnEnding::Done, "{what}");
            assert_eq!(talk.ran(), Vec::<String>::new(), "{what}");
            let result = talk.stored()[2]["results"][0].clone();
            assert_eq!(result["outcome"], "failed", "{what}");
            assert!(result.to_string().contains(words), "{what}: {result}");
            goes_on(&mut talk, agent, &what).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_tools_and_equal_ids_are_answered_each_for_itself() {
    for wire in ALL_WIRES {
        let mut talk = Talk::new(wire);
        let input = |name: &str| format!(r#"{{"name":"{name}"}}"#);
        let (a, b) = (input("a"), input("b"));
        talk.server.push(wire.reply(&[
            Say::Call("same", "probe", &a),
            Say::Call("same", "probe", &b),
            Say::Call("c", "prob", &a),
            Say::Call("d", "rm -rf /; \u{1b}[2J", &a),
        ]));
        talk.server.push(wire.reply(&[Say::Text("sorry")]));
        let mut agent = talk.begin();
        assert_eq!(turn(&mut agent, "go", |_, _| {}).await, TurnEnding::Done);
        let mut ran = talk.ran();
        ran.sort();
        assert_eq!(ran, ["a", "b"]);
        let results = talk.stored()[2]["results"].clone();
        assert_eq!(results.as_array().unwrap().len(), 4);
        assert!(results[2].to_string().contains("did you mean `probe`?"), "{results}");
        // The same ids again in the next answer: unique within an answer is all that can be asked.
        talk.server.push(wire.reply(&[Say::Call("same", "probe", &a)]));
        talk.server.push(wire.reply(&[Say::Text("done")]));
        assert_eq!(turn(&mut agent, "again", |_, _| {}).await, TurnEnding::Done);
        goes_on(&mut talk, agent, "ids").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn megabytes_of_arguments_neither_run_nor_wedge_the_conversation() {
    // Ten under PLACET_FULL; two go the same way in a fifth of the time.
    let megabytes = if is_full() { 10 } else { 2 };
    let huge = "x".repeat(megabytes << 20);
    for (input, ran) in [
        (format!(r#"{{"name":"p","junk":"{huge}"#), 0),
        (format!(r#"{{"name":"p","junk":"{huge}"}}"#), 1),
        (format!(r#"{{"path":"{huge}"}}"#), 0),
    ] {
        let mut talk = match ran {
            1 => Talk::new(Wire::Anthropic),
            _ => Talk::native(Wire::Anthropic),
        };
        let tool = if ran == 1 { "probe" } else { "read_file" };
        talk.server.push(talk.wire.reply(&[Say::Call("c", tool, &input)]));
        talk.server.push(talk.wire.reply(&[Say::Text("sorry")]));
        let mut agent = talk.begin();
        assert_eq!(turn(&mut agent, "go", |_, _| {}).await, TurnEnding::Done);
        let sizes: Vec<usize> = talk.server.requests().iter().map(|r| r.body.to_string().len()).collect();
        assert!(sizes[1] < 1_000_000, "what is sent back fits the window: {sizes:?}");
        goes_on(&mut talk, agent, "megabytes").await;
    }
}

/// Story: a model wrote text that looked like a call, and it was run. Here text follows it, so that the model is asked once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_that_has_a_call_in_it_is_not_run() {
    for wire in ALL_WIRES {
        let talk = Talk::new(wire);
        let text = r#"<tool_call>{"name":"probe","arguments":{"name":"p"}}</tool_call> {"tool_use":{"name":"probe"}}"#;
        talk.server.push(wire.reply(&[Say::Text(text)]));
        talk.server.push(wire.reply(&[Say::Text("sorry")]));
        assert_eq!(turn(&mut talk.begin(), "go", |_, _| {}).await, TurnEnding::Done);
        assert_eq!(talk.ran(), Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_nul_in_an_argument_is_an_error_and_is_stored() {
    let mut talk = Talk::native(Wire::Anthropic);
    talk.server.push(talk.wire.reply(&[Say::Call("c", "read_file", r#"{"path":"a\u0000b"}"#)]));
    talk.server.push(talk.wire.reply(&[Say::Text("sorry")]));
    let mut agent = talk.begin();
    assert_eq!(turn(&mut agent, "go", |_, _| {}).await, TurnEnding::Done);
    assert_eq!(talk.stored()[2]["results"][0]["outcome"], "failed");
    goes_on(&mut talk, agent, "NUL").await;
}

/// What is stored encodes for every wire under the strictest rules, whatever the bytes of the arguments were.
#[test]
fn any_arguments_at_all_replay_to_every_wire() {
    use placet::conversation::{
        AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, Message, ToolCall,
    };
    use proptest::prelude::*;
    proptest!(ProptestConfig::with_cases(200), |(raw in "(\\{\"a\":)?[\\[\\]{}\",:0-9a-z\\\\\u{0}-\u{1f}]{0,40}", id in ".{0,80}", name in ".{0,80}")| {
        let call = ToolCall { id: CallId::new(id), name, input: CallInput::parse(&raw) };
        let result = CallResult::text(&call, CallOutcome::Failed, "no");
        let answer = AssistantMessage { blocks: vec![AssistantBlock::Call(call)], ..AssistantMessage::default() };
        let messages =
            vec![Message::user("go"), Message::Assistant(answer), Message::Results { results: vec![result] }];
        for (wire, path) in ALL_WIRES.into_iter().zip(["/v1/messages", "/chat/completions", "/responses", "/m:streamGenerateContent"]) {
            let request = ModelRequest {
                model: ModelLimits { window: 200_000, max_output: 8_000, vision: true }.model("m"),
                system: "s".into(),
                tools: Vec::new().into(),
                messages: messages.clone(),
                max_output: 100,
            };
            let broken = crate::support::history_rules::broken(path, &wire.dialect().encode(&request));
            prop_assert_eq!(broken, Vec::<String>::new());
        }
    });
}
