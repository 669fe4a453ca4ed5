//! Each key of the apply question and of the permission question does what its row says, and every other key does
//! nothing but show the row again.

use crate::support::pty::{Pty, shell};
use std::time::Duration;

const ESC: &str = "\x1b";

/// A change of `a.txt` at the apply question.
fn apply_question() -> Pty {
    let mut pty = shell().size(100, 30).arg("--mode").arg("ask").file("a.txt", "old\n").open();
    pty.line("replace \"old\" with \"new\" in a.txt");
    pty.until("the question", |s| s.contains("1 file, +1 -1 lines: apply?"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty
}

/// A command that would run outside a view, so that it asks on every machine.
fn permission_question() -> Pty {
    let start = shell().size(100, 30).arg("--mode").arg("write").arg("--set").arg("sandbox.backend=snapshot");
    let mut pty = start.open();
    ask(&mut pty, "touch first");
    pty
}

/// A key whose bytes come in one piece, as a terminal sends them, after the time in which letters belong together.
fn press(pty: &mut Pty, key: &str) {
    std::thread::sleep(Duration::from_millis(1_600));
    pty.send(key);
    std::thread::sleep(Duration::from_millis(200));
}

fn ask(pty: &mut Pty, command: &str) {
    pty.line(&format!("run {command}"));
    pty.until("the question", |s| s.contains("Allow this command?") && s.contains(&format!("$ {command}")));
    pty.until("keys to count", |s| !s.contains("a moment"));
}

#[test]
fn each_key_of_the_apply_question_does_what_its_row_says() {
    for (key, end, content) in [
        ("a", "applied changes to 1 file; /undo reverts them", "new\n"),
        ("k", "changes to 1 file are pending", "old\n"),
        (ESC, "changes to 1 file are pending", "old\n"),
    ] {
        let mut pty = apply_question();
        pty.answer(key);
        pty.until(end, |s| s.contains(end));
        pty.until("a prompt", |s| s.trim_end().ends_with('>'));
        assert_eq!(pty.read("a.txt"), content, "{key:?}");
    }

    let mut pty = apply_question();
    pty.answer("d");
    pty.until("the second press", |s| s.contains("press d again"));
    pty.answer("d");
    pty.until("the discard", |s| s.contains("discarded changes to 1 file"));
    pty.until_prompt("");
    assert_eq!(pty.read("a.txt"), "old\n");

    let mut pty = apply_question();
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/1 hunk"));
    assert_eq!(pty.read("a.txt"), "old\n");

    let mut pty = apply_question();
    pty.answer("b");
    pty.until("the field", |s| s.contains("why not?"));
    pty.by_hand("too early\r");
    pty.until("the message", |s| s.contains("I have not applied these changes: too early"));
    assert_eq!(pty.read("a.txt"), "old\n");
}

#[test]
fn the_keys_that_look_at_changes_leave_the_apply_question_open() {
    let mut pty = apply_question();
    let is_open = |s: &str| s.contains("- old") && s.contains("+ new");
    pty.until("the difference", is_open);
    pty.answer(" ");
    pty.until("the closed row", |s| s.contains("a.txt") && !is_open(s));
    pty.answer(" ");
    pty.until("the difference", is_open);
    pty.answer("p");
    pty.until("the patch", |s| s.contains("--- a/a.txt") && s.contains("@@"));
    pty.answer("p");
    pty.until("the list", |s| !s.contains("@@") && s.contains("apply?"));
    // Tab leads to the draft, where the letter of an answer is text.
    pty.answer("\t");
    pty.until("the draft", |s| s.contains("typing goes to your draft"));
    pty.answer("a");
    pty.until("the letter", |s| s.contains("\n> a"));
    assert_eq!(pty.read("a.txt"), "old\n");
    pty.answer("\t");
    pty.until("the question", |s| !s.contains("typing goes to your draft"));
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("a");
}

#[test]
fn a_wrong_key_at_the_apply_question_shows_the_keys_and_changes_nothing() {
    let mut pty = apply_question();
    for key in ["y", "n", "A", "K", "q", "z", "1", "?", "\r", "\x1b[15~", "\x06"] {
        press(&mut pty, key);
        let screen = pty.screen();
        assert!(screen.contains("a apply all") && screen.contains("d discard all"), "{key:?}\n{screen}");
        assert!(screen.trim_end().ends_with("\n>"), "{key:?} is in the draft\n{screen}");
        assert_eq!(pty.read("a.txt"), "old\n", "{key:?}");
    }
    press(&mut pty, "y");
    pty.until("the reminder", |s| s.contains("these keys answer: a apply all"));
    // A wrong key takes back what was pressed once.
    press(&mut pty, "d");
    pty.until("the second press", |s| s.contains("press d again"));
    press(&mut pty, "y");
    pty.until("the reminder", |s| s.contains("these keys answer") && !s.contains("press d again"));
    press(&mut pty, "d");
    pty.until("the second press again", |s| s.contains("press d again"));
    press(&mut pty, "y");
    press(&mut pty, "a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "new\n");
    pty.until_prompt("");
}

#[test]
fn each_key_of_the_permission_question_does_what_its_row_says() {
    for (key, end, runs) in [
        ("y", "1 created", true),
        ("n", "you refused this call", false),
        ("v", "you refused this call: not in this session", false),
        (ESC, "interrupted", false),
    ] {
        let mut pty = permission_question();
        pty.answer(key);
        pty.until(end, |s| s.contains(end));
        pty.until_prompt("");
        assert_eq!(pty.exists("first"), runs, "{key:?}");
        if key == "v" {
            pty.line("run touch first");
            pty.until("the refusal", |s| s.contains("you denied it for this session"));
        }
    }

    let mut pty = permission_question();
    pty.answer("b");
    pty.until("the field", |s| s.contains("why not?"));
    pty.by_hand("not today\r");
    pty.until("the refusal", |s| s.contains("you refused this call: not today"));
    assert!(!pty.exists("first"));

    // `a` holds for this command, `p` for those like it.
    for (key, other) in [("a", false), ("p", true)] {
        let mut pty = permission_question();
        pty.answer(key);
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

#[test]
fn a_wrong_key_at_the_permission_question_shows_the_keys_and_runs_nothing() {
    let mut pty = permission_question();
    for key in ["x", "Y", "r", "k", "d", "1", "?", "\r", " ", "\x1b[15~", "\x06"] {
        press(&mut pty, key);
        let screen = pty.screen();
        assert!(screen.contains("y yes") && screen.contains("n no"), "{key:?}\n{screen}");
        assert!(screen.trim_end().ends_with("\n>"), "{key:?} is in the draft\n{screen}");
        assert!(!pty.exists("first"), "{key:?}");
    }
    press(&mut pty, "x");
    pty.until("the reminder", |s| s.contains("these keys answer: y yes"));
    pty.answer("w");
    pty.until("the reason", |s| s.contains("w the call"));
    pty.answer("w");
    pty.until("the call", |s| s.contains("w why"));
    pty.answer("y");
    pty.until("the command", |s| s.contains("1 created"));
    assert!(pty.exists("first"));
}

/// Story: of `no, use 20 percent` only the `p` did something: it showed the patch.
#[test]
fn a_text_typed_at_the_apply_question_is_the_draft() {
    for typed in ["no, use 20 percent", "apply it later, please"] {
        let mut pty = apply_question();
        press(&mut pty, typed);
        pty.until("the draft", |s| s.trim_end().ends_with(&format!("\n> {typed}")));
        let screen = pty.screen();
        assert!(screen.contains("typing goes to your draft; Tab switches to the question"), "{screen}");
        assert!(screen.contains("+ new") && !screen.contains("@@"), "{screen}");
        assert_eq!(pty.read("a.txt"), "old\n");
        pty.answer("\t");
        pty.until("the question", |s| !s.contains("typing goes to your draft"));
        pty.answer("a");
        pty.until("the change", |s| s.contains("applied changes to 1 file"));
        pty.until_prompt(typed);
        assert_eq!(pty.read("a.txt"), "new\n");
    }
    // By hand, a letter after the other.
    let mut pty = apply_question();
    pty.answer("no, keep 19");
    pty.until("the draft", |s| s.trim_end().ends_with("\n> no, keep 19"));
    assert_eq!(pty.read("a.txt"), "old\n");
}

#[test]
fn a_text_typed_at_a_permission_question_is_the_draft() {
    let mut pty = permission_question();
    press(&mut pty, "yes, but not now");
    pty.until("the draft", |s| s.trim_end().ends_with("\n> yes, but not now"));
    assert!(!pty.exists("first"));
    pty.answer("\t");
    pty.until("the question", |s| !s.contains("typing goes to your draft"));
    pty.answer("y");
    pty.until("the command", |s| s.contains("1 created"));
    pty.until_prompt("yes, but not now");
}

/// Types with this time between two letters, whatever placet draws meanwhile.
fn type_slowly(pty: &mut Pty, text: &str, gap: u64) {
    std::thread::sleep(Duration::from_millis(600));
    for letter in text.chars() {
        pty.send(letter.encode_utf8(&mut [0; 4]));
        std::thread::sleep(Duration::from_millis(gap));
    }
}

/// Story: `also add a test` at 0.2 s a letter applied everything: the `a` answered after 0.15 s.
#[test]
fn a_sentence_at_the_speed_of_an_ordinary_typist_is_the_draft() {
    for (typed, gap) in [
        ("also add a test", 200),
        ("also add a test", 260),
        ("don't do that", 260),
        ("keep the rate", 120),
        ("rather use e", 200),
        ("but use tabs", 260),
    ] {
        let mut pty = apply_question();
        type_slowly(&mut pty, typed, gap);
        pty.until(&format!("the draft at {gap} ms"), |s| s.trim_end().ends_with(&format!("\n> {typed}")));
        let screen = pty.screen();
        assert!(screen.contains("typing goes to your draft"), "{screen}");
        assert_eq!(pty.read("a.txt"), "old\n");
    }
    for (typed, gap) in
        [("yes, later", 200), ("no, not that", 260), ("very well", 200), ("why that?", 260), ("but not", 200)]
    {
        let mut pty = permission_question();
        type_slowly(&mut pty, typed, gap);
        pty.until(&format!("the draft at {gap} ms"), |s| s.trim_end().ends_with(&format!("\n> {typed}")));
        assert!(!pty.exists("first"));
    }
}

/// Story: `a test is missing`, 0.3 s a letter, applied everything and left ` test is missing` at the prompt.
#[test]
fn a_slow_text_whose_first_letter_applied_is_whole_at_the_prompt() {
    for gap in [400, 700] {
        let mut pty = apply_question();
        type_slowly(&mut pty, "a test", gap);
        pty.until("the whole text", |s| s.trim_end().ends_with("> a test"));
        let words = "a answered the question (apply all); /undo reverts it; your text is in";
        pty.until("what the letter did", |s| s.contains(words));
        assert_eq!(pty.read("a.txt"), "new\n");
    }
    // A message in the usual pace is another text.
    let mut pty = apply_question();
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    std::thread::sleep(Duration::from_millis(400));
    pty.by_hand("now");
    pty.until("the message", |s| s.trim_end().ends_with("> now"));
}

/// Story: the `a` of `don't do that`, 0.8 s a letter, applied everything, and `add a test too` at a permission question left
/// an empty draft.
#[test]
fn a_slow_sentence_that_is_no_answer_is_whole_in_the_draft() {
    for (typed, gap) in [("don't do that", 800), ("yes but keep", 500)] {
        let mut pty = apply_question();
        type_slowly(&mut pty, typed, gap);
        pty.until(&format!("the draft at {gap} ms"), |s| s.trim_end().ends_with(&format!("\n> {typed}")));
        assert_eq!(pty.read("a.txt"), "old\n");
    }
    for (typed, gap) in [("keep it", 800), ("don't", 500)] {
        let mut pty = permission_question();
        type_slowly(&mut pty, typed, gap);
        pty.until(&format!("the draft at {gap} ms"), |s| s.trim_end().ends_with(&format!("\n> {typed}")));
        assert!(!pty.exists("first"));
    }
    // Discarded by the first two letters: the text is whole at the prompt.
    let mut pty = apply_question();
    type_slowly(&mut pty, "dd if it", 500);
    pty.until("the whole text", |s| s.trim_end().ends_with("> dd if it"));
    pty.until("what the letters did", |s| s.contains("d answered the question (discard all)"));
}

/// Story: the `a` of `maybe`, 0.6 s a letter, applied everything; `a y` and Enter, typed quickly, was a message.
#[test]
fn a_word_that_begins_with_no_key_is_the_draft_and_keys_are_no_message() {
    for (typed, gap) in [("maybe not", 600), ("my answer", 700), ("skip it", 1_000)] {
        let mut pty = apply_question();
        type_slowly(&mut pty, typed, gap);
        pty.until(&format!("the draft at {gap} ms"), |s| s.trim_end().ends_with(&format!("\n> {typed}")));
        assert_eq!(pty.read("a.txt"), "old\n");
    }
    let mut pty = apply_question();
    type_slowly(&mut pty, "a y\r", 120);
    pty.until("the row", |s| {
        s.contains("a y may be keys of a question: Enter sends it as a message, Esc removes it")
    });
    assert_eq!(pty.read("a.txt"), "old\n");
    pty.answer(ESC);
    pty.until("the question", |s| s.trim_end().ends_with("\n>") && !s.contains("typing goes to your draft"));
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("");
}

/// Story: `yes but keep price.py` ran `rm -rf src` without a sandbox.
#[test]
fn a_command_that_destroys_data_needs_enter() {
    let open = || {
        let mut pty =
            shell().size(100, 30).arg("--mode").arg("unrestricted").file("src/a.txt", "old\n").open();
        ask(&mut pty, "rm -rf src");
        pty
    };
    for gap in [120, 400, 800] {
        let mut pty = open();
        std::thread::sleep(Duration::from_millis(700));
        type_slowly(&mut pty, "yes but", gap);
        pty.until("the draft", |s| s.trim_end().ends_with("\n> yes but"));
        assert_eq!(pty.read("src/a.txt"), "old\n");
    }
    let mut pty = open();
    pty.answer("y");
    pty.until("the second key", |s| s.contains("Enter allows it"));
    assert_eq!(pty.read("src/a.txt"), "old\n");
    pty.answer("\r");
    pty.until_prompt("");
    assert!(!pty.exists("src"));
}

/// The rest of a sentence whose first letter opened the review decides nothing there, and opens no editor.
#[test]
fn a_text_that_opened_the_review_decides_nothing_in_it() {
    let mut pty = apply_question();
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/1 hunk"));
    for letter in "aEeArX".chars() {
        pty.send(letter.encode_utf8(&mut [0; 4]));
        std::thread::sleep(Duration::from_millis(200));
    }
    let screen = pty.screen();
    assert!(screen.contains("0/1 hunk"), "{screen}");
    // More slowly, no editor opens, and the screen says so.
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(800));
        pty.send("e");
    }
    pty.until("the reason", |s| s.contains("e came too early") && s.contains("0/1 hunk"));
    pty.answer("a");
    pty.until("the decision", |s| s.contains("1/1 hunk"));
    assert_eq!(pty.read("a.txt"), "old\n");
}

/// What the terminal answers about its background is no key of the question, however it comes.
#[test]
fn an_answer_of_the_terminal_answers_no_question() {
    const ANSWER: &str = "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\";
    let mut pty = apply_question();
    pty.send(ANSWER);
    let (first, second) = ANSWER.split_at(7);
    pty.send(first);
    std::thread::sleep(Duration::from_millis(90));
    pty.send(second);
    std::thread::sleep(Duration::from_millis(300));
    let screen = pty.screen();
    assert!(screen.contains("a apply all") && screen.trim_end().ends_with("\n>"), "{screen}");
    assert_eq!(pty.read("a.txt"), "old\n");
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    pty.until_prompt("");
}
