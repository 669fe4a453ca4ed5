//! A turn from the first word to the last, over both wires: order, saving, what the server is sent.

use crate::support::mock_server::{Reply, Say};
use crate::support::talk::{Talk, WIRES, Wire, start, turn, unmarked};
use placet::agent::{ApprovalReply as Answer, EmptyAnswer, TurnEnding, TurnEvent, TurnStart};
use placet::permission::Mode;
use placet::provider::ProviderError;

fn probe(name: &str) -> String {
    serde_json::json!({ "name": name }).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn results_come_in_the_order_of_the_calls() {
    for wire in WIRES {
        let talk = Talk::new(wire);
        let names: Vec<String> = (0..5).map(|n| format!("p{n}")).collect();
        let inputs: Vec<String> = names.iter().map(|n| probe(n)).collect();
        let said: Vec<Say> = names.iter().zip(&inputs).map(|(n, i)| Say::Call(n, "probe", i)).collect();
        talk.server.push(wire.reply(&said));
        talk.server.push(wire.reply(&[Say::Text("done")]));
        let mut agent = talk.begin();
        assert_eq!(turn(&mut agent, "go", |_, _| {}).await, TurnEnding::Done);
        let results = &talk.stored()[2]["results"];
        let ids: Vec<&str> = results.as_array().unwrap().iter().map(|r| r["id"].as_str().unwrap()).collect();
        assert_eq!(ids, names);
        assert_eq!(talk.ran().len(), 5);
        talk.is_lawful();
    }
}

/// What is acted on is in the store before: at every step another process could take over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_is_saved_before_it_is_acted_on() {
    let talk = Talk::new(Wire::Anthropic);
    talk.mode.store(Mode::Ask);
    let input = serde_json::json!({"name": "p", "reach": "run"}).to_string();
    talk.server.push(talk.wire.reply(&[Say::Text("I do it."), Say::Call("c", "probe", &input)]));
    talk.server.push(talk.wire.reply(&[Say::Text("done")]));
    let mut agent = talk.begin();
    let mut steps = Vec::new();
    let ending = turn(&mut agent, "go", |event, _| {
        let raw = || -> Vec<String> {
            let roles = talk.stored().into_iter().map(|m| m["role"].as_str().unwrap().to_string());
            roles.collect()
        };
        match event {
            TurnEvent::Requested => steps.push(("requested", raw())),
            TurnEvent::CallPlanned { .. } => steps.push(("planned", raw())),
            TurnEvent::CallRunning { .. } => steps.push(("running", raw())),
            TurnEvent::Question(question) => {
                steps.push(("asked", raw()));
                drop(question.reply.send(Answer::Yes));
            }
            _ => {}
        }
    })
    .await;
    assert_eq!(ending, TurnEnding::Done);
    // What is read back closes an open call, so an answer with one shows as an answer and its results.
    for (step, roles) in &steps {
        let wanted: &[&str] = if *step == "requested" { &["user"] } else { &["user", "assistant"] };
        assert!(
            roles.starts_with(&wanted.iter().map(|s| s.to_string()).collect::<Vec<_>>()),
            "{step}: {roles:?}"
        );
    }
    let requested: Vec<usize> =
        steps.iter().filter(|(s, _)| *s == "requested").map(|(_, r)| r.len()).collect();
    // A listener may hear of a step late, when more is saved already, but never too early.
    assert!(requested[0] >= 1 && requested[1] >= 3, "{steps:?}");
    assert_eq!(
        steps.iter().map(|(s, _)| *s).collect::<Vec<_>>(),
        ["requested", "planned", "asked", "running", "requested"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_share_their_beginning_byte_for_byte() {
    for wire in WIRES {
        let talk = Talk::native(wire);
        talk.write("a.txt", "one\n");
        talk.write("AGENTS.md", "Be brief.\n");
        let read = r#"{"path":"a.txt"}"#;
        let mut agent = talk.begin();
        for n in 0..3 {
            talk.server.push(wire.reply(&[Say::Call(&format!("c{n}"), "read_file", read)]));
            talk.server.push(wire.reply(&[Say::Text("one")]));
            if n == 1 {
                talk.mode.store(Mode::Write);
            }
            assert_eq!(turn(&mut agent, &format!("question {n}"), |_, _| {}).await, TurnEnding::Done);
        }
        drop(agent);
        // The same conversation read back from the store goes on with the same bytes.
        talk.server.push(wire.reply(&[Say::Text("one")]));
        assert_eq!(turn(&mut talk.resume(), "question 3", |_, _| {}).await, TurnEnding::Done);
        let bodies: Vec<_> = talk.server.requests().into_iter().map(|r| unmarked(r.body)).collect();
        for pair in bodies.windows(2) {
            let (before, after) = (&pair[0], &pair[1]);
            for key in ["system", "tools", "model", "max_tokens"] {
                assert_eq!(before[key].to_string(), after[key].to_string(), "{key}");
            }
            let (before, after) =
                (before["messages"].as_array().unwrap(), after["messages"].as_array().unwrap());
            for (b, a) in before.iter().zip(after) {
                assert_eq!(b.to_string(), a.to_string());
            }
            assert!(after.len() > before.len());
        }
        let told = |text: &str| bodies.last().unwrap()["messages"].to_string().matches(text).count();
        assert_eq!((told("the mode is read"), told("the mode is write")), (1, 1), "each mode is told once");
        assert_eq!(
            told("Be brief."),
            1,
            "instructions that did not change are not told again, not even after a resume"
        );
        talk.is_lawful();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mode_that_changes_while_calls_run_is_told_with_their_results() {
    let talk = Talk::new(Wire::Anthropic);
    talk.mode.store(Mode::Ask);
    let input = r#"{"name":"p","reach":"run"}"#;
    talk.server.push(talk.wire.reply(&[Say::Call("c", "probe", input)]));
    talk.server.push(talk.wire.reply(&[Say::Text("done")]));
    let mut agent = talk.begin();
    let mode = talk.mode.clone();
    turn(&mut agent, "go", |event, _| {
        if let TurnEvent::Question(question) = event {
            mode.store(Mode::Write);
            drop(question.reply.send(Answer::Yes));
        }
    })
    .await;
    let sent = talk.sent();
    assert!(sent[0][0].to_string().contains("the mode is ask"));
    assert!(sent[1][2].to_string().contains("the mode is write"), "{}", sent[1][2]);
    talk.is_lawful();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instructions_are_told_with_their_source_and_again_when_they_change() {
    let talk = Talk::new(Wire::Anthropic);
    let mut agent = talk.begin();
    let mut notices = Vec::new();
    for text in ["Be brief.", "Be brief.", "Be long."] {
        talk.write("AGENTS.md", text);
        talk.server.push(talk.wire.reply(&[Say::Text("yes")]));
        turn(&mut agent, "go", |event, _| {
            if let TurnEvent::Notice(text) = event {
                notices.push(text);
            }
        })
        .await;
    }
    assert_eq!(notices.len(), 2, "{notices:?}");
    assert!(notices[0].contains(talk.root.join("AGENTS.md").to_str().unwrap()), "{notices:?}");
    let last = talk.sent().pop().unwrap();
    let (first, third) = (last[0].to_string(), last[4].to_string());
    assert!(first.contains("Be brief.") && !last[2].to_string().contains("Be brief."));
    assert!(third.contains("Be long.") && third.contains("replaces the earlier text"), "{third}");
}

/// Story: agents send 38 kB and more with every request before anything is said.
#[test]
fn the_fixed_part_of_a_request_is_small() {
    use placet::provider::{ModelLimits, ModelRequest};
    let registry = placet::tools::ToolRegistry::native();
    let files = include_str!("../../prompts/files/native.md");
    let system = include_str!("../../prompts/system.md").replace("{files}", files);
    for wire in WIRES {
        let request = ModelRequest {
            model: ModelLimits { window: 200_000, max_output: 8_000, vision: true }.model("mock-1"),
            system: system.clone().into(),
            tools: registry.specs().into(),
            messages: vec![placet::conversation::Message::user("")],
            max_output: 8_000,
        };
        let bytes = wire.dialect().encode(&request).to_string().len();
        assert!(bytes <= 10_000, "{wire:?}: {bytes} bytes");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_server_in_the_middle_of_a_turn_never_runs_a_tool_twice() {
    for wire in WIRES {
        for trouble in [
            Reply::error(429, "rate_limit_error", "slow").header("retry-after", "0"),
            Reply::error(529, "overloaded_error", "busy"),
            Reply::error(503, "api_error", "x"),
            Reply::stream().reset(),
        ] {
            let talk = Talk::new(wire);
            let names = ["a", "b", "c"];
            let inputs = names.map(probe);
            for (name, input) in names.iter().zip(&inputs) {
                talk.server.push(wire.reply(&[Say::Call(name, "probe", input)]));
            }
            talk.server.push(trouble.clone());
            talk.server.push(trouble.clone());
            talk.server.push(wire.reply(&[Say::Text("done")]));
            let mut agent = talk.begin();
            let mut retries = 0;
            let ending = turn(&mut agent, "go", |event, _| {
                retries += u32::from(matches!(event, TurnEvent::Retrying { .. }));
            })
            .await;
            assert_eq!((ending, retries), (TurnEnding::Done, 2));
            assert_eq!(talk.ran(), names);
            talk.is_lawful();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_the_last_failure_nothing_is_lost_and_retry_goes_on() {
    for wire in WIRES {
        let talk = Talk::new(wire);
        talk.server.push(wire.reply(&[Say::Call("a", "probe", &probe("a"))]));
        for _ in 0..3 {
            talk.server.push(Reply::error(529, "overloaded_error", "BUSY-WORDS"));
        }
        let mut agent = talk.begin();
        let ending = turn(&mut agent, "go", |_, _| {}).await;
        assert!(matches!(ending, TurnEnding::Failed(ProviderError::Overloaded { .. })), "{ending:?}");
        assert_eq!(talk.stored().len(), 3);
        talk.server.push(wire.reply(&[Say::Text("done")]));
        assert_eq!(start(&mut agent, TurnStart::Retry, |_, _| {}).await, TurnEnding::Done);
        assert_eq!(talk.ran(), ["a"]);
        assert!(
            !format!("{:?}{:?}", talk.stored(), talk.sent()).contains("BUSY-WORDS"),
            "errors are not history"
        );
        talk.is_lawful();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_breaks_off_keeps_its_words_and_runs_no_half_call() {
    let all = crate::support::mock_server::anthropic_events(&[
        Say::Text("half"),
        Say::Call("c", "probe", &probe("p")),
    ]);
    for cut in 3..all.len() - 2 {
        let talk = Talk::new(Wire::Anthropic);
        // The rest is asked for twice, then it is for the person to say what is next.
        (0..3).for_each(|_| talk.server.push(Reply::sse(all[..cut].concat()).reset()));
        let mut agent = talk.begin();
        let ending = turn(&mut agent, "go", |_, _| {}).await;
        assert!(matches!(ending, TurnEnding::Failed(ProviderError::Broken { .. })), "{cut}: {ending:?}");
        assert_eq!(talk.ran(), Vec::<String>::new(), "{cut}");
        assert_eq!(talk.stored()[1]["stop"], "cut");
        assert_eq!(talk.server.requests().len(), 3, "{cut}");
        talk.server.push(talk.wire.reply(&[Say::Text("done")]));
        assert_eq!(turn(&mut agent, "go on", |_, _| {}).await, TurnEnding::Done);
        talk.is_lawful();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_rest_of_an_answer_that_broke_off_is_asked_for_and_no_tool_runs_twice() {
    for wire in crate::support::talk::ALL_WIRES {
        let talk = Talk::new(wire);
        talk.server.push(wire.reply(&[Say::Call("c1", "probe", &probe("a"))]));
        let words = wire.events(&[Say::Text("half of "), Say::Text("it")]);
        let begun = words.iter().position(|event| event.contains("half of ")).unwrap() + 1;
        talk.server.push(Reply::sse(words[..begun].concat()).reset());
        talk.server.push(wire.reply(&[Say::Text("the rest")]));
        let mut agent = talk.begin();
        let mut told = Vec::new();
        let ending = turn(&mut agent, "go", |event, _| {
            if let TurnEvent::Notice(text) = event {
                told.push(text);
            }
        })
        .await;
        assert_eq!(ending, TurnEnding::Done, "{wire:?}");
        assert_eq!(talk.ran(), ["a"], "{wire:?}");
        assert!(told.len() == 1 && told[0].ends_with("asking for the rest"), "{wire:?}: {told:?}");
        let stored = talk.stored();
        let texts: Vec<String> = stored.iter().rev().take(2).rev().map(|m| m.to_string()).collect();
        assert!(texts[0].contains("half of ") && texts[0].contains("\"cut\""), "{wire:?}: {texts:?}");
        assert!(texts[1].contains("the rest"), "{wire:?}: {texts:?}");
        talk.is_lawful();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn empty_and_blank_answers_leave_a_history_that_goes_on() {
    for wire in WIRES {
        for said in [vec![], vec![Say::Text("")], vec![Say::Text(" \n")]] {
            let talk = Talk::new(wire);
            // Asked for once more, and then no success.
            talk.server.push(wire.reply(&said));
            talk.server.push(wire.reply(&said));
            let mut agent = talk.begin();
            let silent = TurnEnding::NoAnswer(EmptyAnswer::Empty);
            assert_eq!(turn(&mut agent, "go", |_, _| {}).await, silent);
            talk.server.push(wire.reply(&[Say::Text("yes")]));
            assert_eq!(turn(&mut agent, "still there?", |_, _| {}).await, TurnEnding::Done);
            drop(agent);
            talk.server.push(wire.reply(&[Say::Text("yes")]));
            assert_eq!(turn(&mut talk.resume(), "and now?", |_, _| {}).await, TurnEnding::Done);
            talk.is_lawful();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_turn_makes_no_more_requests_than_it_may() {
    let talk = Talk { max_rounds: 3, ..Talk::new(Wire::Anthropic) };
    for n in 0..3 {
        talk.server.push(talk.wire.reply(&[Say::Call("c", "probe", &probe(&n.to_string()))]));
    }
    let mut agent = talk.begin();
    assert_eq!(turn(&mut agent, "go", |_, _| {}).await, TurnEnding::TooManyRounds(3));
    talk.server.push(talk.wire.reply(&[Say::Text("done")]));
    assert_eq!(turn(&mut agent, "go on", |_, _| {}).await, TurnEnding::Done);
    talk.is_lawful();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_crashes_is_a_failed_call_and_nothing_more() {
    let talk = Talk::new(Wire::Anthropic);
    let input = r#"{"name":"p","do":"panic"}"#;
    talk.server
        .push(talk.wire.reply(&[Say::Call("c", "probe", input), Say::Call("d", "probe", &probe("q"))]));
    talk.server.push(talk.wire.reply(&[Say::Text("done")]));
    let mut agent = talk.begin();
    assert_eq!(turn(&mut agent, "go", |_, _| {}).await, TurnEnding::Done);
    let results = &talk.stored()[2]["results"];
    assert_eq!((&results[0]["outcome"], &results[1]["outcome"]), (&"failed".into(), &"done".into()));
    talk.is_lawful();
}
