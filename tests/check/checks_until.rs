//! Checks that send their failures back to the agent: at the end of a turn, and until a goal is reached.

use crate::support::binary::Place;
use crate::support::checks::says;
use crate::support::checks::sent;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::shell;
use crate::support::require::has_view;
use serde_json::json;

const WORDS: &str =
    "[checks.words]\ncommand = \"! grep -Hn bad a.txt | sed 's/:bad.*/:1: error: a bad word/' | grep .\"\n";

fn writes(text: &str) -> Reply {
    let input = json!({ "command": format!("echo {text} > a.txt") }).to_string();
    Reply::anthropic(&[Say::Call("c1", "run_command", &input)])
}

fn project(server: &MockServer, settings: &str) -> Place {
    let url = server.url();
    Place::with_notes().config(&format!(
        "provider = \"mock\"\nmodel = \"mock-1\"\ncontext_window = 200000\nnetwork.attempts = 1\n\
         [providers.mock]\ndialect = \"anthropic\"\nbase_url = \"{url}\"\n{settings}"
    ))
}

#[test]
fn failures_of_a_check_go_back_to_the_agent_at_the_end_of_a_turn() {
    if !has_view() {
        return;
    }
    let server = MockServer::start([writes("bad"), says("done"), writes("good"), says("corrected")]);
    let place = project(&server, &format!("{WORDS}when = \"turn\"\n"));
    let out = place.run(["-p", "go", "--mode", "ask"]).code(3);
    out.warns("words: failed: 1 error")
        .warns("the agent gets the failures (1 of 2)")
        .warns("words: passed in ");
    let note = sent(&server, 2);
    assert!(
        note.contains("[placet: checks failed on your changes, round 1 of 2; correct the changes]"),
        "{note}"
    );
    assert!(note.contains("a.txt:1:1: error: a bad word"), "{note}");
    assert_eq!(server.requests().len(), 4);
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn failures_go_back_only_so_often_and_not_without_a_change() {
    if !has_view() {
        return;
    }
    let server = MockServer::start([writes("bad"), says("done"), says("I cannot"), says("hello")]);
    let place = project(&server, &format!("{WORDS}when = \"turn\"\nrounds = 1\n"));
    let out = place.run(["-p", "go", "--mode", "ask"]).code(3).warns("the agent gets the failures (1 of 1)");
    assert_eq!(server.requests().len(), 3);
    // Story: the answers of the rounds ran together, `doneI cannot`.
    assert_eq!(out.stdout, "done\nI cannot\n");
    // A turn that changes nothing checks nothing.
    let out = place.run(["-p", "hello", "--continue", "--mode", "ask"]);
    assert!(!out.stderr.contains("words: failed"), "{out:?}");
}

#[test]
fn the_agent_continues_until_the_checks_pass_and_each_round_is_a_turn() {
    if !has_view() {
        return;
    }
    let rounds = [writes("bad"), says("one"), writes("bad bad"), says("two"), writes("good"), says("three")];
    let server = MockServer::start(rounds);
    let place = project(&server, WORDS);
    let out = place.run(["-p", "go", "--mode", "write", "--until", "words:3"]).code(0);
    out.warns("words passed after 2 rounds");
    assert!(sent(&server, 2).contains("[placet: these checks fail; make them pass]"));
    assert_eq!(place.read("a.txt"), "good\n");
    let journal = place.run(["journal", "list"]).code(0).stdout.clone();
    assert_eq!(
        journal.lines().filter(|line| line.contains("a.txt") || line.contains("1 file")).count(),
        3,
        "{journal}"
    );
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn a_goal_ends_when_nothing_changes_any_more_or_no_round_is_left() {
    if !has_view() {
        return;
    }
    let server = MockServer::start([writes("bad"), says("one"), says("no idea")]);
    let place = project(&server, WORDS);
    let out = place.run(["-p", "go", "--mode", "write", "--until", "words"]).code(1);
    out.warns("words did not pass, and the last round changed nothing");
    let server = MockServer::start([writes("bad"), says("one"), writes("bad again"), says("two")]);
    let place = project(&server, WORDS);
    let out = place.run(["-p", "go", "--mode", "write", "--until", "words:1"]).code(1);
    out.warns("words did not pass after 1 round");
    place.run(["-p", "go", "--until", "nothing"]).code(1).warns("no check `nothing`");
    place.run(["changes", "--until", "words"]).code(2);
}

#[test]
fn the_shell_lists_runs_and_continues_until_checks_pass() {
    if !has_view() {
        return;
    }
    let server = MockServer::start([
        Reply::openai(&[Say::Call("c1", "run_command", r#"{"command":"echo good > a.txt"}"#)]),
        Reply::openai(&[Say::Text("corrected")]),
    ]);
    let url = server.url();
    let args = ["--mode", "ask", "--provider", "openai-compatible", "--model", "m", "--base-url", &url];
    let start = args.iter().fold(shell(), |start, arg| start.arg(arg));
    let mut pty = start.size(100, 40).config(WORDS).file("a.txt", "bad\n").open();
    pty.line("/checks");
    pty.until("the list", |s| s.contains("words: not run on this state"));
    pty.line("/checks run");
    pty.until("the run", |s| {
        s.contains("words: failed: 1 error") && s.contains("a.txt:1:1: error: a bad word")
    });
    pty.line("/until words,none");
    pty.until("the mistake", |s| s.contains("no check `none`"));
    pty.line("/until words 2");
    pty.until("the question", |s| s.contains("words passed after 1 round") && s.contains("Apply"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty.until("the check", |s| s.contains("✓ words: passed in this state"));
    pty.answer("a");
    pty.until("the apply", |s| s.contains("checked: words passed in state "));
    assert_eq!(pty.read("a.txt"), "good\n");
    pty.line("/until words");
    pty.until("nothing to do", |s| s.contains("words passed\n") || s.contains("words passed "));
    assert_eq!(server.requests().len(), 2);
    // `/checks` began the conversation, without words that could be its title.
    pty.until_prompt("");
    pty.line("/quit");
    assert_eq!(pty.ended(), 0);
    let list = shell().size(100, 40).arg("session").arg("list").after(pty).spawn();
    list.until("the title", |s| s.contains("/until words 2"));
}
