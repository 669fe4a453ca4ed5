//! Checks at the apply question, in the shell.

use crate::support::binary::Place;
use crate::support::pty::{Pty, Start, shell};
use crate::support::require::has_view;

const GREP: &str = "[checks.words]\ncommand = \"! grep -Hn bad *.txt | sed 's/:bad/:1: error: a bad word/' | grep .\"\npaths = [\"*.txt\"]\nrequired = true\n";

fn ask_mode(settings: &str) -> Start {
    shell().arg("--mode").arg("ask").size(100, 30).config(settings)
}

fn joined(screen: &str) -> String {
    screen.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn behind_more(pty: &mut Pty, letter: &str) {
    pty.answer("m");
    pty.answer(letter);
}

fn asked(mut pty: Pty, command: &str) -> Pty {
    pty.line(&format!("run {command}"));
    pty.until("the question", |s| s.contains("Apply"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty
}

#[test]
fn a_required_check_must_pass_before_a_yes_applies_anything() {
    if !has_view() {
        return;
    }
    let pty = ask_mode(GREP).file("a.txt", "one\n").file("b.txt", "two\nthree\n").open();
    let mut pty = asked(pty, "sed -i s/three/bad/ b.txt");
    pty.until("the check", |s| s.contains("words (required): not run on this state"));
    pty.answer("a");
    pty.until("the refusal", |s| {
        joined(s).contains("not applied: the required check words must pass first; More runs it")
    });
    assert_eq!(pty.read("b.txt"), "two\nthree\n");
    behind_more(&mut pty, "t");
    pty.until("the result", |s| s.contains("✗ words (required): failed: 1 error"));
    // The failure leads to the file as it is pending.
    behind_more(&mut pty, "o");
    pty.until("the output", |s| s.contains("output of words") && s.contains("b.txt:2:1: error"));
    pty.send("\r");
    pty.until("the file", |s| s.contains("b.txt") && s.contains("2 of 2") && s.contains("bad"));
    pty.send("q");
    pty.until("the output again", |s| s.contains("output of words"));
    pty.send("q");
    pty.until("the question again", |s| s.contains("Keep pending"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty.answer("k");
    pty.until("the end", |s| s.contains("are pending: /apply"));
    let mut pty = asked(pty, "sed -i s/bad/good/ b.txt");
    pty.until("the old result", |s| {
        s.contains("failed before the last changes to 1 file; not run on this state")
    });
    behind_more(&mut pty, "o");
    pty.until("the old output", |s| {
        s.contains("output of words, before the last changes") && s.contains("b.txt:2:1: error")
    });
    pty.send("q");
    pty.until("the question again", |s| s.contains("Keep pending") && !s.contains("output of words,"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    behind_more(&mut pty, "t");
    pty.until("the new result", |s| s.contains("✓ words (required): passed in this state"));
    pty.answer("a");
    pty.until("the apply", |s| {
        s.contains("applied changes to 1 file") && s.contains("checked: words passed in state ")
    });
    assert_eq!(pty.read("b.txt"), "two\ngood\n");
}

/// Story: a check failed on changes that were discarded, and in another try its failure was that of the state before.
#[test]
fn a_failure_of_discarded_changes_is_not_shown_in_another_try() {
    if !has_view() {
        return;
    }
    let pty = ask_mode(GREP).file("b.txt", "two\nthree\n").open();
    let mut pty = asked(pty, "sed -i s/three/bad/ b.txt");
    behind_more(&mut pty, "t");
    pty.until("the result", |s| s.contains("✗ words (required): failed: 1 error"));
    pty.answer("d");
    pty.until("the second look", |s| s.contains("[Keep]"));
    pty.answer("d");
    pty.until("the discard", |s| s.contains("discarded changes"));
    pty.line("/try other");
    pty.until("the try", |s| s.contains("[a] other > "));
    pty.line("run sed -i s/three/four/ b.txt");
    pty.until("the question", |s| s.matches("Apply").count() > 0 && s.contains("+ four"));
    pty.until("the check", |s| s.contains("words (required): not run on this state"));
}

#[test]
fn a_check_of_the_apply_question_starts_with_it_and_ends_with_it() {
    if !has_view() {
        return;
    }
    let settings = "[checks.slow]\ncommand = \"touch started; sleep 1000\"\nwhen = \"apply\"\n";
    let pty = ask_mode(settings).file("a.txt", "one\n").open();
    let mut pty = asked(pty, "echo two > a.txt");
    pty.until("the run", |s| s.contains("slow: running ") && s.contains(" s"));
    // A check that is not required is never waited for.
    pty.answer("a");
    pty.until("the apply", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "two\n");
    assert!(!pty.exists("started"));
    let mut pty = asked(pty, "echo three > a.txt");
    pty.until("the next run", |s| s.contains("slow: running "));
    pty.answer("d");
    pty.until("the second look", |s| s.contains("[Keep]"));
    pty.answer("d");
    pty.until("the discard", |s| s.contains("discarded changes"));
}

#[test]
fn a_wrong_setting_does_not_look_like_a_check_that_passed() {
    if !has_view() {
        return;
    }
    let pty = ask_mode("[checks.x]\noutput = \"regex\"\ncommand = \"true\"\nrequired = true\n")
        .file("a.txt", "one\n")
        .open();
    let mut pty = asked(pty, "echo two > a.txt");
    pty.until("the mistake", |s| s.contains("cannot run: the check `x` has the output `regex`"));
    pty.answer("a");
    pty.until("the refusal", |s| s.contains("must pass first"));
    pty.answer("k");
    pty.until("the end", |s| s.contains("are pending: /apply"));
    assert_eq!(pty.read("a.txt"), "one\n");
}

#[test]
fn the_moment_of_a_check_is_one_of_two_words() {
    let place = Place::with_notes().config("[checks.x]\ncommand = \"true\"\nwhen = \"sometimes\"\n");
    place.run(["checks", "run"]).warns("sometimes");
}

/// Partial acceptance that breaks the check, and the check that says so.
#[test]
fn the_review_checks_exactly_what_is_accepted() {
    if !has_view() {
        return;
    }
    let text: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let pty = ask_mode(GREP).file("a.txt", &text).open();
    let mut pty = asked(pty, "sed -i -e s/^line.5$/bad/ -e s/^line.35$/good/ a.txt");
    pty.answer("r");
    pty.until("the review", |s| s.contains(" hunks"));
    let decide = |pty: &mut Pty, keys: &str, decided: &str| {
        pty.answer(keys);
        pty.until(decided, |s| s.contains(decided));
    };
    decide(&mut pty, "t", "nothing is accepted");
    decide(&mut pty, "a", "1/2 hunks");
    decide(&mut pty, "r", "2/2 hunks");
    // The summary names a required check that did not run.
    decide(&mut pty, "\r", "check      words (required): not run on what you accepted; t runs it");
    decide(&mut pty, "\x1b", "nothing was applied");
    decide(&mut pty, "t", "failed on what you accepted: words; o shows the output");
    assert!(pty.screen().contains("checks failed"), "{}", pty.screen());
    decide(&mut pty, "\r", "words (required): failed: 1 error");
    decide(&mut pty, "a", "the required check words failed on what you accepted; o shows the output");
    decide(&mut pty, "[[r", "checked before");
    decide(&mut pty, "o", "output of words, before your last decisions");
    decide(&mut pty, "q", "checked before");
    decide(&mut pty, "]a", "✓1 ✗1");
    pty.by_hand("\r");
    pty.until("what changed", |s| s.contains("the checks saw the changes before your last 2 decisions"));
    pty.by_hand("t");
    pty.until("the result in the summary", |s| {
        s.contains("words (required): passed on what was accepted") && !s.contains("before your last")
    });
    decide(&mut pty, "a", "checked: words passed in state ");
    let expected = text.replace("line 35\n", "good\n");
    assert_eq!(pty.read("a.txt"), expected);
}

/// The program's view has a lock of this process: the checks use the view itself, at the question and in the review.
#[test]
fn checks_run_at_the_question_of_a_program() {
    if !has_view() {
        return;
    }
    let settings = GREP.replace("required = true", "required = true\nwhen = \"apply\"");
    let start = shell().size(100, 30).config(&settings).file("a.txt", "one\n").arg("run");
    let mut pty = start.arg("--").arg("sh").arg("-c").arg("echo good >> a.txt").spawn();
    pty.until("the result", |s| s.contains("✓ words (required): passed in this state"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty.answer("r");
    pty.until("the review", |s| s.contains(" hunk"));
    pty.answer("a");
    pty.until("the decision", |s| s.contains("1/1 hunk"));
    pty.by_hand("t");
    pty.until("the checks of the review", |s| s.contains("checks passed"));
    pty.by_hand("q");
    pty.until("the question again", |s| s.contains("Keep pending"));
    pty.until("keys to count", |s| !s.contains("a moment"));
    pty.answer("a");
    pty.ended();
    assert_eq!(pty.read("a.txt"), "one\ngood\n");
}
