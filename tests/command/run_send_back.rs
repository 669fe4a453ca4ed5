//! `placet run` with a person: a message goes back to the program, changes of the home directory are in the same question,
//! and the terminal's background is asked for without the program's knowledge.

use crate::support::program::placet;
use crate::support::pty::{Pty, Start, shell};
use crate::support::require::has_view;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const ID: &str = "0b7cf9a0-1234-4abc-9def-0123456789ab";

/// A preset whose program is the script `agent` of the workspace.
fn agent(script: &str) -> Start {
    let preset = r#"
[run.presets.mine]
program = "sh"
flags = ["agent"]
keep = [".mine/"]
later = [".mine/hooks/"]
sessions = [".mine/*.jsonl"]
resume = ["{options}", "--resume", "{session}", "{message}"]
repeat = ["--model="]
"#;
    shell().config(preset).file("agent", script).file("notes.txt", "one\ntwo\n").size(90, 34).arg("run")
}

fn question(pty: &Pty) {
    pty.until("the question", |screen| {
        (screen.contains("Send back to") || screen.contains("Copy a message, run"))
            && screen.contains("Keep pending")
    });
}

fn in_tree(pty: &Pty, words: &[&str]) -> String {
    let out =
        Command::new(placet()).args(words).current_dir(pty.tree.path()).env("HOME", pty.home()).output();
    let out = out.unwrap();
    String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr)
}

#[test]
fn the_review_goes_back_to_the_program_which_continues_in_its_view() {
    if !has_view() {
        return;
    }
    let script = format!(
        "mkdir -p ~/.mine; echo x >> ~/.mine/{ID}.jsonl; echo three >> notes.txt; echo new > made.txt\n\
         printf '%s\\n' \"$@\" > got.txt"
    );
    let mut pty = agent(&script).arg("mine").arg("--model").arg("m").arg("do it").spawn();
    question(&pty);
    // got.txt, made.txt, notes.txt: the last is rejected.
    pty.answer("r");
    pty.until("the review", |screen| screen.contains("a accept  "));
    pty.answer("}}rc");
    pty.send("not three\r");
    pty.until("the comment", |screen| screen.contains("offers to run mine again with it"));
    pty.answer("q");
    question(&pty);
    pty.answer("s");
    pty.until("the message", |screen| {
        screen.contains("message to mine, with your review: 1 rejected, 1 comment")
    });
    pty.answer("shorter, please\r");
    pty.until("the second round", |screen| screen.contains("mine continues with your message"));
    question(&pty);
    // The rejected line was made again, and is still rejected.
    pty.until("the decision", |screen| screen.contains("Apply as reviewed"));
    pty.answer("a");
    pty.until("the end", |screen| screen.contains("applied changes to 2 files"));
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert_eq!(pty.read("notes.txt"), "one\ntwo\n");
    let got = pty.read("got.txt");
    let words: Vec<&str> = got.lines().collect();
    assert_eq!(words.get(..4).unwrap(), ["--model", "m", "--resume", ID], "{got}");
    for expected in
        ["I reviewed your changes.", "## Rejected: notes.txt:3", "+three", "not three", "shorter, please"]
    {
        assert!(got.contains(expected), "{expected} is missing:\n{got}");
    }
    assert!(
        in_tree(&pty, &["journal", "list"]).contains("--resume"),
        "{}",
        in_tree(&pty, &["journal", "list"])
    );
    in_tree(&pty, &["undo"]);
    assert_eq!(pty.read("notes.txt"), "one\ntwo\n");
    assert!(!pty.exists("got.txt"));
}

/// Story: a text that was typed at the question was refused, and nothing said where a text goes.
#[test]
fn a_text_at_the_question_is_told_where_it_goes() {
    if !has_view() {
        return;
    }
    let mut pty = agent("echo three >> notes.txt").arg("mine").spawn();
    question(&pty);
    pty.answer("please do not");
    pty.until("the way", |s| s.contains("text is no answer here · Esc clears it, then s takes a message"));
    pty.send("\x1b");
    pty.until("an empty line", |s| !s.contains("text is no answer here"));
    pty.answer("k");
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
}

