//! Instructions and memory as a person meets them in the shell: what `/context` names, `/init` with a model, and the tool
//! `remember`.

use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::settled;
use crate::support::pty::{Start, shell};

fn model(server: &MockServer) -> Start {
    ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url(), "--mode", "ask"]
        .iter()
        .fold(shell().size(120, 50), |start, arg| start.arg(arg))
}

/// The tokens in the row of `/context` that names this file.
fn tokens_of(screen: &str, file: &str) -> Option<String> {
    let row = screen.lines().rev().find(|line| line.split_whitespace().nth(1) == Some(file))?;
    let tokens = row.split_whitespace().nth(2)?;
    tokens.starts_with(|c: char| c.is_ascii_digit()).then(|| tokens.to_string())
}

#[test]
fn the_window_names_each_file_of_instructions_and_what_is_left_out_is_reported() {
    let read = Say::Call("c1", "read_file", r#"{"path":"sub/a.txt"}"#);
    let server = MockServer::start([
        Reply::openai(&[Say::Text("one")]),
        Reply::openai(&[read]),
        Reply::openai(&[Say::Text("two")]),
    ]);
    let mut pty = model(&server)
        .file("AGENTS.md", format!("See @docs/more.md and @/etc/passwd.\n{}", "rule\n".repeat(500)))
        .file("docs/more.md", "x".repeat(40_000))
        .file("sub/CLAUDE.md", "rules of sub\n".repeat(200))
        .file("sub/a.txt", "text")
        .open();
    pty.line("first");
    settled(&mut pty, "one");
    let screen = pty.transcript();
    assert!(screen.contains("it is imported from outside of the workspace"), "{screen}");
    let words: String = screen.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("bytes are not sent: instructions may have 32 KB"), "{screen}");
    pty.line("/context");
    settled(&mut pty, "docs/more.md");
    let screen = pty.screen();
    let found = ["AGENTS.md", "docs/more.md"].map(|file| tokens_of(&screen, file));
    assert!(found.iter().all(Option::is_some), "{found:?} {screen}");
    assert_eq!(tokens_of(&screen, "sub/CLAUDE.md"), None, "{screen}");
    pty.line("second");
    settled(&mut pty, "two");
    pty.line("/context");
    settled(&mut pty, "sub/CLAUDE.md");
    assert!(tokens_of(&pty.screen(), "sub/CLAUDE.md").is_some(), "{}", pty.screen());
}

#[test]
fn init_with_a_model_sends_what_is_known_and_its_file_is_a_question() {
    let file = Say::Call("c1", "write_file", r##"{"path":"AGENTS.md","content":"# Rules\n\nUse cargo.\n"}"##);
    let server = MockServer::start([Reply::openai(&[file]), Reply::openai(&[Say::Text("written")])]);
    let mut pty = model(&server).file("Cargo.toml", "[package]\nname = \"x\"\n").open();
    pty.line("/init");
    pty.until("the question", |screen| screen.contains("+ Use cargo.") && screen.contains("Yes, apply this"));
    let asked = server.requests()[0].body["messages"].to_string();
    assert!(
        asked.contains("- Build: `cargo build`") && asked.contains("the file") && asked.contains("AGENTS.md")
    );
    assert!(!pty.exists("AGENTS.md"));
    pty.until("keys to count", |screen| !screen.contains("a moment"));
    pty.answer("y");
    settled(&mut pty, "applied changes to 1 file");
    assert_eq!(pty.read("AGENTS.md"), "# Rules\n\nUse cargo.\n");
}

#[test]
fn what_the_model_remembers_is_a_question_about_the_line() {
    let call = |id| Say::Call(id, "remember", r#"{"text":"run make check"}"#);
    let server = MockServer::start([
        Reply::openai(&[call("c1")]),
        Reply::openai(&[Say::Text("one")]),
        Reply::openai(&[call("c2")]),
        Reply::openai(&[Say::Text("two")]),
    ]);
    let mut pty = model(&server).file("AGENTS.md", "# Rules\n").open();
    pty.line("first");
    pty.until("the line", |screen| {
        screen.contains("+ - run make check") && screen.contains("Yes, apply this")
    });
    assert_eq!(pty.read("AGENTS.md"), "# Rules\n");
    pty.until("keys to count", |screen| !screen.contains("a moment"));
    pty.answer("y");
    settled(&mut pty, "applied changes to 1 file");
    assert_eq!(pty.read("AGENTS.md"), "# Rules\n\n## Remembered\n\n- run make check\n");
    // The same line a second time changes nothing.
    pty.line("second");
    settled(&mut pty, "two");
    assert_eq!(pty.read("AGENTS.md").matches("run make check").count(), 1);
}
