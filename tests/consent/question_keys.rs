//! Letters at a question are text, and Enter answers: the apply question and the permission question as a person sees them.
//! The rules for keys are tested without a terminal in `ui/turn_pane/question`.

use crate::support::pty::{Pty, shell};

const ESC: &str = "\x1b";
const SENDS: &str = "Enter sends your text · Esc clears it";

/// A change of `a.txt` at the apply question.
pub(super) fn apply_question() -> Pty {
    let mut pty = shell().size(100, 30).arg("--mode").arg("ask").file("a.txt", "old\n").open();
    pty.line("replace \"old\" with \"new\" in a.txt");
    pty.until("the question", |s| s.contains("[Apply] · Review · Keep pending · Discard · More"));
    pty
}

/// A command that would run outside a view, so that it asks on every machine.
pub(super) fn permission_question() -> Pty {
    let start = shell().size(100, 30).arg("--mode").arg("write").arg("--set").arg("sandbox.backend=snapshot");
    let mut pty = start.open();
    ask(&mut pty, "touch first");
    pty
}

fn ask(pty: &mut Pty, command: &str) {
    pty.line(&format!("run {command}"));
    pty.until("the question", |s| s.contains("Allow this command?") && s.contains(&format!("$ {command}")));
}

#[test]
fn each_answer_of_the_apply_question_does_what_its_row_says() {
    for (answer, end, content) in [
        ("a", "applied changes to 1 file; /undo reverts them", "new\n"),
        ("k", "changes to 1 file are pending", "old\n"),
        (ESC, "changes to 1 file are pending", "old\n"),
        ("\x03", "changes to 1 file are pending", "old\n"),
    ] {
        let mut pty = apply_question();
        pty.answer(answer);
        pty.until(end, |s| s.contains(end));
        pty.until("a prompt", |s| s.trim_end().ends_with('>'));
        assert_eq!(pty.read("a.txt"), content, "{answer:?}");
    }

    let mut pty = apply_question();
    pty.answer("d");
    pty.until("once more", |s| s.contains("Discard · [Keep]"));
    pty.answer("d");
    pty.until("the discard", |s| s.contains("discarded changes to 1 file"));
    pty.until_prompt("");
    assert_eq!(pty.read("a.txt"), "old\n");

    let mut pty = apply_question();
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/1 hunk"));
    assert_eq!(pty.read("a.txt"), "old\n");
}

#[test]
fn enter_alone_takes_what_is_marked() {
    let mut pty = apply_question();
    pty.until_answers_count();
    pty.send("\r");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "new\n");
}

#[test]
fn what_only_looks_leaves_the_apply_question_open() {
    let mut pty = apply_question();
    let is_open = |s: &str| s.contains("- old") && s.contains("+ new");
    pty.until("the difference", is_open);
    pty.send(" ");
    pty.until("the closed row", |s| s.contains("a.txt") && !is_open(s));
    pty.send(" ");
    pty.until("the difference", is_open);
    pty.answer("m");
    pty.answer("p");
    pty.until("the patch", |s| s.contains("--- a/a.txt") && s.contains("@@"));
    pty.answer("m");
    pty.answer("p");
    pty.until("the list", |s| !s.contains("@@") && s.contains("apply?"));
    pty.send("\x1b[C");
    pty.until("the mark", |s| s.contains("Apply · [Review]"));
    pty.send("\t");
    pty.until("the mark", |s| s.contains("Review · [Keep pending]"));
    assert_eq!(pty.read("a.txt"), "old\n");
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("");
}

#[test]
fn each_answer_of_the_permission_question_does_what_its_row_says() {
    for (answers, end, runs) in [
        (&["y"][..], "1 created", true),
        (&["n"], "you refused this call", false),
        (&["m", "v"], "you refused this call: not in this session", false),
        (&[ESC], "you refused this call", false),
    ] {
        let mut pty = permission_question();
        answers.iter().for_each(|answer| pty.answer(answer));
        pty.until(end, |s| s.contains(end));
        pty.until_prompt("");
        assert_eq!(pty.exists("first"), runs, "{answers:?}");
        if answers.len() > 1 {
            pty.line("run touch first");
            pty.until("the refusal", |s| s.contains("you denied it for this session"));
        }
    }

    let mut pty = permission_question();
    pty.answer("m");
    pty.answer("w");
    pty.until("the reason", |s| s.contains("no rule or grant matches"));
    pty.answer("y");
    pty.until("what was not shown", |s| s.contains("[Back]") || s.contains("1 created"));

    // "Always" holds for this command, and the pattern behind `More` for those like it.
    for (answers, other) in [(&["a"][..], false), (&["m", "p"], true)] {
        let mut pty = permission_question();
        answers.iter().for_each(|answer| pty.answer(answer));
        pty.until("the command", |s| s.contains("1 created"));
        pty.until_prompt("");
        pty.line("run touch first");
        pty.until("the same command", |s| s.matches("exit code 0").count() == 2);
        pty.until_prompt("");
        pty.line("run touch second");
        match other {
            true => pty.until("another command", |s| s.contains("run touch second · 1 created")),
            false => pty.until("the question", |s| s.contains("Allow this command?")),
        }
    }
}

