//! The questions with a few answers: a protected file, a budget, a hook; and what a terminal says of its background while
//! one of them is open.

use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::{Pty, shell};

const ESC: &str = "\x1b";
const ANSWER: &str = "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\";

/// The question about the only file that runs later.
fn protected_question() -> Pty {
    let mut pty = shell().size(110, 30).arg("--mode").arg("ask").open();
    pty.line("create .envrc with \"export A=1\"");
    pty.until("the file", |s| s.contains("! .envrc (created): apply this file?"));
    pty
}

#[test]
fn each_answer_about_a_protected_file_does_what_its_row_says() {
    for (keys, end, applies) in [
        (&["y"][..], "applied changes to 1 file", true),
        (&["n"], "changes to 1 file are pending", false),
        (&[ESC], "changes to 1 file are pending", false),
        (&["d", "d"], "discarded", false),
    ] {
        let mut pty = protected_question();
        assert!(!pty.screen().contains("keep the rest"), "there is no rest\n{}", pty.screen());
        assert!(pty.screen().contains("[No, keep it pending]"), "{}", pty.screen());
        keys.iter().for_each(|key| pty.answer(key));
        pty.until(end, |s| s.contains(end));
        pty.until("a prompt", |s| s.trim_end().ends_with('>'));
        assert_eq!(pty.exists(".envrc"), applies, "{keys:?}\n{}", pty.screen());
    }
    let mut pty = protected_question();
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/1 hunk"));
    assert!(!pty.exists(".envrc"));
}

#[test]
fn each_answer_about_a_budget_does_what_its_row_says() {
    for (key, requests) in [("g", 2), ("s", 1), (ESC, 1)] {
        let server = MockServer::start([
            Reply::openai(&[Say::Call("c1", "list_directory", "{}")]),
            Reply::openai(&[Say::Text("that is all")]),
        ]);
        let first = shell().open();
        let prices = "[openai-compatible.m]\nprice = { input = 3, output = 5 }\n";
        let settings = first.home().join(".config/placet");
        std::fs::create_dir_all(&settings).unwrap();
        std::fs::write(settings.join("models.toml"), prices).unwrap();
        let url = server.url();
        let arguments = ["--provider", "openai-compatible", "--model", "m", "--base-url", &url];
        let start = arguments.iter().fold(shell().size(110, 30), |start, arg| start.arg(arg));
        let mut pty = start.arg("--set").arg("budget.session=0.0001").after(first).open();
        pty.line("go on");
        pty.until("the question", |s| s.contains("for this session is used up") && s.contains("Continue?"));
        pty.answer(key);
        pty.until_prompt("");
        assert_eq!(server.requests().len(), requests, "{key:?}\n{}", pty.screen());
        assert_eq!(pty.transcript().contains("that is all"), requests == 2, "{key:?}");
    }
}

#[test]
fn each_answer_to_a_hook_does_what_its_row_says() {
    let hook = "[[hooks]]\nname = \"careful\"\npoint = \"AGENT_INVOCATION\"\nask = \"notes\"\nreason = \"look first\"\n";
    for (key, runs) in [("y", true), ("n", false), (ESC, false)] {
        let mut pty = shell().size(110, 30).config(hook).file("notes.txt", "the content\n").open();
        pty.line("search content in notes.txt");
        pty.until("the question", |s| s.contains("a hook asks: continue?") && s.contains("look first"));
        pty.answer(key);
        pty.until_prompt("");
        assert_eq!(pty.transcript().contains("1│the content"), runs, "{key:?}\n{}", pty.screen());
    }
}

/// Late, twice, in pieces, and in the middle of a paste: it is no key, and no part of the text.
#[test]
fn an_answer_of_the_terminal_is_no_key_of_a_question_and_no_part_of_a_paste_into_it() {
    let mut pty = protected_question();
    pty.send(ANSWER);
    pty.send(ANSWER);
    for at in [1, 2, 9, ANSWER.len() - 1] {
        let (first, second) = ANSWER.split_at(at);
        pty.send(first);
        pty.send(second);
    }
    pty.send(&format!("\x1b[200~yes {ANSWER}and no\x1b[201~"));
    pty.until("the text", |s| s.trim_end().ends_with("\n> yes and no"));
    assert!(!pty.exists(".envrc"));
    pty.send(ESC);
    pty.until("an empty line", |s| s.trim_end().ends_with("\n>"));
    pty.answer("y");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read(".envrc"), "export A=1");
}
