//! `placet apply` at a terminal: a person sees what is applied, before it and after it.

use crate::support::pty::{Pty, shell};
use crate::support::require::has_view;
use crate::support::require::require;

const CART: &str = "class Cart:\n    def total(self):\n        return 0\n";
const EDITS: &str =
    r#"replace "return 0" with "return 1" in cart.py anyway and then create b.txt with "two""#;

/// Two files are pending.
fn pending() -> Pty {
    let start = shell().size(80, 30).arg("-p").arg(EDITS).arg("--mode").arg("ask");
    let mut pty = start.file("cart.py", CART).spawn();
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
    pty
}

fn placet(pty: Pty, args: &[&str]) -> Pty {
    args.iter().fold(shell().size(80, 30), |start, arg| start.arg(arg)).after(pty).spawn()
}

fn question(pty: &Pty) {
    pty.until("the question", |s| s.contains("2 files, +2 -1 lines: apply?") && !s.contains("a moment"));
}

/// Story: it applied at once, and a person who wanted to look first had to know two other commands.
#[test]
fn apply_at_a_terminal_shows_the_rows_and_asks() {
    let mut pty = placet(pending(), &["apply"]);
    question(&pty);
    insta::assert_snapshot!(pty.screen().trim_end());
    assert!(!pty.exists("b.txt"));
    pty.answer("k");
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
    assert!(pty.screen().contains("pending: `placet changes --patch`"), "{}", pty.screen());
    assert!(!pty.exists("b.txt") && pty.read("cart.py") == CART);

    let mut pty = placet(pty, &["apply"]);
    question(&pty);
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/2 hunks"));
    pty.answer("q");
    question(&pty);
    pty.answer("a");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    insta::assert_snapshot!(pty.screen().trim_end());
    assert_eq!((pty.read("b.txt").as_str(), pty.exists("cart.py")), ("two", true));

    // It is one turn of its own, as without the question.
    let mut pty = placet(pty, &["undo"]);
    assert_eq!(pty.ended(), 0);
    assert!(pty.screen().contains("undid changes to 2 files"), "{}", pty.screen());
}

/// A script that goes on with what was applied must not go on.
#[test]
fn a_discard_at_the_question_is_no_apply() {
    let mut pty = placet(pending(), &["apply"]);
    question(&pty);
    pty.answer("d");
    pty.answer("d");
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
    assert!(pty.screen().contains("discarded changes to 2 files; placet undo restores them"));
    assert!(!pty.exists("b.txt"));
    let mut pty = placet(pty, &["changes"]);
    assert_eq!(pty.ended(), 0);
    assert!(pty.screen().contains("nothing is pending"), "{}", pty.screen());
}

/// Where the command line says what is applied, nothing asks, and what was applied is shown.
#[test]
fn apply_with_a_path_or_yes_applies_at_once_and_shows_the_difference() {
    let mut pty = placet(pending(), &["apply", "cart.py"]);
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    insta::assert_snapshot!(pty.screen().trim_end());
    let mut pty = placet(pty, &["apply", "--yes", "--set", "ui.applied=rows"]);
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    let screen = pty.screen();
    assert!(screen.contains("  A b.txt  +1 -0") && !screen.contains("+ two"), "{screen}");
    assert_eq!(pty.read("b.txt"), "two");

    for (setting, rows) in [("ui.applied=line", 0), ("ui.linear=true", 2)] {
        let mut pty = placet(pending(), &["apply", "-y", "--set", setting]);
        assert_eq!(pty.ended(), 0, "{}", pty.screen());
        let screen = pty.screen();
        assert!(screen.contains("applied changes to 2 files; placet undo reverts them"), "{screen}");
        let found = screen.matches("M cart.py +1 -1").count() + screen.matches("A b.txt +1 -0").count();
        assert!(found == rows && !screen.contains("return 1"), "{setting}: {screen}");
    }
}

/// Line by line, the question is answered by a number.
#[test]
fn apply_asks_line_by_line_too() {
    let mut pty = placet(pending(), &["apply", "--set", "ui.linear=true"]);
    pty.until("the question", |s| s.contains("apply?") && s.contains("review"));
    // A number counts only where it was typed after the question.
    std::thread::sleep(std::time::Duration::from_millis(1500));
    pty.line("1");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert_eq!(pty.read("b.txt"), "two");
}