/// Story: `no, use 20 percent` showed the patch; `also add a test` applied everything.
#[test]
fn a_text_typed_at_a_question_is_the_reply_to_it() {
    for typed in ["no, use 20 percent", "also add a test", "a", "yes but keep price.py"] {
        let mut pty = apply_question();
        pty.send(typed);
        pty.until("the text", |s| s.contains(&format!("\n> {typed}")) && s.contains(SENDS));
        assert!(pty.screen().contains("+ new") && !pty.screen().contains("@@"), "{}", pty.screen());
        pty.send("\r");
        pty.until("the message", |s| s.contains(&format!("I have not applied these changes: {typed}")));
        assert_eq!(pty.read("a.txt"), "old\n");

        let mut pty = permission_question();
        pty.send(typed);
        pty.until("the text", |s| {
            s.contains(&format!("\n> {typed}")) && s.contains("Enter refuses and sends your text")
        });
        pty.send("\r");
        pty.until("the refusal", |s| s.contains(&format!("you refused this call: {typed}")));
        assert!(!pty.exists("first"));
    }
}

/// Story: after the text was deleted, `a` went to the model.
#[test]
fn after_a_text_was_cleared_the_question_has_the_keyboard_again() {
    let mut pty = apply_question();
    pty.send("hello");
    pty.until("the text", |s| s.contains(SENDS));
    pty.send(ESC);
    pty.until("an empty line", |s| s.contains("[Apply]") && !s.contains(SENDS));
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("");
}

/// Text and Enter in one read, and a paste with and without its marks, are text.
#[test]
fn a_burst_at_a_question_decides_nothing() {
    for burst in ["a\r", "aa\r", "y\ry\r", "\x1b[200~a\ra\r\x1b[201~\r"] {
        let mut pty = apply_question();
        pty.until_answers_count();
        pty.send(burst);
        pty.until("the message", |s| s.contains("I have not applied these changes: "));
        assert_eq!(pty.read("a.txt"), "old\n", "{burst:?}");
    }
}

/// Story: `yes but keep price.py` ran `rm -rf src` without a sandbox.
#[test]
fn a_command_that_destroys_data_is_marked_no() {
    let mut pty = shell().size(100, 30).arg("--mode").arg("unrestricted").file("src/a.txt", "old\n").open();
    ask(&mut pty, "rm -rf src");
    pty.until_answers_count();
    assert!(pty.screen().contains("Yes · [No]"), "{}", pty.screen());
    pty.send("\r");
    pty.until_prompt("");
    assert_eq!(pty.read("src/a.txt"), "old\n");
    ask(&mut pty, "rm -rf src");
    pty.answer("y");
    pty.until_prompt("");
    assert!(!pty.exists("src"));
}

/// Story: `c` in the review was "too early", and the letters of the comment accepted the hunk.
#[test]
fn a_comment_in_the_review_is_text_as_soon_as_its_keys_are_named() {
    for comment in ["leave it as it was", "rather keep the old words"] {
        let mut pty = apply_question();
        pty.answer("r");
        pty.until("the review and its keys", |s| s.contains("0/1 hunk") && s.contains("a accept"));
        pty.send(&format!("]c{comment}\r"));
        pty.until("the comment", |s| s.contains("»1") && s.contains(comment));
        assert!(pty.screen().contains("0/1 hunk"), "{}", pty.screen());
    }
}

/// What the terminal answers about its background is no text and no key of the question, however it comes.
#[test]
fn an_answer_of_the_terminal_answers_no_question() {
    const ANSWER: &str = "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\";
    let mut pty = apply_question();
    pty.send(ANSWER);
    let (first, second) = ANSWER.split_at(7);
    pty.send(first);
    pty.send(second);
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("");
}