/// Story: after the second round nothing said what was new, and each file had three rows with the whole command line.
#[test]
fn the_second_round_keeps_decisions_and_marks_what_is_new() {
    if !has_view() {
        return;
    }
    let script = format!(
        "mkdir -p ~/.mine; echo x >> ~/.mine/{ID}.jsonl\n\
         sed -i 's/^line 5$/line five/; s/^line 20$/line twenty/' long.txt\n\
         test \"$1\" = --resume || exit 0\n\
         sed -i 's/^line 35$/line thirtyfive/' long.txt; echo second > second.txt"
    );
    let long: String = (1..=40).map(|n| format!("line {n}\n")).collect();
    let mut pty = agent(&script).file("long.txt", long).arg("mine").spawn();
    question(&pty);
    pty.answer("r");
    pty.until("the review", |s| s.contains("0/2 hunks") && s.contains("  by mine\n"));
    assert!(!pty.screen().contains("new"), "{}", pty.screen());
    pty.answer("a");
    pty.until("one decision", |s| s.contains("1/2 hunks"));
    pty.answer("r");
    pty.until("both decisions", |s| s.contains("2/2 hunks"));
    pty.answer("q");
    question(&pty);
    pty.answer("s");
    pty.until("the message", |s| s.contains("message to mine, with your review: 1 rejected"));
    pty.answer("go on\r");
    pty.until("the second round", |s| s.contains("mine continues with your message"));
    question(&pty);
    pty.until("its changes", |s| s.contains("second.txt"));
    pty.answer("r");
    // The rejected hunk was made again, and is still rejected.
    pty.until("the second review", |s| {
        let has_title =
            s.contains("2/4 hunks") && s.contains("✓1") && s.contains("✗1") && s.contains("*2 new");
        // The lower rows of a frame arrive after its title.
        has_title && s.contains("+ line thirtyfive")
    });
    let screen = pty.screen();
    let row = |text: &str| {
        let found = screen.lines().find(|row| row.contains(text));
        found.unwrap_or_else(|| panic!("{text} is missing:\n{screen}")).to_string()
    };
    assert!(row("+ line five").contains('✓'), "{screen}");
    assert!(row("+ line twenty").contains('✗'), "{screen}");
    assert!(row("+ line thirtyfive").trim_start_matches('▌').trim_start().starts_with('*'), "{screen}");
    assert!(row("long.txt").contains("1 new"), "{screen}");
    assert_eq!(screen.matches("by mine, round 2, as is the file below").count(), 1, "{screen}");
    assert!(!screen.contains("--resume"), "{screen}");
    pty.answer("q");
    question(&pty);
    pty.answer("k");
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
}

#[test]
fn the_terminal_is_placets_from_the_message_to_the_next_start() {
    if !has_view() {
        return;
    }
    let script = format!(
        "mkdir -p ~/.mine; echo x >> ~/.mine/{ID}.jsonl; echo three >> notes.txt\n\
         case \"$*\" in *shorter*) stty raw -echo; printf SECOND; sleep 1;; esac"
    );
    let mut pty = agent(&script).arg("mine").spawn();
    question(&pty);
    pty.answer("s");
    pty.until("the message", |screen| screen.contains("message to mine"));
    pty.answer("shorter, please");
    // What comes in one piece with Enter is not sent.
    std::thread::sleep(Duration::from_millis(300));
    pty.send("\r");
    let deadline = crate::support::wait::Deadline::start();
    let mut looked = 0;
    while !pty.screen().contains("SECOND") {
        assert!(!deadline.is_over(), "{}", pty.screen());
        // In its own mode the terminal shows typed keys, and sends Ctrl-C to the person's script as well.
        for _ in 0..200 {
            assert!(!pty.is_cooked(), "{}", pty.screen());
            looked += 1;
        }
    }
    assert!(looked > 200);
    question(&pty);
    pty.answer("k");
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
    assert!(pty.is_cooked() && pty.modes_on().is_empty(), "{:?}", pty.modes_on());
}

#[test]
fn a_program_that_takes_no_message_starts_again_and_the_person_has_the_text() {
    if !has_view() {
        return;
    }
    let preset = "[run.presets.mine]\nprogram = \"sh\"\nflags = [\"agent\"]\n";
    let start = shell().config(preset).file("agent", "echo x >> made.txt").size(90, 34);
    let mut pty = start.arg("run").arg("mine").spawn();
    question(&pty);
    assert!(pty.screen().contains("Copy a message, run mine again"), "{}", pty.screen());
    // Nothing is typed there, and a cursor behind the last key would say that something is.
    assert!(pty.hides_cursor(), "{}", pty.screen());
    pty.answer("s");
    pty.until("the message", |screen| {
        screen.contains("message that you paste into mine")
            && screen.contains("type a message · Esc goes back")
    });
    let last = pty.screen().trim_end().lines().last().unwrap().to_string();
    assert_eq!((last.trim_end(), pty.cursor().0, pty.hides_cursor()), (">", 2, false), "{}", pty.screen());
    pty.answer("once more");
    pty.until("what Enter does", |screen| screen.contains("Enter copies your text · Esc clears it"));
    pty.answer("\r");
    pty.until("the text", |screen| {
        screen.contains("About your changes: once more") && screen.contains("Enter starts mine again")
    });
    let clipboard = "\x1b]52;c;QWJvdXQgeW91ciBjaGFuZ2VzOiBvbmNlIG1vcmU=\x07";
    assert!(String::from_utf8_lossy(&pty.raw()).contains(clipboard));
    pty.answer("\r");
    pty.until("the second line", |screen| screen.contains("2 + x"));
    question(&pty);
    pty.answer("k");
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
}

