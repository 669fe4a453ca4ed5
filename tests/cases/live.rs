//! The pane while a turn runs, and what is told to the terminal: the real binary, its bytes and its cells.

use crate::support::mock_server::{MockServer, Reply, Say, openai_events};
use crate::support::pty::{Pty, Start, shell};
use std::time::Duration;

const ESC: &str = "\x1b";
const CTRL_S: &str = "\x13";

fn with_model(server: &MockServer) -> Start {
    ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url()]
        .iter()
        .fold(shell(), |start, arg| start.arg(arg))
}

/// An answer that comes after `wait`.
fn late(wait: Duration, said: &[Say]) -> Reply {
    Reply::stream().wait(wait).write(openai_events(said).concat()).close()
}

fn running(pty: &Pty) {
    pty.until("the pane", |s| s.contains("waiting for the model"));
}

fn said(server: &MockServer, request: usize) -> Vec<String> {
    let body = server.requests()[request].body.clone();
    let messages = body["messages"].as_array().unwrap().clone();
    messages.iter().map(|m| format!("{}: {}", m["role"].as_str().unwrap(), m["content"])).collect()
}

#[test]
fn lines_queued_while_a_turn_runs_are_sent_in_their_order() {
    let server = MockServer::start([
        late(Duration::from_millis(1500), &[Say::Text("answer one")]),
        Reply::openai(&[Say::Text("answer two")]),
        Reply::openai(&[Say::Text("answer three")]),
    ]);
    let mut pty = with_model(&server).open();
    pty.line("first");
    running(&pty);
    pty.send("second\rthird\rdraft");
    pty.until("the queue", |s| {
        s.contains("1 after this turn: second") && s.contains("2 after this turn: third")
    });
    pty.until("all answers", |s| s.contains("answer two") && s.contains("answer three"));
    pty.until_prompt("draft");
    assert!(said(&server, 2).last().unwrap().contains("third"));
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn a_line_that_steers_reaches_the_model_before_its_next_request() {
    let call = r#"{"command":"sleep 1"}"#;
    let server = MockServer::start([
        Reply::openai(&[Say::Call("c1", "run_command", call)]),
        Reply::openai(&[Say::Text("with tabs then")]),
        Reply::openai(&[Say::Text("the queued one")]),
    ]);
    let mut pty = with_model(&server).arg("--mode").arg("write").arg("--allow").arg("run_command").open();
    pty.line("go on");
    pty.until("the command", |s| s.contains("› run sleep 1"));
    pty.send("later\r");
    pty.until("the queue", |s| s.contains("1 after this turn: later"));
    pty.send(&format!("use tabs{CTRL_S}"));
    pty.until("both ways", |s| s.contains("2 with the next request: use tabs"));
    pty.until("the answers", |s| s.contains("with tabs then") && s.contains("the queued one"));
    assert!(pty.screen().contains("> use tabs"), "{}", pty.screen());
    let second = said(&server, 1);
    let [.., result, steered] = second.as_slice() else { panic!("{second:?}") };
    assert!(result.starts_with("tool: "), "{second:?}");
    assert!(steered.starts_with("user: ") && steered.contains("use tabs"), "{second:?}");
    assert!(!second.join("").contains("later"));
    assert!(said(&server, 2).last().unwrap().contains("later"));
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn an_interrupt_gives_back_every_line_that_was_not_sent() {
    let server = MockServer::start([Reply::stream().stall()]);
    let mut pty = with_model(&server).open();
    pty.line("first");
    running(&pty);
    pty.send(&format!("one\rtwo{CTRL_S}three\rfour"));
    pty.until("the draft", |s| s.contains("3 after this turn: three") && s.contains("> four"));
    pty.send(ESC);
    pty.until("the prompt", |s| s.contains("] > one") && s.trim_end().ends_with("four"));
    let screen = pty.screen();
    let lines: Vec<&str> = screen.lines().skip_while(|l| !l.contains("] > one")).map(str::trim).collect();
    assert_eq!(lines.get(1..4), Some(&["two", "three", "four"][..]), "{screen}");
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn what_was_typed_and_queued_outlives_a_kill() {
    let server = MockServer::start([Reply::stream().stall()]);
    let mut pty = with_model(&server).open();
    pty.line("first");
    running(&pty);
    pty.send("one\rtwo");
    pty.until("the queue", |s| s.contains("1 after this turn: one") && s.contains("> two"));
    std::thread::sleep(Duration::from_millis(400));
    let mut pty = shell().after(pty).open();
    pty.until("the draft", |s| s.contains("is back") && s.contains("] > one") && s.contains("two"));
    // Also what is typed at the prompt itself.
    pty.send(" and more");
    pty.until("the text", |s| s.trim_end().ends_with("two and more"));
    std::thread::sleep(Duration::from_millis(400));
    let mut pty = shell().after(pty).open();
    pty.until("the draft", |s| s.trim_end().ends_with("two and more"));
    pty.send("\x03");
    pty.until_prompt("");
    pty.line("help");
    pty.until("an answer", |s| s.contains("save that as NAME"));
    pty.until_prompt("");
    std::thread::sleep(Duration::from_millis(400));
    let pty = shell().after(pty).open();
    pty.until_prompt("");
    assert!(!pty.screen().contains("is back"), "{}", pty.screen());
}

#[test]
fn the_unfinished_line_of_a_running_command_is_shown_and_a_secret_in_it_is_not() {
    let mut pty = shell().arg("--mode").arg("write").arg("--allow").arg("run_command").open();
    // Put together here, so that the typed line itself holds no secret.
    pty.line(
        "run printf 'step 3 of 9'; sleep 2; printf ' key sk-ant-%s' api03-aB3dE6gH9jK2mN5pQ8sT1vW4; sleep 3",
    );
    pty.until("the line", |s| s.contains("\n  step 3 of 9\n"));
    pty.until("more of it", |s| s.contains("\n  step 3 of 9 key"));
    std::thread::sleep(Duration::from_millis(300));
    assert!(!pty.screen().contains("\n  step 3 of 9 key sk-"), "{}", pty.screen());
    pty.send(ESC);
    pty.until("the end", |s| s.contains("interrupted"));
}