/// Story: a commit added a file and the next one removed it. One press applied both, and the file was on no screen.
#[test]
fn what_only_a_commit_contains_is_shown_before_it_is_applied() {
    if !has_view() || !require("git") {
        return;
    }
    let script = "git init -q -b main .; git config user.name A; git config user.email a@x; git add .; git commit -qm F
        placet() { \"$PLACET\" run -- sh -c \"$1\" </dev/null; }
        placet 'echo two > cart.py; git commit -qam Two'; \"$PLACET\" apply --yes >/dev/null
        placet 'seq 900 990 > s.txt; git add s.txt; git commit -qm Add; git rm -q s.txt; git commit -qm Drop'; echo made";
    let start = shell().size(80, 24).program("sh").arg("do.sh").file("do.sh", script).file("cart.py", CART);
    let mut pty = start.variable("PLACET", crate::support::program::placet()).spawn();
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert!(pty.screen().contains("made") && pty.read("cart.py") == "two\n", "{}", pty.screen());
    let mut pty = placet(pty, &["apply"]);
    pty.until("the question", |s| s.contains("Keep pending") && !s.contains("a moment"));
    assert!(pty.screen().contains("+ 900"), "{}", pty.screen());
    pty.answer("a");
    pty.until("the second look", |s| s.contains("[Back]"));
    assert!(pty.screen().contains("\"Add\" on main"), "{}", pty.screen());
    pty.answer("b");
    pty.until("the question again", |s| s.contains("Keep pending"));
    pty.answer("k");
    assert_eq!(pty.ended(), 3);
}

/// Story: a stash entry, a note and a tag on a file had a row each; one press applied them, and their contents were on no screen.
#[test]
fn what_git_stores_besides_commits_is_shown_before_it_is_applied() {
    if !has_view() || !require("git") {
        return;
    }
    let script = "git init -q -b main .; git config user.name A; git config user.email a@x; git add .; git commit -qm F
        \"$PLACET\" run -- sh -c 'echo in-stash >> cart.py; git stash -q; git notes add -m in-note
            git tag b $(echo in-tag | git hash-object -w --stdin); echo in-nothing | git hash-object -w --stdin' </dev/null
        echo made";
    let start = shell().size(80, 40).program("sh").arg("do.sh").file("do.sh", script).file("cart.py", CART);
    let mut pty = start.variable("PLACET", crate::support::program::placet()).spawn();
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    let mut pty = placet(pty, &["changes"]);
    pty.ended();
    let listed = pty.screen();
    for row in ["stash entry ", "notes commits created at ", "tag b created at "] {
        assert!(listed.contains(row), "{row}: {listed}");
    }
    let mut pty = placet(pty, &["apply"]);
    pty.until("the question", |s| s.contains("Keep pending") && !s.contains("a moment"));
    for content in ["+ in-stash", "+ in-note", "+ in-tag"] {
        assert!(pty.screen().contains(content), "{content}: {}", pty.screen());
    }
    // Nothing leads to it, so it is not applied.
    assert!(!pty.screen().contains("+ in-nothing"), "{}", pty.screen());
    pty.answer("a");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
}

/// In twelve rows less of the content is on the screen, and the first press names it.
#[test]
fn a_stash_entry_that_was_not_shown_needs_a_second_yes() {
    if !has_view() || !require("git") {
        return;
    }
    let script = "git init -q -b main .; git config user.name A; git config user.email a@x; git add .; git commit -qm F
        \"$PLACET\" run -- sh -c 'seq 900 990 >> cart.py; git stash -q' </dev/null
        echo made";
    let start = shell().size(80, 24).program("sh").arg("do.sh").file("do.sh", script).file("cart.py", CART);
    let mut pty = start.variable("PLACET", crate::support::program::placet()).spawn();
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    let mut pty = placet(pty, &["apply"]);
    pty.until("the question", |s| s.contains("Keep pending") && !s.contains("a moment"));
    pty.answer("a");
    pty.until("the second look", |s| s.contains("[Back]") && s.contains("stash entry"));
    pty.answer("b");
    pty.until("the question again", |s| s.contains("Keep pending"));
    pty.answer("k");
    assert_eq!(pty.ended(), 3);
}
