//! Sentences that a person types at a question, letter by letter and at the speeds of a hand, decide nothing. Long, so all of
//! them are typed with `PLACET_FULL=1` only.

use super::question_keys::{apply_question, permission_question};
use crate::support::pty::{Pty, shell};
use crate::support::require::has_view;
use crate::support::{is_full, some_of};
use std::time::Duration;

const SENTENCES: [&str; 10] = [
    "apply it once the tests pass",
    "yes, and rename the function",
    "no, keep the old name",
    "discard that and start again",
    "review the second file first",
    "always say why you do that",
    "keep going",
    "run the tests again, please",
    "more of this, but shorter",
    "a",
];

/// Types them at the question that has `words`, and clears the line after each.
pub(crate) fn are_text_at(pty: &mut Pty, words: &str) {
    pty.until("the question", |s| s.contains(words));
    let speeds: &[u64] = if is_full() { &[130, 700] } else { &[10] };
    for (speed, sentence) in
        speeds.iter().flat_map(|speed| some_of(&SENTENCES, 5).map(move |one| (speed, one)))
    {
        for letter in sentence.chars() {
            std::thread::sleep(Duration::from_millis(*speed));
            pty.send(letter.encode_utf8(&mut [0; 4]));
        }
        let typed = format!("> {sentence}");
        pty.until("the text", |s| s.contains(&typed) && s.contains(words));
        pty.send("\x1b");
        pty.until("an empty line", |s| {
            !s.contains(&typed) && s.contains(words) && s.contains("Enter answers")
        });
    }
}

#[test]
fn at_the_apply_question() {
    let mut pty = apply_question();
    are_text_at(&mut pty, "apply?");
    assert_eq!(pty.read("a.txt"), "old\n");
    pty.answer("k");
    pty.until("what is pending", |s| s.contains("changes to 1 file are pending"));
}

#[test]
fn at_a_permission_question() {
    let mut pty = permission_question();
    are_text_at(&mut pty, "Allow this command?");
    assert!(!pty.exists("first"));
    pty.answer("n");
    pty.until("the refusal", |s| s.contains("you refused this call"));
}

#[test]
fn at_the_question_of_the_command_line_and_of_a_program() {
    if !has_view() {
        return;
    }
    let start = shell().size(80, 24).arg("run").arg("--").arg("echo new > made");
    let mut pty = start.spawn();
    are_text_at(&mut pty, "apply?");
    pty.answer("k");
    assert_eq!(pty.ended(), 3);
    let mut pty = shell().size(80, 24).arg("apply").after(pty).spawn();
    are_text_at(&mut pty, "apply?");
    assert!(!pty.exists("made"));
    pty.answer("k");
    assert_eq!(pty.ended(), 3);
}
