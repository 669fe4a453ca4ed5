//! Esc Esc: the list of what to rewind, and what each choice undoes.

use super::menus::{DOWN, ESC, UP, press};
use crate::support::pty::shell;
use crate::support::require::has_view;
use crate::support::require::require;

/// Story: at 80 columns the list said everything but what happens to the pending changes.
#[test]
fn the_list_of_what_to_rewind_shows_each_consequence_in_full() {
    let mut pty = shell().size(80, 24).arg("--mode").arg("ask").open();
    for (name, key, prompt) in [("a.txt", "a", "placet [a] >"), ("b.txt", "k", "placet [a] ±1 >")] {
        pty.line(&format!("create {name} with \"1\""));
        pty.until("the question", |s| s.contains("lines: apply?") && s.contains(name));
        pty.answer(key);
        pty.until("the prompt", |s| s.trim_end().ends_with(prompt));
    }
    pty.line("/rewind");
    pty.until("the turns", |s| s.contains("Rewind to before a turn") && s.contains("create a.txt"));
    // Nothing is undone here: there is nothing that an edit could be lost in.
    pty.until("the preview", |s| {
        s.contains("- no applied changes; changes to 1 file stay pending")
            && !s.contains("your own later edits")
    });
    // The present has a row of its own above the last turn, and nothing is rewound there.
    assert!(
        pty.screen().contains("\n   (current)") && pty.screen().contains("\n❯  create b.txt"),
        "{}",
        pty.screen()
    );
    press(&mut pty, UP);
    pty.until("what the present is", |s| s.contains("The conversation is here. Enter changes nothing."));
    press(&mut pty, "\r");
    pty.until("the prompt as it was", |s| {
        s.trim_end().ends_with("placet [a] ±1 >") && s.contains("create b.txt")
    });
    pty.line("/rewind");
    pty.until("the turns again", |s| s.contains("\n❯  create b.txt"));
    press(&mut pty, DOWN);
    press(&mut pty, "\r");
    pty.until("what goes back", |s| {
        let words = s.split_whitespace().collect::<Vec<_>>().join(" ");
        let left = "1 file +1 -0 undone, 2 turns leave the conversation; changes to 1 file stay pending";
        words.contains(&format!("files and conversation {left}"))
            && words.contains(
                "only files 1 file +1 -0 undone; the conversation stays; changes to 1 file stay pending",
            )
    });
}

/// Story: a rewind undid a commit that none of its screens named, and the commit was gone from the log.
#[test]
fn each_screen_of_a_rewind_names_the_commit_that_it_undoes() {
    if !has_view() || !require("git") {
        return;
    }
    let files = [("legacy.py", "old\n"), ("a.txt", "1\n")];
    let start = shell().size(80, 24).arg("--mode").arg("ask");
    let mut pty = files.iter().fold(start, |start, (name, text)| start.file(name, text)).open();
    pty.line("!git init -q -b main . && git config user.name A && git config user.email a@x && git add . && git commit -qm F && echo made");
    pty.until("the repository", |s| s.lines().any(|line| line.trim_end() == "made"));
    for (line, applied) in [
        ("run for n in 1 2 3 4 5; do echo $n > f$n.txt; done", "applied changes to 5 files"),
        ("run git rm -q legacy.py; git commit -qm Drop", "applied changes to 1 file and 1 repository"),
    ] {
        pty.line(line);
        pty.until("the question", |s| s.contains("apply?") && s.contains("Apply"));
        pty.answer("a");
        pty.until(applied, |s| s.contains(applied));
    }
    let joined = |s: &str| s.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
    let commit = "\"Drop\" on main: 1 file +0 -1";
    pty.line("/rewind");
    pty.until("the row and the preview", |s| {
        s.contains("1 file and 1 repository +0 -1  just now")
            && joined(s).contains("- 1 file and 1 repository +0 -1 undone (your own later edits stay)")
            && s.contains(".git: commit ")
            && s.contains(commit)
            && s.contains("(/tree opens it again)")
    });
    press(&mut pty, DOWN);
    // The preview has seven rows, and says what it leaves out.
    pty.until("both turns", |s| {
        s.contains("- 6 files and 1 repository +5 -1 undone (your own later edits stay)")
            && s.contains(commit)
            && s.contains("... ")
            && s.contains(" more")
    });
    press(&mut pty, UP);
    press(&mut pty, "\r");
    pty.until("what goes back", |s| {
        joined(s).contains(
            "files and conversation 1 file and 1 repository +0 -1 undone, 1 turn leaves the conversation",
        ) && s.contains("Undone in the workspace:")
            && s.contains(commit)
    });
    press(&mut pty, "\r");
    pty.until("the way back", |s| s.contains("undid changes to 1 file and 1 repository"));
    assert!(pty.exists("legacy.py"));
}

/// Story: nine files were pending, and the second screen said ten: one of them had changed in two turns.
#[test]
fn a_file_that_two_turns_changed_is_one_pending_file_in_the_list_of_what_to_rewind() {
    if !has_view() {
        return;
    }
    let mut pty = shell().size(80, 24).arg("--mode").arg("ask").open();
    for (line, prompt) in [
        ("run echo 1 > a.txt", "placet [a] ±1 >"),
        ("run echo 2 >> a.txt; echo 1 > b.txt", "placet [a] ±2 >"),
    ] {
        pty.line(line);
        pty.until("the question", |s| s.contains("lines: apply?") && s.contains(line));
        pty.answer("k");
        pty.until("the prompt", |s| s.trim_end().ends_with(prompt));
    }
    pty.line("/rewind");
    pty.until("the turns", |s| s.contains("Rewind to before a turn") && s.contains("2 pending"));
    press(&mut pty, DOWN);
    pty.until("the preview", |s| {
        let words = s.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ");
        words.contains("changes to 2 files stay pending") && words.contains("2 turns leave the conversation")
    });
}

#[test]
fn escape_twice_clears_the_line_or_opens_the_list_of_turns() {
    let mut pty = shell().arg("--mode").arg("write").file("a.txt", "one\n").open();
    for line in ["write b.txt hello", "run echo two >> a.txt"] {
        pty.line(line);
        pty.until(line, |s| s.contains(line) && s.matches("placet [").count() > 1);
        pty.until_prompt("");
    }
    pty.send("a line");
    press(&mut pty, ESC);
    press(&mut pty, ESC);
    pty.until_prompt("");
    press(&mut pty, UP);
    pty.until_prompt("a line");
    press(&mut pty, "\x03");
    pty.until_prompt("");
    press(&mut pty, ESC);
    press(&mut pty, ESC);
    pty.until("the turns", |s| s.contains("Rewind to before a turn") && s.contains("1 file +1 -0"));
    press(&mut pty, ESC);
    pty.until_prompt("");
    pty.line("/rewind");
    pty.until("the turns", |s| s.contains("Rewind to before a turn") && s.contains("run echo two"));
    press(&mut pty, "\r");
    pty.until("what goes back", |s| s.contains("files and conversation") && s.contains("only files"));
    press(&mut pty, "\r");
    pty.until("the way back", |s| s.contains("the conversation is rewound to before that turn"));
    assert_eq!(pty.read("a.txt"), "one\n");
    pty.until_prompt("run echo two >> a.txt");
}
