//! `kill -9` at any moment: at most the last quarter second of a streaming answer is lost, no call and no result, and
//! the session goes on from there.

use crate::support::binary::{Place, Running};
use crate::support::mock_server::{MockServer, Reply, Say, anthropic_events};
use crate::support::require::has_view;
use crate::support::wait;
use placet::conversation::{AssistantBlock, Message};
use placet::session::{LoadedSession, SessionStore};
use rustix::process::Signal;
use serde_json::Value;
use std::time::Duration;

fn loaded(place: &Place) -> LoadedSession {
    let (store, notes) = SessionStore::open(&place.state_dir()).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    store.load(&store.latest(&place.tree).unwrap().unwrap()).unwrap()
}

fn start(place: &Place) -> Running {
    let args = [
        "-p",
        "go",
        "--output-format",
        "stream-json",
        "--mode",
        "unrestricted",
        "--set",
        "network.attempts=5",
    ];
    place.placet(args).start()
}

fn is(line: &str, kind: &str) -> bool {
    serde_json::from_str::<Value>(line).unwrap()["type"] == kind
}

/// Kills it, and has the session go on; returns what was read back after the kill.
fn kill(running: Running, place: &Place, server: &MockServer, what: &str) -> LoadedSession {
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, 137, "{what}");
    let after = loaded(place);
    for text in ["and on", "once more"] {
        server.push(Reply::anthropic(&[Say::Text("yes")]));
        let out = place.run(["-c", "-p", text]);
        assert_eq!((out.code, out.stdout.as_str()), (0, "yes\n"), "{what}: {out:?}");
    }
    assert_eq!(server.violations(), Vec::<String>::new(), "{what}");
    after
}

fn outcomes(loaded: &LoadedSession) -> Vec<(String, String)> {
    let results = loaded.transcript.messages().iter().filter_map(|m| match m {
        Message::Results { results } => Some(results),
        _ => None,
    });
    results.flatten().map(|r| (r.id.to_string(), format!("{:?}", r.outcome))).collect()
}

