//! Sub-agents: work done apart, by the same rules, and reported back.

use crate::support::mock_server::{Reply, Say};
use crate::support::talk::{ALL_WIRES, Talk, Wire, turn};
use crate::support::wait;
use placet::agent::{ApprovalReply as Answer, TurnEnding, TurnEvent};
use placet::permission::{Mode, ModeCell};
use serde_json::Value;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// How many results stand in a request after what was said last.
fn results(body: &Value) -> usize {
    let text = body.to_string();
    ["\"tool_result\"", "\"role\":\"tool\"", "\"function_call_output\"", "\"functionResponse\""]
        .iter()
        .map(|kind| text.matches(kind).count())
        .sum()
}

fn is_child(body: &Value) -> bool {
    body.to_string().contains("You are a sub-agent")
}

fn two_tasks(wire: Wire) -> Reply {
    wire.reply(&[
        Say::Call("a", "agent", r#"{"task":"TASK-ONE: look at a.txt","name":"one"}"#),
        Say::Call("b", "agent", r#"{"task":"TASK-TWO: look at b.txt"}"#),
    ])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_work_at_once_and_report_and_their_logs_and_costs_are_kept() {
    for wire in ALL_WIRES {
        let talk = Talk::native(wire);
        talk.write("a.txt", "alpha\n");
        talk.write("b.txt", "beta\n");
        talk.server.judged_by(move |body| {
            let text = body.to_string();
            Some(match (is_child(body), results(body)) {
                (false, 0) => two_tasks(wire),
                (false, _) => wire.reply(&[Say::Text("both are back")]),
                (true, 0) if text.contains("TASK-ONE") => {
                    wire.reply(&[Say::Call("r", "read_file", r#"{"path":"a.txt"}"#)])
                }
                (true, 0) => wire.reply(&[Say::Call("r", "read_file", r#"{"path":"b.txt"}"#)]),
                (true, _) if text.contains("alpha") => wire.reply(&[Say::Text("it says alpha")]),
                (true, _) => wire.reply(&[Say::Text("it says beta")]),
            })
        });
        let mut agent = talk.begin();
        let mut progress = String::new();
        let ending = turn(&mut agent, "send two", |event, _| {
            if let TurnEvent::CallOutput { text, .. } = event {
                progress.push_str(&text);
            }
        })
        .await;
        assert_eq!(ending, TurnEnding::Done);
        let last = Value::Array(talk.sent().pop().unwrap()).to_string();
        assert!(
            last.contains("[sub-agent one: 2 requests; its log is in the scratchpad `agent-one`]"),
            "{last}"
        );
        assert!(last.contains("it says alpha") && last.contains("it says beta"), "{last}");
        assert!(progress.contains("a.txt") && progress.contains("b.txt"), "{progress}");
        let pads: Vec<String> = agent.env().scratchpads.list().into_iter().map(|(name, _)| name).collect();
        assert_eq!(pads.len(), 2, "{pads:?}");
        assert_eq!(agent.costs().0.requests, 6, "the children's requests count");
        talk.is_lawful();
        let tools: Vec<bool> = talk
            .server
            .requests()
            .iter()
            .filter(|r| is_child(&r.body))
            .map(|r| {
                ["\"agent\"", "\"ask_person\""].iter().any(|tool| r.body["tools"].to_string().contains(tool))
            })
            .collect();
        assert!(
            !tools.is_empty() && tools.iter().all(|has| !has),
            "children have no children and ask nobody"
        );
    }
}

/// Both read the file before either changes it; the second change must not undo the first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_that_edit_one_file_lose_no_edit() {
    for round in 0..6 {
        let wire = Wire::Anthropic;
        let talk = Talk { mode: ModeCell::new(Mode::Write), ..Talk::native(wire) };
        // In half of the rounds they edit lines beside each other's, in the others the same line.
        let same = round % 2 == 0;
        talk.write("shared.txt", "one\ntwo\nthree\n");
        let read = AtomicUsize::new(0);
        talk.server.judged_by(move |body| {
            let text = body["messages"].to_string();
            if !is_child(body) {
                let done = results(body) > 0;
                return Some(if done { wire.reply(&[Say::Text("done")]) } else { two_tasks(wire) });
            }
            let first = text.contains("TASK-ONE");
            let edits = text.matches("\"name\":\"edit_file\"").count();
            let failed = text.rsplit("edit_file").next().is_some_and(|t| t.contains("error"));
            let reads = text.matches("\"name\":\"read_file\"").count();
            Some(if reads == 0 {
                wire.reply(&[Say::Call("r0", "read_file", r#"{"path":"shared.txt"}"#)])
            } else if edits == 0 {
                let who = if first { 1 } else { 2 };
                if read.fetch_or(who, Ordering::SeqCst) | who == 3 || text.contains("list_directory") {
                    return Some(edit(wire, first, same, "e0"));
                }
                // The other one has not read it yet.
                std::thread::sleep(Duration::from_millis(100));
                wire.reply(&[Say::Call("l", "list_directory", "{}")])
            } else if failed && reads < 2 {
                wire.reply(&[Say::Call("r1", "read_file", r#"{"path":"shared.txt"}"#)])
            } else if failed && edits < 2 {
                edit(wire, first, same, "e1")
            } else {
                wire.reply(&[Say::Text("edited")])
            })
        });
        let mut agent = talk.begin();
        assert_eq!(turn(&mut agent, "send two", |_, _| {}).await, TurnEnding::Done);
        let text = std::fs::read_to_string(talk.root.join("shared.txt")).unwrap();
        assert!(text.contains("ONE") && text.contains("TWO"), "round {round}: {text:?}");
        talk.is_lawful();
    }
}

/// Appends to a line: the same one for both, or each to its own.
fn edit(wire: Wire, first: bool, same: bool, id: &str) -> Reply {
    let (old, new) = match (first, same) {
        (true, true) => ("three", "three ONE"),
        (false, true) => ("three", "three TWO"),
        (true, false) => ("one", "one ONE"),
        (false, false) => ("two", "two TWO"),
    };
    let input = serde_json::json!({"path": "shared.txt", "old_string": old, "new_string": new}).to_string();
    wire.reply(&[Say::Call(id, "edit_file", &input)])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_may_only_read_has_no_tool_that_changes_anything() {
    let talk = Talk { mode: ModeCell::new(Mode::Unrestricted), ..Talk::native(Wire::Anthropic) };
    let wire = talk.wire;
    talk.server.judged_by(move |body| {
        Some(match (is_child(body), results(body)) {
            (false, 0) => wire.reply(&[Say::Call("a", "agent", r#"{"task":"look","read_only":true}"#)]),
            (true, 0) => wire.reply(&[Say::Call("w", "write_file", r#"{"path":"x","content":"y"}"#)]),
            _ => wire.reply(&[Say::Text("so it is")]),
        })
    });
    let mut agent = talk.begin();
    assert_eq!(turn(&mut agent, "send one", |_, _| {}).await, TurnEnding::Done);
    assert!(!talk.root.join("x").exists());
    let child = talk.server.requests().into_iter().find(|r| is_child(&r.body)).unwrap();
    let tools: Vec<String> =
        child.body["tools"].as_array().unwrap().iter().map(|t| t["name"].as_str().unwrap().into()).collect();
    assert_eq!(
        tools,
        ["read_file", "list_directory", "find_files", "search_contents", "scratchpad", "skill"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn questions_of_a_child_reach_the_person_with_its_name() {
    let talk = Talk { mode: ModeCell::new(Mode::Ask), ..Talk::native(Wire::Anthropic) };
    let wire = talk.wire;
    talk.server.judged_by(move |body| {
        Some(match (is_child(body), results(body)) {
            (false, 0) => two_tasks(wire),
            (true, 0) => wire.reply(&[Say::Call("c", "run_command", r#"{"command":"touch made"}"#)]),
            _ => wire.reply(&[Say::Text("well")]),
        })
    });
    let mut agent = talk.begin();
    let mut asked = Vec::new();
    let ending = turn(&mut agent, "send two", |event, _| {
        if let TurnEvent::Question(question) = event {
            asked.push(question.reason.clone());
            question.reply.send(Answer::No("not now".into())).unwrap();
        }
    })
    .await;
    assert_eq!(ending, TurnEnding::Done);
    asked.sort();
    assert_eq!(asked.len(), 2, "{asked:?}");
    assert!(asked[0].starts_with("sub-agent ") && asked[1].starts_with("sub-agent one: "), "{asked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_the_turn_stops_them_all() {
    let talk = Talk::native(Wire::Anthropic);
    let wire = talk.wire;
    talk.server
        .judged_by(move |body| Some(if is_child(body) { Reply::stream().stall() } else { two_tasks(wire) }));
    let mut agent = talk.begin();
    let mut running = 0;
    let (events, mut inbox) = tokio::sync::mpsc::unbounded_channel();
    let stop = tokio_util::sync::CancellationToken::new();
    let start = placet::agent::TurnStart::Say(vec![placet::conversation::Part::text("send two")]);
    let turn = agent.run(start, events, stop.clone());
    let watch = async {
        while let Some(event) = inbox.recv().await {
            running += usize::from(matches!(event, TurnEvent::CallRunning { .. }));
            if running == 2 {
                break;
            }
        }
        wait::until_then("three requests", || talk.server.requests().len() >= 3).await;
        let since = Instant::now();
        stop.cancel();
        while inbox.recv().await.is_some() {}
        since
    };
    let both = async { tokio::join!(turn, watch) };
    let (ending, since) = tokio::time::timeout(Duration::from_secs(20), both).await.unwrap();
    assert_eq!(ending, TurnEnding::Interrupted);
    assert!(since.elapsed() < crate::support::wait::DEADLINE, "{:?}", since.elapsed());
    let stored = serde_json::to_string(&talk.stored()).unwrap();
    assert!(stored.contains("interrupted"), "{stored}");
    talk.is_lawful();
}
