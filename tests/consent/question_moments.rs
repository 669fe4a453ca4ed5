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
    pty.until("keys to count", |s| !s.contains("a moment"));
    (server, pty)
}

#[test]
fn the_question_about_a_loop_is_answered_by_its_keys_and_no_other() {
    for key in ["n", "\x1b"] {
        let (server, mut pty) = repeating();
        for wrong in ["a", "x", "\r", "1"] {
            std::thread::sleep(Duration::from_millis(1_000));
            pty.answer(wrong);
        }
        std::thread::sleep(Duration::from_millis(1_000));
        pty.until("the question still", |s| s.contains("Continue?") && s.contains("y yes"));
        assert_eq!(server.requests().len(), 2, "a wrong key went on");
        pty.answer(key);
        pty.until_prompt("");
        assert_eq!(server.requests().len(), 2, "{key:?}");
    }
    let (server, mut pty) = repeating();
    server.push(Reply::openai(&[Say::Text("that is enough")]));
    pty.answer("y");
    pty.until("the rest", |s| s.contains("that is enough"));
    pty.until_prompt("");
    assert_eq!(server.requests().len(), 4);
}

/// What was never on the screen is not applied by the first key after the window has become larger, and the question is
/// drawn again without a key.
#[test]
fn a_resize_draws_the_question_again_and_counts_nothing_as_shown_before() {
    let lines: String = (1..=30).map(|n| format!("line {n}\n")).collect();
    let mut pty = shell().size(60, 12).arg("--mode").arg("ask").file("a.txt", "").open();
    pty.line("run seq -f 'line %g' 30 > a.txt");
    pty.until("the question", |s| s.contains("apply?") && s.contains("a apply all"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty.resize(100, 45);
    pty.until("all of it", |s| {
        let first = s.lines().any(|row| row.trim_end().ends_with("+ line 1"));
        first && s.contains("+ line 30") && s.contains("a apply all")
    });
    assert_eq!(pty.read("a.txt"), "");
    // For the moment after that, keys do not count: nobody has read it.
    pty.send("a");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(pty.read("a.txt"), "");
    for size in [(40, 12), (120, 30), (30, 10), (80, 24)] {
        pty.resize(size.0, size.1);
        // A window of a dozen rows has room for the keys and not for the title.
        let has_title = |s: &str| size.1 <= 12 || s.contains("lines: apply?");
        // In one of ten rows no row of a change has room: there no key says yes.
        let has_keys = |s: &str| s.contains("apply all") || size.1 == 10 && s.contains("too small");
        pty.until("the question at the new size", |s| has_keys(s) && has_title(s));
        let screen = pty.screen();
        assert!(screen.matches("lines: apply?").count() <= 1, "{size:?}\n{screen}");
    }
    pty.resize(100, 45);
    pty.until("all of it", |s| s.contains("+ line 30"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), lines);
}

/// People read, scroll and answer at once: a key that only moves does not begin the half second anew.
#[test]
fn an_answer_counts_right_after_a_key_that_moves() {
    for key in ["\x1b[6~", "\x1b[B", " "] {
        let mut pty = shell().size(80, 24).arg("--mode").arg("ask").open();
        pty.line("run seq -f 'line %g' 6 > a.txt");
        pty.until("the question", |s| s.contains("+ line 6") && s.contains("a apply all"));
        // The row is not in the first picture of the question: it may still come.
        std::thread::sleep(Duration::from_millis(700));
        pty.until("keys to count", |s| s.contains("a apply all") && !s.contains("a moment"));
        pty.send(key);
        std::thread::sleep(Duration::from_millis(120));
        assert!(!pty.screen().contains("a moment"), "{key:?}\n{}", pty.screen());
        std::thread::sleep(Duration::from_millis(120));
        pty.send("a");
        pty.until("the change", |s| s.contains("applied changes to 1 file"));
    }
}

/// A row that says that keys do not count yet comes and goes: what is open stays open, and what was closed is asked
/// about.
#[test]
fn no_difference_closes_without_a_key() {
    let part = |name: &str| format!("seq -f '{name} %g' 8 > {name}.txt");
    let command = ["a", "b", "c"].map(part).join("; ");
    for rows in 18..34 {
        let mut pty = shell().size(80, rows).arg("--mode").arg("ask").open();
        pty.line(&format!("run {command}"));
        pty.until("the question", |s| s.contains("3 files") && s.contains("a moment"));
        let open = |s: &str| ["+ a 8", "+ b 8", "+ c 8"].map(|line| s.contains(line));
        let before = open(&pty.screen());
        pty.until("keys to count", |s| s.contains("a apply all") && !s.contains("a moment"));
        let after = open(&pty.screen());
        assert_eq!(before, after, "{rows}\n{}", pty.screen());
    }
}

/// Text that streams behind a question neither answers it nor moves it away; what was typed before is a draft.
#[test]
fn a_question_that_comes_while_text_streams_takes_no_key_that_was_meant_for_the_draft() {
    let call = Say::Call("c1", "run_command", r#"{"command":"touch made"}"#);
    let text: String = (1..=60).map(|n| format!("number {n} and ")).collect();
    let mut reply = Reply::stream();
    for piece in openai_events(&[Say::Text(&text), call]) {
        reply = reply.write(piece).wait(Duration::from_millis(200));
    }
    let server = MockServer::start([reply.close(), Reply::openai(&[Say::Text("done")])]);
    let start = with_model(&server).arg("--mode").arg("write").arg("--set").arg("sandbox.backend=snapshot");
    let mut pty = start.open();
    pty.line("go on");
    pty.until("text", |s| s.contains("number 1 and"));
    // Keys that would answer, typed as a line.
    pty.send("yay");
    pty.until("the question", |s| {
        s.contains("Allow this command?") && s.contains("typing goes to your draft")
    });
    pty.send("y");
    std::thread::sleep(Duration::from_millis(300));
    assert!(!pty.exists("made"));
    pty.resize(60, 18);
    pty.until("the question again", |s| s.contains("Allow this command?"));
    pty.send("\t");
    pty.until("keys to count", |s| !s.contains("typing goes to your draft") && !s.contains("a moment"));
    pty.answer("y");
    pty.until("the end", |s| s.contains("done"));
    assert!(pty.exists("made"));
    pty.until_prompt("yayy");
}
