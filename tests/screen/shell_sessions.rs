//! Conversations in the shell: silent servers, trust, unsaved sessions, resets, hooks.

use super::shell::{ESC, with_model};
use crate::support::mock_server::{MockServer, Reply, Say, openai_events};
use crate::support::pty::shell;
use std::time::{Duration, Instant};

#[test]
fn escape_stops_a_silent_provider_at_once_and_retry_sends_again() {
    let server = MockServer::start([Reply::stream().stall(), Reply::openai(&[Say::Text("now it answers")])]);
    let mut pty = with_model(&server).open();
    pty.line("hello");
    pty.until("the pane", |s| s.contains("waiting for the model"));
    let started = Instant::now();
    pty.send(ESC);
    pty.until("the end of the turn", |s| s.contains("interrupted"));
    assert!(started.elapsed() < crate::support::wait::DEADLINE, "{:?}", started.elapsed());
    pty.until_prompt("");
    pty.line("/retry");
    pty.until("the answer", |s| s.contains("now it answers"));
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn what_is_typed_while_a_turn_runs_comes_back_to_the_prompt_or_is_sent_next() {
    let server = MockServer::start([
        Reply::stream()
            .wait(Duration::from_millis(700))
            .write(openai_events(&[Say::Text("first answer")]).concat())
            .close(),
        Reply::openai(&[Say::Text("second answer")]),
    ]);
    let mut pty = with_model(&server).open();
    pty.line("one");
    pty.until("the pane", |s| s.contains("waiting for the model"));
    pty.send("two\r");
    pty.until("the queue", |s| s.contains("1 after this turn: two"));
    pty.send("and a draft");
    pty.until("both answers", |s| s.contains("first answer") && s.contains("second answer"));
    pty.until("the draft", |s| s.contains("] > and a draft") || s.contains("> and a draft"));
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_project_s_settings_wait_for_trust_and_hold_after_it() {
    let settings = "mode = \"write\"\n[permission]\nallow = [\"run_command\"]\n";
    let mut pty = shell().file(".placet/config.toml", settings).spawn();
    pty.until("the question", |s| s.contains("would set:") && s.contains("Type `trust`"));
    assert!(pty.screen().contains("permission.allow = [\"run_command\"]"));
    pty.answer("trust\r");
    pty.until("the mode of the project", |s| s.contains("placet [w] >"));
    pty.line("run echo trusted-$((1+1))");
    pty.until("the command", |s| s.contains("trusted-2"));
}

#[test]
fn a_project_that_is_not_trusted_changes_nothing() {
    let mut pty = shell().file(".placet/config.toml", "mode = \"unrestricted\"\n").spawn();
    pty.until("the question", |s| s.contains("Type `trust`"));
    pty.answer("\r");
    pty.until("the prompt", |s| s.contains("placet [a] >"));
}

#[test]
fn a_session_that_cannot_be_saved_is_held_and_said_not_to_be() {
    let state = tempfile::TempDir::new().unwrap();
    let mut pty =
        shell().variable("XDG_STATE_HOME", state.path().to_str().unwrap()).file("a.txt", "alpha\n").open();
    // Where the locks of open sessions should be, a file stands in the way.
    std::fs::write(state.path().join("placet/open"), "").unwrap();
    pty.line("show a.txt");
    pty.until("the answer", |s| s.contains("is not saved") && s.contains("│alpha"));
    pty.until_prompt("");
}

#[test]
fn the_prompt_shows_what_was_read_and_a_reset_asks_and_begins_anew() {
    // A menu at the last row of a low window makes room for itself.
    let mut pty = shell()
        .size(80, 40)
        .variable("PLACET_CLASSIFICATION_PATHS", "CONFIDENTIAL:secret/**")
        .file("secret/plan.txt", "the plan\n")
        .open();
    pty.line("/taint");
    pty.until("nothing yet", |s| {
        s.contains("session level: PUBLIC; this provider may receive up to CONFIDENTIAL")
    });
    pty.until_prompt("");
    pty.line("show secret/plan.txt");
    pty.until("the level in the prompt", |s| s.contains("placet [a] CONFIDENTIAL >"));
    pty.line("/taint reset");
    pty.until("a question", |s| s.contains("Type `reset` to start a new conversation"));
    pty.answer("no\r");
    pty.until("nothing happened", |s| s.contains("nothing was changed"));
    pty.line("/taint reset");
    pty.until("the question again", |s| s.matches("Type `reset` to start a new conversation").count() == 2);
    pty.answer("reset\r");
    pty.until("started a new conversation", |s| {
        s.contains("started a new conversation; the previous session is")
    });
    pty.until_prompt("");
    pty.line("/taint");
    pty.until("PUBLIC again", |s| s.matches("session level: PUBLIC; this provider").count() == 2);
}

#[test]
fn a_hook_may_keep_a_conversation_from_being_left() {
    let hook =
        r#"[{ name = "stay", point = "SESSION_RESET", deny = "", reason = "write your notes first" }]"#;
    let mut pty = shell().variable("PLACET_HOOKS", hook).open();
    pty.line("help");
    pty.until("an answer", |s| s.contains("call TOOL ARGUMENTS"));
    pty.until_prompt("");
    pty.line("/new");
    pty.until("the refusal", |s| {
        let words = s.split_whitespace().collect::<Vec<_>>().join(" ");
        words.contains("this conversation continues: the hook `stay` blocks it: write your notes first")
    });
}
