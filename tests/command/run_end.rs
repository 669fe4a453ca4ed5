//! The end of a program in `placet run`, from its last byte to the question: keys that were typed for the program, slow
//! ends, and readers of its errors that do not read.

use crate::support::binary::Place;
use crate::support::program::placet;
use crate::support::pty::{Pty, shell};
use crate::support::require::has_view;
use std::time::{Duration, Instant};

/// A script of a person, whose shell is in the group of placet: what the terminal sends goes to both.
fn script(line: &str) -> Pty {
    let text = format!("{} run -- sh -c '{line}'\necho \"[after $?]\"\n", placet());
    shell().size(100, 30).program("sh").file("script.sh", text).arg("script.sh").spawn()
}

fn raw_contains(pty: &Pty, word: &str) -> bool {
    pty.screen().contains(word)
}

#[test]
fn ctrl_c_between_the_program_and_the_question_ends_nothing() {
    if !has_view() {
        return;
    }
    // Enough files for a window that a person's second Ctrl-C hits.
    let mut pty = script("stty raw -echo; seq 400 | xargs touch; printf GONE");
    pty.until("the last output", |screen| screen.contains("GONE"));
    let deadline = crate::support::wait::Deadline::start();
    // Until the question is there, and for a moment after that: nobody can have read it.
    let mut shown: Option<Instant> = None;
    while shown.is_none_or(|at| at.elapsed() < Duration::from_millis(150)) {
        pty.send("\x03");
        std::thread::sleep(Duration::from_millis(3));
        if shown.is_none() && raw_contains(&pty, "Keep pending") {
            shown = Some(Instant::now());
        }
        assert!(!deadline.is_over(), "{}", pty.screen());
        assert!(!raw_contains(&pty, "[after"), "{}", pty.screen());
    }
    assert!(!pty.screen().contains("^C"), "{}", pty.screen());
    pty.until("keys to count", |screen| !screen.contains("a moment"));
    assert!(pty.screen().contains("Keep pending"), "{}", pty.screen());
    pty.answer("k");
    pty.until("the script goes on", |screen| screen.contains("[after 3]"));
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert!(pty.is_cooked() && pty.modes_on().is_empty(), "{:?}", pty.modes_on());
}

/// Story: the reason why a program failed was scrolled away when the question came.
#[test]
fn the_last_lines_of_the_program_are_above_the_question_as_text() {
    if !has_view() {
        return;
    }
    let words = r#"seq 100 120; printf "\033[31mwhy\033[0m: \342\200\256rtl\n"; echo x > made.txt; exit 4"#;
    let mut pty = script(words);
    pty.until("the question", |screen| screen.contains("Keep pending"));
    let screen = pty.screen();
    assert!(screen.starts_with("117\n118\n119\n120\nwhy: <U+202E>rtl\n"), "{screen}");
    assert!(screen.contains("exit code 4"), "{screen}");
    pty.answer("k");
    pty.until("the script goes on", |screen| screen.contains("[after 3]"));
    // What a program draws on the alternate screen is gone with it.
    let mut pty = script(r#"printf "\033[?1049hinside\033[?1049l"; echo bye; echo y > made.txt"#);
    pty.until("the question", |screen| screen.contains("Keep pending"));
    assert!(pty.screen().starts_with("bye\n") && !pty.screen().contains("inside"), "{}", pty.screen());
    pty.answer("k");
    pty.until("the script goes on", |screen| screen.contains("[after 3]"));
}

#[test]
fn keys_from_before_the_question_answer_nothing() {
    if !has_view() {
        return;
    }
    let mut pty = script("stty raw -echo; echo x > made.txt; seq 300 | xargs touch; printf GONE");
    pty.until("the last output", |screen| screen.contains("GONE"));
    pty.send("d");
    std::thread::sleep(Duration::from_millis(2));
    pty.send("dak\r\r");
    pty.until("the question", |screen| screen.contains("Keep pending"));
    pty.until("keys to count", |screen| !screen.contains("a moment"));
    assert!(pty.screen().contains("Keep pending") && !pty.exists("made.txt"), "{}", pty.screen());
    pty.answer("k");
    pty.until("the script goes on", |screen| screen.contains("[after 3]"));
}

/// True where the pipe `errors` has all that it holds.
fn pipe_is_full(tree: &std::path::Path) -> bool {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()).unwrap();
    let Ok(mut pipe) = std::fs::OpenOptions::new().write(true).custom_flags(flags).open(tree.join("errors"))
    else {
        return false;
    };
    std::io::Write::write(&mut pipe, b"x").is_err_and(|e| e.kind() == std::io::ErrorKind::WouldBlock)
}