fn sleeps(count: usize) -> Vec<String> {
    (0..count).map(|n| format!(r#"{{"command":"touch began{n}; exec sleep 1000"}}"#)).collect()
}

fn answer(inputs: &[String]) -> Vec<String> {
    let ids: Vec<String> = (0..inputs.len()).map(|n| format!("c{n}")).collect();
    let mut said = vec![Say::Text("I do it.")];
    said.extend(inputs.iter().zip(&ids).map(|(input, id)| Say::Call(id, "run_command", input)));
    anthropic_events(&said)
}

#[test]
fn a_kill_while_text_streams_keeps_what_was_shown() {
    let begun = anthropic_events(&[Say::Text("the beginning of a long answer")])[..3].concat();
    let server = MockServer::start([Reply::sse(begun).stall()]);
    let place = Place::new().answered_by(&server);
    let mut running = start(&place);
    running.line_where(|line| is(line, "text"));
    // What was shown is in the store soon, without anything else happening.
    wait::until("the answer to be stored", || loaded(&place).transcript.messages().len() >= 2);
    let after = kill(running, &place, &server, "text");
    let Some(Message::Assistant(answer)) = after.transcript.messages().get(1) else { panic!("{after:?}") };
    assert_eq!(answer.text(), "the beginning of a long answer");
    assert!(after.dropped[0].contains("the last answer was incomplete"), "{:?}", after.dropped);
    // The second answer of a turn is saved as the first was, though it is exactly as long.
    let requests = server.requests();
    assert!(requests[1].body["messages"].to_string().contains("the beginning of a long answer"));
}

#[test]
fn a_second_answer_of_the_same_length_is_saved_as_well() {
    let first = anthropic_events(&[Say::Text("12345678"), Say::Call("c", "list_directory", "{}")]);
    let (begun, rest) = (first[..3].concat(), first[3..].concat());
    let second = anthropic_events(&[Say::Text("abcdefgh")])[..3].concat();
    let slow = Reply::stream().write(begun).wait(Duration::from_millis(400)).write(rest);
    let server = MockServer::start([slow, Reply::sse(second).stall()]);
    let place = Place::new().answered_by(&server);
    let mut running = start(&place);
    running.line_where(|line| line.contains("abcdefgh"));
    wait::until("the answer to be stored", || loaded(&place).transcript.messages().len() >= 4);
    kill(running, &place, &server, "same length");
}

#[test]
fn a_kill_while_arguments_stream_leaves_no_call() {
    for count in [1, 3] {
        let all = answer(&sleeps(count));
        let server = MockServer::start([Reply::sse(all[..all.len() - 3].concat()).stall()]);
        let place = Place::new().answered_by(&server);
        let mut running = start(&place);
        running.line_where(|line| is(line, "text"));
        let after = kill(running, &place, &server, &format!("arguments {count}"));
        assert_eq!(outcomes(&after), []);
        let calls = |m: &Message| matches!(m, Message::Assistant(a) if a.blocks.iter().any(|b| matches!(b, AssistantBlock::Call(_))));
        assert!(!after.transcript.messages().iter().any(calls));
        assert!(!place.tree.join("began0").exists());
    }
}

#[test]
fn a_kill_while_calls_run_loses_none_and_none_runs_again() {
    for count in 1..=5 {
        let server = MockServer::start([Reply::sse(answer(&sleeps(count)).concat())]);
        let place = Place::new().answered_by(&server);
        let running = start(&place);
        // Commands run one after another: while the first one runs the others wait.
        wait::until("the first command", || place.tree.join("began0").exists());
        let after = kill(running, &place, &server, &format!("running {count}"));
        let wanted: Vec<(String, String)> =
            (0..count).map(|n| (format!("c{n}"), "Interrupted".into())).collect();
        assert_eq!(outcomes(&after), wanted);
        assert_eq!(after.repairs.len(), 1);
        assert!((1..count).all(|n| !place.tree.join(format!("began{n}")).exists()));
    }
}

#[test]
fn a_kill_between_two_requests_loses_no_result() {
    for count in 1..=5 {
        let inputs: Vec<String> =
            (0..count).map(|n| format!(r#"{{"command":"echo did >> ran{n}"}}"#)).collect();
        let server = MockServer::start([Reply::sse(answer(&inputs).concat()), Reply::stream().stall()]);
        let place = Place::new().answered_by(&server);
        let running = start(&place);
        wait::until("the second request", || server.requests().len() >= 2);
        let after = kill(running, &place, &server, &format!("results {count}"));
        let wanted: Vec<(String, String)> = (0..count).map(|n| (format!("c{n}"), "Done".into())).collect();
        assert_eq!(outcomes(&after), wanted);
        assert!(after.repairs.is_empty(), "{:?}", after.repairs);
        assert!((0..count).all(|n| place.read(&format!("ran{n}")) == "did\n"));
    }
}

#[test]
fn a_kill_between_two_attempts_keeps_what_was_asked() {
    let busy = Reply::error(529, "overloaded_error", "busy").header("retry-after", "60");
    let server = MockServer::start([busy]);
    let place = Place::new().answered_by(&server);
    let mut running = start(&place);
    running.line_where(|line| is(line, "retry"));
    let after = kill(running, &place, &server, "back-off");
    assert_eq!(after.transcript.messages().len(), 1);
}

/// Story: the first command after `placet -c -p` removed what the job had written, and nobody was asked about it.
#[test]
fn what_a_killed_job_wrote_is_pending_when_its_conversation_resumes() {
    let job = r#"{"command":"echo x >made; rm old; echo written; exec sleep 1000","background":true}"#;
    let wait = r#"{"action":"wait","job":1,"until":"written","timeout_ms":20000}"#;
    let server = MockServer::start([
        Reply::anthropic(&[Say::Call("c1", "run_command", job)]),
        Reply::anthropic(&[Say::Call("c2", "job", wait)]),
        Reply::stream().stall(),
    ]);
    let place = Place::new().answered_by(&server);
    place.write("old", "o\n");
    let running = place.placet(["-p", "go", "--mode", "ask"]).start();
    wait::until("the third request", || server.requests().len() >= 3);
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, 137);
    server.push(Reply::anthropic(&[Say::Call("c3", "run_command", r#"{"command":"ls; test ! -e old"}"#)]));
    server.push(Reply::anthropic(&[Say::Text("yes")]));
    let out = place.run(["-c", "-p", "and on", "--mode", "ask"]);
    assert!(out.stderr.contains("what it changed is pending (2 files)"), "{out:?}");
    // The next command sees it, and nothing of it is in the workspace.
    let sent = server.requests().last().unwrap().body["messages"].to_string();
    assert!(sent.contains("made\\n"), "{sent}");
    assert!(!place.tree.join("made").exists() && place.read("old") == "o\n");
    let out = place.run(["changes"]);
    assert!(out.stdout.contains("A made") && out.stdout.contains("D old"), "{out:?}");
}

/// Story: of a command that had ended, a part of its changes was pending, and the rest was lost without a note.
#[test]
fn what_was_being_collected_at_a_kill_is_pending_whole() {
    let line = r#"{"command":"mkdir d; for n in 1 2 3 4 5 6; do echo $n > d/$n; done; rm old"}"#;
    for resumes in [true, false] {
        let server = MockServer::start([Reply::anthropic(&[Say::Call("c1", "run_command", line)])]);
        let place = Place::new().answered_by(&server);
        place.write("old", "o\n");
        let hold = place.home.join("hold");
        std::fs::write(&hold, "").unwrap();
        let running = place.placet_that_holds(("folded", &hold), ["-p", "go", "--mode", "ask"]).start();
        wait::until("the collecting to begin", || hold.with_file_name("hold.reached").exists());
        running.signal(Signal::KILL);
        assert_eq!(running.end().code, 137);
        let out = match resumes {
            true => {
                server.push(Reply::anthropic(&[Say::Text("yes")]));
                place.run(["-c", "-p", "and on", "--mode", "ask"])
            }
            false => place.run(["changes"]),
        };
        assert!(out.stderr.contains("was interrupted; what it changed is pending"), "{out:?}");
        let out = place.run(["changes"]);
        assert!(out.stdout.contains("D old"), "{out:?}");
        place.run(["apply"]).code(0);
        for n in 1..=6 {
            assert_eq!(place.read(&format!("d/{n}")), format!("{n}\n"), "{resumes}");
        }
        assert!(!place.tree.join("old").exists());
    }
}

/// Story: a kill while a restored discard was removed left a part of it, and `placet undo` refused everything until a repair.
#[test]
fn a_discard_that_was_being_removed_at_a_kill_is_gone() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    let made = place.run(["run", "--", "sh", "-c", "echo 1 > a; echo 2 > b; rm notes.txt"]);
    assert!(made.code == 3, "{made:?}");
    let pending = place.run(["changes"]).code(0).stdout;
    place.run(["discard"]).code(0);
    let hold = place.beside("hold");
    std::fs::write(&hold, "").unwrap();
    let running = place.placet_that_holds(("discard renamed", &hold), ["undo"]).start();
    wait::until("the removing to begin", || hold.with_file_name("hold.reached").exists());
    running.signal(Signal::KILL);
    assert_eq!(running.end().code, 137);
    let after = place.run(["changes"]).code(0);
    assert_eq!((after.stdout, after.stderr), (pending.clone(), String::new()));
    place.run(["discard"]).code(0);
    place.run(["undo"]).code(0);
    assert_eq!(place.run(["changes"]).code(0).stdout, pending);
}