/// Story: claude, left before its conversation began, "cannot be given a message when it starts".
#[test]
fn without_a_conversation_the_message_begins_one() {
    if !has_view() {
        return;
    }
    let mut pty = agent("echo x >> made.txt; printf '%s\\n' \"$@\" > got.txt").arg("mine").arg("old").spawn();
    question(&pty);
    assert!(pty.screen().contains("Send back to mine"), "{}", pty.screen());
    pty.answer("s");
    pty.until("the message", |screen| screen.contains("message to mine"));
    pty.answer("once more");
    pty.answer("\r");
    pty.until("the second round", |screen| screen.contains("mine continues with your message"));
    question(&pty);
    pty.answer("a");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert_eq!(pty.read("got.txt"), "About your changes: once more\n");
}

/// Story: the question after a command that failed said nothing of that, and offered to copy a message for `sh`.
#[test]
fn a_plain_command_gets_no_message_and_its_failure_is_told_before_the_question() {
    if !has_view() {
        return;
    }
    let run = |line: &str| shell().size(90, 34).arg("run").arg("--").arg("sh").arg("-c").arg(line).spawn();
    for (line, told) in [
        ("echo x > made.txt; exit 4", Some("sh ended with exit code 4")),
        ("echo x > made.txt; kill -9 $$", Some("sh was killed by signal 9")),
        ("echo x > made.txt", None),
    ] {
        let mut pty = run(line);
        pty.until("the question", |screen| {
            screen.contains("[Apply] · Review") && screen.contains("Keep pending")
        });
        let screen = pty.screen();
        assert!(!screen.contains("Copy a message") && !screen.contains("Send back"), "{screen}");
        match told {
            Some(told) => {
                assert!(screen.contains(told) && screen.find(told) < screen.find("apply?"), "{screen}")
            }
            None => assert!(!screen.contains("sh ended") && !screen.contains("sh was"), "{screen}"),
        }
        pty.answer("r");
        pty.until("the review", |screen| screen.contains("a accept  "));
        pty.answer("c");
        pty.send("why\r");
        pty.until("the comment", |screen| screen.contains("it is kept with these changes"));
        pty.answer("q");
        pty.until("the question again", |screen| screen.contains("Keep pending"));
        pty.answer("k");
        assert_eq!(pty.ended(), 3, "{}", pty.screen());
        let out = Command::new(placet())
            .args(["run", "--", "sh", "-c", line])
            .current_dir(pty.tree.path())
            .env("HOME", pty.home())
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&out.stderr);
        assert_eq!(told.is_some(), told.is_some_and(|told| errors.contains(told)), "{errors}");
    }
}

#[test]
fn files_at_home_that_run_later_are_in_the_same_question() {
    if !has_view() {
        return;
    }
    let script = "mkdir -p ~/.mine/hooks; echo h > ~/.mine/hooks/start; echo three >> notes.txt";
    let mut pty = agent(script).arg("mine").spawn();
    question(&pty);
    let screen = pty.screen();
    for row in
        ["2 files, +2 -0 lines", "M notes.txt", "~/.mine/hooks/start", "Apply all but the one marked !"]
    {
        assert!(screen.contains(row), "{row} is missing:\n{screen}");
    }
    pty.answer("a");
    pty.until("the question about the file", |screen| {
        screen.contains("! ~/.mine/hooks/start (created): apply this file?")
    });
    pty.answer("y");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    assert_eq!(pty.read("notes.txt"), "one\ntwo\nthree\n");
    assert_eq!(std::fs::read_to_string(pty.home().join(".mine/hooks/start")).unwrap(), "h\n");
    in_tree(&pty, &["undo"]);
    assert!(!pty.home().join(".mine/hooks/start").exists());
    assert_eq!(pty.read("notes.txt"), "one\ntwo\n");
}