#[test]
fn keys_arrive_while_nobody_reads_the_errors_and_the_end_can_be_left() {
    if !has_view() {
        return;
    }
    let program = "(head -c 300000 /dev/zero | tr \"\\0\" x >&2) & while read word; do echo got-$word; done";
    let text = format!(
        "mkfifo errors\nsleep 60 < errors &\n{} run -- sh -c '{program}' 2> errors\necho \"[after $?]\"\n",
        placet()
    );
    let mut pty = shell().size(100, 30).program("sh").file("script.sh", text).arg("script.sh").spawn();
    pty.until("the program", |_| pipe_is_full(pty.tree.path()));
    pty.line("one");
    pty.until("the answer", |screen| screen.contains("got-one"));
    // The end waits for the reader of the errors, too, says so, and can be left.
    pty.send("\x04");
    pty.until("what placet does", |screen| {
        screen.contains("(Ctrl-C stops placet; the changes stay pending)")
    });
    assert!(!pty.is_cooked() && !pty.screen().contains("[after"), "{}", pty.screen());
    pty.send("\x03");
    pty.until("the end", |screen| screen.contains("interrupted;") && screen.contains("[after 130]"));
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert!(pty.is_cooked() && pty.modes_on().is_empty(), "{:?}", pty.modes_on());
}

#[test]
fn what_is_not_applied_in_the_home_directory_is_named() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    std::fs::create_dir(place.home.join("Downloads")).unwrap();
    let line =
        "mkdir -p ~/Downloads/new ~/.cache/x; echo t > ~/Downloads/new/thesis.txt; echo c > ~/.cache/x/y";
    let out = place.placet(["run", "--", "sh", "-c", line]).go();
    assert!(out.stderr.contains("no changes"), "{out:?}");
    let named = "not applied, because it is in your home directory: 1 file: ~/Downloads/new/thesis.txt\n\
                 hint: with `placet run --add-dir ~/Downloads` placet asks about changes there, too\n";
    assert!(out.stderr.contains(named), "{out:?}");
    assert!(!place.home.join("Downloads/new").exists());
    // Before the question, which can still be answered with it in mind.
    let early = place
        .placet(["run", "--discard", "--", "sh", "-c", "echo x > a.txt; mkdir ~/empty; echo y > ~/z"])
        .go();
    let (home, files) = ("your home directory: 1 file, 1 empty directory: ~/z, ~/empty/", "A a.txt");
    let at = |text: &str| format!("{}{}", early.stderr, early.stdout).find(text);
    assert!(at(home).is_some() && at(files).is_some(), "{early:?}");
    assert!(
        early.stderr.contains("hint: after `mkdir ~/empty`, with `placet run --add-dir ~/empty`"),
        "{early:?}"
    );
    // The hint holds.
    let dir = place.home.join("Downloads");
    let kept =
        place.placet(["run", "--apply", "--add-dir", dir.to_str().unwrap(), "--", "sh", "-c", line]).go();
    assert!(!kept.stderr.contains("not applied"), "{kept:?}");
    assert_eq!(std::fs::read_to_string(dir.join("new/thesis.txt")).unwrap(), "t\n", "{kept:?}");
    // With a change that is applied as well.
    let both = place.placet(["run", "--apply", "--", "sh", "-c", "echo x > made.txt; echo y > ~/z"]).go();
    assert!(both.stderr.contains("your home directory: 1 file: ~/z"), "{both:?}");
}

/// Story: after `placet discard` the next run still saw the file, and named it as its own.
#[test]
fn what_was_left_at_home_ends_with_the_last_pending_change() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    let run = |line: &str| place.placet(["run", "--", "sh", "-c", line]).go();
    run("echo content of a run > ~/.foo1; echo two > a.txt").code(3);
    let goes_on = run("cat ~/.foo1");
    assert!(goes_on.stdout.contains("content of a run"), "{goes_on:?}");
    place.run(["discard"]).code(0);
    let after = run("cat ~/.foo1; echo y > ~/.foo2");
    assert!(!after.stdout.contains("content of a run") && !after.stderr.contains("~/.foo1"), "{after:?}");
    assert!(after.stderr.contains("~/.foo2"), "{after:?}");
}

#[test]
fn a_command_of_one_word_is_named_by_it() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    let out = place.placet(["run", "--output-format", "json", "--", "true"]).go();
    let json: serde_json::Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(json["program"]["program"], "true", "{json}");
}

#[test]
fn a_gateway_that_cannot_be_reached_is_named_at_the_start() {
    if !has_view() {
        return;
    }
    let place = Place::with_notes();
    let run = |words: &[&str]| {
        let url = "http://127.0.0.1:18770";
        place.placet(words.iter().copied()).env("ANTHROPIC_BASE_URL", url).go()
    };
    let out = run(&["run", "--", "true"]);
    let expected = "note: ANTHROPIC_BASE_URL names 127.0.0.1:18770, which true cannot reach: commands connect by name only; \
                    set it to http://localhost:18770 and use `--network localhost:18770`";
    assert!(out.stderr.contains(expected), "{out:?}");
    let refused = run(&["run", "--network", "127.0.0.1:18770", "--", "true"]);
    assert!(refused.stderr.contains("for a port of this machine, localhost:8080"), "{refused:?}");
}
