//! Checks with `when = "edit"`: new diagnostics are part of the edit's result. And checks that the shell proposes.

use crate::support::binary::Place;
use crate::support::checks::says;
use crate::support::checks::sent;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::shell;
use crate::support::require::{has_view, require};
use serde_json::{Value, json};

/// Finds each line `bad` of text files.
const WORDS: &str = "[checks.words]\nwhen = \"edit\"\npaths = [\"*.txt\"]\n\
                     command = \"! grep -Hn bad *.txt | sed 's/:bad.*/:1: error: a bad word/' | grep .\"\n";
const NEW: &str = "[placet: checks find something after this edit that they did not find before the turn]";

fn project(server: &MockServer, settings: &str) -> Place {
    let url = server.url();
    Place::new().file("old.txt", "bad\n").config(&format!(
        "provider = \"mock\"\nmodel = \"mock-1\"\ncontext_window = 200000\nnetwork.attempts = 1\n\
         [providers.mock]\ndialect = \"anthropic\"\nbase_url = \"{url}\"\n{settings}"
    ))
}

fn arguments(path: &str, content: &str) -> String {
    json!({ "path": path, "content": content }).to_string()
}

fn writes(path: &str, content: &str) -> Reply {
    Reply::anthropic(&[Say::Call("c1", "write_file", &arguments(path, content))])
}

/// How often a check ran.
fn runs(stderr: &str) -> usize {
    stderr.matches("the check words runs").count()
}

#[test]
fn an_edit_is_answered_with_the_diagnostics_that_are_new() {
    if !has_view() {
        return;
    }
    for mode in ["ask", "write"] {
        let server = MockServer::start([
            writes("new.txt", "fine\nbad\n"),
            writes("other.txt", "fine\n"),
            writes("notes.md", "bad\n"),
            says("done"),
        ]);
        let place = project(&server, WORDS);
        let out = place.run(["-p", "go", "--mode", mode]);
        let out = out.warns("words: 1 new error");
        let first = sent(&server, 1);
        assert!(first.contains(NEW) && first.contains("words: 1 new error"), "{mode}: {first}");
        assert!(first.contains("new.txt:2:1: error: a bad word"), "{mode}: {first}");
        assert!(!first.contains("old.txt:1"), "{mode}: {first}");
        // The second edit is compared with the files before the turn, too; the third concerns no check.
        assert_eq!(sent(&server, 2).matches(NEW).count(), 2, "{mode}");
        assert_eq!(sent(&server, 3).matches(NEW).count(), 2, "{mode}");
        // Before the first edit, and after the first and the second.
        assert_eq!(runs(&out.stderr), 3, "{mode}: {}", out.stderr);
        assert_eq!(server.violations(), Vec::<String>::new());
    }
}

#[test]
fn the_edits_of_one_answer_are_checked_together_and_what_is_known_does_not_run_again() {
    if !has_view() {
        return;
    }
    let both = Reply::anthropic(&[
        Say::Call("c1", "write_file", &arguments("a.txt", "bad\n")),
        Say::Call("c2", "write_file", &arguments("b.txt", "bad\nbad\n")),
    ]);
    let server = MockServer::start([both, says("done"), writes("c.txt", "fine\n"), says("done")]);
    let place = project(&server, WORDS);
    let out = place.run(["-p", "go", "--mode", "ask"]).code(3).warns("words: 3 new errors");
    assert_eq!(runs(&out.stderr), 2, "{}", out.stderr);
    let result = sent(&server, 1);
    assert_eq!(result.matches(NEW).count(), 1, "{result}");
    // What the first turn left is no news for the second one, and its last result is the second one's first.
    let out = place.run(["-p", "more", "-c", "--mode", "ask"]).code(3);
    assert_eq!(runs(&out.stderr), 1, "{}", out.stderr);
    assert_eq!(sent(&server, 3).matches(NEW).count(), 1);
}

#[test]
fn at_most_twenty_lines_are_added_errors_first() {
    if !has_view() {
        return;
    }
    let settings = "[checks.words]\nwhen = \"edit\"\ncommand = \"if test -e a.txt; then seq 30 | sed 's/.*/a.txt:&:1: warning: w&/'; echo a.txt:99:1: error: worst; fi\"\n";
    let server = MockServer::start([writes("a.txt", "x\n"), says("done")]);
    let place = project(&server, settings);
    place.run(["-p", "go", "--mode", "ask"]).code(3).warns("words: 1 new error, 30 new warnings");
    let result = sent(&server, 1);
    let note = &result[result.find(NEW).unwrap()..];
    assert!(
        note.contains("30 new warnings\\n  a.txt:99:1: error: worst\\n  a.txt:1:1: warning: w1\\n"),
        "{note}"
    );
    assert_eq!(note.matches(": warning: w").count(), 19, "{note}");
    assert!(note.contains("\\n  11 lines not shown"), "{note}");
}

#[test]
fn a_check_that_fails_without_a_diagnostic_and_one_that_is_endless_are_reported() {
    if !has_view() {
        return;
    }
    let settings = "[checks.words]\nwhen = \"edit\"\ncommand = \"echo looking; ! test -e a.txt\"\n\
                    [checks.endless]\nwhen = \"edit\"\ntimeout = 1\ncommand = \"! test -e a.txt || sleep 1000\"\n";
    let server = MockServer::start([writes("a.txt", "x\n"), says("done")]);
    let place = project(&server, settings);
    place.run(["-p", "go", "--mode", "ask"]).code(3).warns("words: failed with exit code 1");
    let result = sent(&server, 1);
    assert!(result.contains("words: failed with exit code 1\\n  looking"), "{result}");
    assert!(result.contains("endless: stopped at its deadline of 1 second"), "{result}");
}

