//! A question while something else happens: the window changes, text streams, the model repeats itself.

use crate::support::mock_server::{MockServer, Reply, Say, openai_events};
use crate::support::pty::{Pty, Start, shell};
use std::time::Duration;

fn with_model(server: &MockServer) -> Start {
    let url = server.url();
    let arguments = ["--provider", "openai-compatible", "--model", "m", "--base-url", &url];
    arguments.iter().fold(shell(), |start, arg| start.arg(arg))
}

/// A model that reads the same file again and again.
fn repeating() -> (MockServer, Pty) {
    let same = || Reply::openai(&[Say::Call("c", "read_file", r#"{"path":"a.txt"}"#)]);
    let server = MockServer::start((0..3).map(|_| same()));
    let start = with_model(&server).arg("--set").arg("max_repeats=2").file("a.txt", "text\n");
    let mut pty = start.open();
    pty.line("go on");
    pty.until("the question", |s| s.contains("read_file was called 2 times with the same result. Continue?"));
    (server, pty)
}

#[test]
fn the_question_about_a_loop_is_answered_by_its_answers() {
    for answer in ["n", "\x1b"] {
        let (server, mut pty) = repeating();
        pty.answer(answer);
        pty.until_prompt("");
        assert_eq!(server.requests().len(), 2, "{answer:?}");
    }
    let (server, mut pty) = repeating();
    server.push(Reply::openai(&[Say::Text("that is enough")]));
    pty.answer("y");
    pty.until("the rest", |s| s.contains("that is enough"));
    pty.until_prompt("");
    assert_eq!(server.requests().len(), 4);
}

/// What was never on the screen is not what is marked after the window has become larger, and the question is drawn again
/// without a key.
#[test]
fn a_resize_draws_the_question_again_and_counts_nothing_as_shown_before() {
    let lines: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let mut pty = shell().size(60, 12).arg("--mode").arg("ask").file("a.txt", "").open();
    pty.line("run seq -f 'line %g' 30 > a.txt");
    pty.until("the question", |s| s.contains("Apply · [Review]"));
    pty.resize(100, 45);
    pty.until("all of it", |s| {
        let first = s.lines().any(|row| row.trim_end().ends_with("+ line 1"));
        first && s.contains("+ line 30") && s.contains("Review")
    });
    for size in [(40, 12), (120, 30), (30, 10), (80, 24)] {
        pty.resize(size.0, size.1);
        // A window of a dozen rows has room for the answers and not for the title.
        let has_title = |s: &str| size.1 <= 12 || s.contains("lines: apply?");
        // In one of ten rows no row of a change has room: there no answer says yes.
        let has_answers = |s: &str| s.contains("Keep") || size.1 == 10 && s.contains("too small");
        pty.until("the question at the new size", |s| has_answers(s) && has_title(s));
        let screen = pty.screen();
        assert!(screen.matches("lines: apply?").count() <= 1, "{size:?}\n{screen}");
    }
    pty.resize(100, 45);
    pty.until("all of it", |s| s.contains("+ line 30") && s.contains("[Apply]"));
    assert_eq!(pty.read("a.txt"), "");
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), lines);
}

/// Text that streams behind a question neither answers it nor moves it away; what was typed before is the next message.
#[test]
fn a_text_begun_before_the_question_is_the_next_message() {
    let call = Say::Call("c1", "run_command", r#"{"command":"touch made"}"#);
    let text: String = (1..=60).map(|n| format!("number {n} and ")).collect();
    let mut reply = Reply::stream();
    for piece in openai_events(&[Say::Text(&text), call]) {
        reply = reply.write(piece).wait(Duration::from_millis(200));
    }
    let server = MockServer::start([
        reply.close(),
        Reply::openai(&[Say::Text("made it")]),
        Reply::openai(&[Say::Text("yes, really")]),
    ]);
    let start = with_model(&server).arg("--mode").arg("write").arg("--set").arg("sandbox.backend=snapshot");
    let mut pty = start.open();
    pty.line("go on");
    pty.until("text", |s| s.contains("number 1 and"));
    pty.send("yay");
    pty.until("the question", |s| {
        s.contains("Allow this command?") && s.contains("Enter sends your text · Esc clears it")
    });
    pty.send("y\r");
    pty.until("the queue", |s| s.contains("1 after this turn: yayy"));
    assert!(!pty.exists("made"));
    pty.resize(60, 18);
    pty.until("the question again", |s| s.contains("Allow this command?"));
    pty.answer("y");
    pty.until("the end", |s| s.contains("made it"));
    assert!(pty.exists("made"));
    pty.until("the next turn", |s| s.contains("yes, really"));
}