#[test]
fn the_terminals_background_is_remembered_and_its_answer_reaches_no_program() {
    if !has_view() {
        return;
    }
    // Before anything but plain text the terminal is asked.
    let line =
        "stty -echo; printf '\\303\\251'; echo re\\ady; read x; printf '%s' \"$x\" | od -c | head -3; read y";
    let start = shell().arg("run").arg("--").arg(line);
    let mut pty = start.with_colors(&[("11", "rgb:ffff/ffff/ffff")]).spawn();
    pty.until("the program", |screen| screen.contains("ready"));
    pty.send("hi\r");
    pty.until("what the program read", |screen| screen.contains("h   i") && !screen.contains("033"));
    pty.send("\r");
    pty.ended();
    let known = std::fs::read_to_string(found(pty.home(), "backgrounds")).unwrap();
    assert!(known.starts_with("light\t"), "{known}");
}

/// The file of this name below placet's directories.
fn found(home: &Path, name: &str) -> std::path::PathBuf {
    [".local/state/placet", ".local/share/placet"]
        .map(|dir| home.join(dir).join(name))
        .into_iter()
        .find(|p| p.exists())
        .unwrap()
}

/// Story: `a` printed `nothing is pending`, and directly below it came the question about the file of the home directory.
#[test]
fn a_file_of_the_home_directory_that_waits_comes_first_and_nobody_says_that_nothing_is_pending() {
    if !has_view() {
        return;
    }
    let script = "mkdir -p ~/.mine/hooks; echo 'echo hi' > ~/.mine/hooks/start; echo three >> notes.txt";
    let mut pty = agent(script).arg("mine").spawn();
    question(&pty);
    let screen = pty.screen();
    let place = |words: &str| screen.find(words).unwrap_or_else(|| panic!("{words}: {screen}"));
    assert!(place("! A ~/.mine/hooks/start") < place("M notes.txt"), "{screen}");
    pty.answer("a");
    pty.until("the question about the file", |s| {
        s.contains("~/.mine/hooks/start (created): apply this file?")
    });
    let screen = pty.screen();
    assert!(
        screen.contains("applied changes to 1 file") && !screen.contains("nothing is pending"),
        "{screen}"
    );
    pty.answer("n");
    pty.ended();
    assert_eq!(pty.read("notes.txt"), "one\ntwo\nthree\n");
    // Without a person the rows are in the same order.
    let out = Command::new(placet())
        .args(["run", "mine"])
        .current_dir(pty.tree.path())
        .env("HOME", pty.home())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    let listed = String::from_utf8_lossy(&out.stderr).into_owned();
    let place = |words: &str| listed.find(words).unwrap_or_else(|| panic!("{words}: {listed}"));
    assert!(place("! A ~/.mine/hooks/start") < place("M notes.txt"), "{listed}");
}

/// Story: `r` at the question about a file of the home directory opened the review of the workspace, without that file.
#[test]
fn a_review_says_what_else_was_asked_about_and_that_of_the_home_directory_has_its_file() {
    if !has_view() {
        return;
    }
    let script =
        "mkdir -p ~/.mine/hooks; echo later > ~/.mine/hooks/x; echo new > made.txt; echo A=1 > .envrc";
    let mut pty = agent(script).arg("mine").spawn();
    question(&pty);
    pty.answer("r");
    pty.until("the review of the workspace", |s| {
        let words = "not in this review: 1 file of your home directory; after the review you are asked about the rest";
        s.split_whitespace().collect::<Vec<_>>().join(" ").contains(words) && s.contains("made.txt")
    });
    pty.answer("q");
    question(&pty);
    pty.answer("a");
    pty.until("the file of the workspace", |s| s.contains("! .envrc (created): apply this file?"));
    pty.answer("n");
    pty.until("the file at home", |s| s.contains(".mine/hooks/x (created): apply this file?"));
    pty.answer("r");
    pty.until("the review of the home directory", |s| {
        s.contains("hooks/x")
            && s.contains("+ later")
            && s.contains("not in this review: 1 file of the workspace")
            && !s.contains(".envrc")
    });
    pty.answer("a");
    pty.until("the decision", |s| s.contains("1/1 hunk"));
    pty.answer("\r");
    pty.until("the summary", |s| s.contains("accepted   1 hunk"));
    pty.answer("a");
    pty.until("the rest", |s| s.contains("! .envrc (created): apply this file?"));
    pty.answer("n");
    assert_eq!(pty.ended(), 3, "{}", pty.screen());
    assert_eq!(std::fs::read_to_string(pty.home().join(".mine/hooks/x")).unwrap(), "later\n");
    assert!(!pty.exists(".envrc") && pty.exists("made.txt"));
}