/// How many results of calls a request has.
fn results_in(body: &Value) -> usize {
    body["messages"].to_string().matches("\"tool_result\"").count()
}

fn is_sub_agent(body: &Value) -> bool {
    body.to_string().contains("You are a sub-agent")
}

#[test]
fn the_edits_of_a_sub_agent_are_checked_against_the_files_before_the_turn() {
    if !has_view() {
        return;
    }
    for mode in ["ask", "write"] {
        let server = MockServer::start([
            writes("first.txt", "bad\n"),
            Reply::anthropic(&[Say::Call("a", "agent", r#"{"task":"write a word"}"#)]),
            writes("second.txt", "fine\nbad\n"),
            says("the sub-agent is done"),
            says("done"),
        ]);
        let place = project(&server, WORDS);
        let out = place.run(["-p", "go", "--mode", mode]);
        let of_sub_agent = sent(&server, 3);
        assert!(of_sub_agent.contains(NEW), "{mode}: {of_sub_agent}");
        // The edit of its parent is new as well: both belong to one turn. What was there before the turn is not.
        assert!(of_sub_agent.contains("words: 2 new errors"), "{mode}: {of_sub_agent}");
        assert!(of_sub_agent.contains("second.txt:2:1: error: a bad word"), "{mode}: {of_sub_agent}");
        assert!(!of_sub_agent.contains("old.txt:1"), "{mode}: {of_sub_agent}");
        // Before the turn, after the edit of the parent, and after that of the sub-agent.
        assert_eq!(runs(&out.stderr), 2, "the parent's: {mode}: {}", out.stderr);
        assert_eq!(server.violations(), Vec::<String>::new());
    }
}

#[test]
fn sub_agents_that_edit_at_the_same_time_both_get_what_their_edits_broke() {
    if !has_view() {
        return;
    }
    let server = MockServer::start([]);
    server.judged_by(|body| {
        let text = body.to_string();
        let own = if text.contains("TASK-ONE") { "one" } else { "two" };
        Some(match (is_sub_agent(body), results_in(body)) {
            (false, 0) => Reply::anthropic(&[
                Say::Call("a", "agent", r#"{"task":"TASK-ONE"}"#),
                Say::Call("b", "agent", r#"{"task":"TASK-TWO"}"#),
            ]),
            (true, edits @ 0..3) => writes(&format!("{own}-{edits}.txt"), "bad\n"),
            _ => says("done"),
        })
    });
    let place = project(&server, WORDS);
    place.run(["-p", "go", "--mode", "write"]).code(0);
    let last_of = |task: &str| {
        let mut requests = server.requests().into_iter().rev().map(|request| request.body);
        requests.find(|body| is_sub_agent(body) && body.to_string().contains(task)).unwrap().to_string()
    };
    for (task, own) in [("TASK-ONE", "one"), ("TASK-TWO", "two")] {
        let request = last_of(task);
        assert_eq!(request.matches(NEW).count(), 3, "{request}");
        for edits in 0..3 {
            assert!(request.contains(&format!("{own}-{edits}.txt:1:1: error: a bad word")), "{request}");
        }
        assert!(!request.contains("old.txt:1"), "{request}");
    }
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn the_shell_proposes_checks_as_a_change_that_is_reviewed() {
    if !has_view() {
        return;
    }
    if !require("make") {
        return;
    }
    let pty =
        shell().arg("--mode").arg("ask").size(100, 40).file("Makefile", "test:\n\tgrep -q one notes.txt\n");
    let mut pty = pty.file("go.mod", "module x\n").open();
    pty.line("/checks detect");
    let is_question = |s: &str| s.contains("[checks.make-test]") && s.contains("No, keep it pending");
    pty.until("the question", is_question);
    assert!(!pty.exists(".placet/config.toml"));
    pty.answer("n");
    pty.until("the end", |s| s.contains("are pending: /apply, /review, /discard (! .placet/config.toml)"));
    pty.line("/checks");
    pty.until("what is missing", |s| s.contains("the proposed checks are pending"));
    assert!(!pty.exists(".placet/config.toml"));
    // One yes, and they are in effect.
    pty.line("/apply");
    pty.until("the question again", |s| s.contains("apply this file?") && s.contains("Yes, apply this file"));
    pty.answer("y");
    pty.until("the effect", |s| s.contains("checks in effect: make-test"));
    pty.line("/checks run");
    pty.until("a result", |s| s.contains("make-test") && s.contains("failed with exit code"));
    assert!(!pty.screen().contains("config trust"), "{}", pty.screen());
}

/// Story: after an edit of the proposed settings, the checks were said to be pending for ever.
#[test]
fn a_proposal_that_the_agent_changed_is_none_any_more() {
    if !has_view() || !require("make") {
        return;
    }
    let mut pty = shell().arg("--mode").arg("ask").size(100, 40).file("Makefile", "test:\n\ttrue\n").open();
    pty.line("/checks detect");
    pty.until("the question", |s| s.contains("[checks.make-test]") && s.contains("No, keep it pending"));
    pty.answer("n");
    pty.until("the end", |s| s.contains("are pending: /apply, /review, /discard (! .placet/config.toml)"));
    pty.line("append \"# more\" to .placet/config.toml");
    pty.until("the question again", |s| s.contains("+ # more") && s.contains("apply this file?"));
    pty.answer("n");
    pty.until("the end", |s| s.matches("/discard (! .placet/config.toml)").count() == 2);
    pty.line("/checks");
    pty.until("no proposal", |s| s.contains("no check is set"));
}
