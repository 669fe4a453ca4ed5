//! Questions take only answers that were meant: keys typed ahead, bursts, and a terminal that goes away.

use crate::support::pty::{Pty, Start, shell};
use crate::support::wait;
use rustix::process::Signal;
use std::time::Duration;

/// A text as a terminal marks it that marks pastes.
fn marked(text: &str) -> String {
    format!("\x1b[200~{text}\x1b[201~")
}

/// The question at the end of a turn that changed `a.txt`.
fn asked(start: Start) -> Pty {
    let mut pty = start.arg("--mode").arg("ask").file("a.txt", "alpha\nbeta\n").open();
    pty.line("replace \"beta\" with \"gamma\" in a.txt");
    pty.until("the question", |s| s.contains("[Apply]") && s.contains("Discard"));
    pty
}

fn pause(millis: u64) {
    std::thread::sleep(Duration::from_millis(millis));
}

/// The question is there still with its keys, nothing was applied, and nothing waits to be sent.
fn still_open(pty: &Pty, after: &str) {
    pty.until(&format!("the question after {after:?}"), |s| s.contains("[Apply]") && s.contains("Discard"));
    let screen = pty.screen();
    assert!(!screen.contains("after this turn"), "{after:?}: {screen}");
    assert!(!screen.contains("stopping"), "{after:?}: {screen}");
    assert_eq!(pty.read("a.txt"), "alpha\nbeta\n", "{after:?}");
}

#[test]
fn escape_keeps_the_changes_pending_and_says_so() {
    let mut pty = asked(shell().size(120, 30));
    pty.answer("\x1b");
    pty.until("the notice", |s| s.contains("changes to 1 file are pending"));
    pty.until("the prompt", |s| s.contains("±1 >"));
    assert_eq!(pty.read("a.txt"), "alpha\nbeta\n");
}

#[test]
fn a_change_of_the_window_and_a_lost_terminal_answer_nothing() {
    let mut pty = asked(shell().size(120, 30));
    for (columns, rows) in [(60, 20), (30, 12), (120, 30)] {
        pty.resize(columns, rows);
        pty.until("the question", |s| s.contains("[Apply]"));
    }
    still_open(&pty, "resizes");
    pty.signal(Signal::HUP);
    assert_ne!(pty.ended(), 0);
    assert_eq!(pty.read("a.txt"), "alpha\nbeta\n");
    let mut again = shell().after(pty).open();
    again.until("it is pending still", |s| s.contains("±1 >"));
    again.send("\x04");
}

/// Story: `/discard` of everything was one line, and nothing brought it back.
#[test]
fn a_discard_is_taken_back_and_that_of_two_turns_asks() {
    let mut pty = asked(shell().size(120, 30));
    pty.answer("d");
    pty.answer("d");
    pty.until("the discard", |s| s.contains("discarded changes to 1 file; /undo restores them"));
    pty.until_prompt("");
    pty.line("/undo");
    pty.until("it is pending again", |s| {
        s.contains("restored the discarded changes to 1 file") && s.contains("±1 >")
    });
    pty.line("create b.txt with \"bee\"");
    pty.until("the question", |s| s.contains("Discard ·") && s.contains("b.txt"));
    pty.answer("k");
    pty.until("both are pending", |s| s.contains("±2 >"));
    pty.line("/discard");
    pty.until("a question", |s| s.contains("discard changes to 2 files of 2 turns?"));
    // Typed before it could be read, in one piece, and the answer of another question.
    pty.send("discard\r");
    pty.until("no answer", |s| s.contains("ignored: "));
    pty.answer("y\r");
    pty.until("it is kept", |s| s.contains("nothing was discarded"));
    pty.line("/discard");
    pty.until("the question again", |s| s.matches("discard changes to 2 files of 2 turns?").count() >= 3);
    pty.answer("discard\r");
    pty.until("the discard", |s| s.contains("discarded changes to 2 files; /undo restores them"));
    assert!(!pty.exists("b.txt"));
    pty.line("/undo");
    pty.until("all of it", |s| s.contains("restored the discarded changes to 2 files"));
    pty.line("/apply .");
    pty.until("it is applied", |s| s.contains("applied changes to 2 files"));
    assert_eq!((pty.read("a.txt"), pty.exists("b.txt")), ("alpha\ngamma\n".into(), true));
}

fn sandbox_run(line: &str) -> Pty {
    shell().size(100, 24).arg("sandbox").arg("run").arg("--").arg(line).spawn()
}

const SANDBOX: &str = "[Apply] · Review";

/// Story: `a` typed while the command ran applied everything.
#[test]
fn what_is_typed_ahead_or_in_one_piece_does_not_answer_sandbox_run() {
    let mut pty = sandbox_run("echo one > new; echo started; sleep 1.5");
    pty.until("the command", |s| s.contains("started"));
    pty.send("a\rapply\r");
    // Nobody reads a text here: it stays on the line.
    let kept = |s: &str| s.contains("text is no answer here · Esc clears it");
    for burst in ["a\r", "apply\r", &marked("a\r")] {
        pty.until("the question", |s| s.contains(SANDBOX));
        pty.send(burst);
        pty.until("the text", kept);
        assert!(!pty.exists("new"), "{burst:?}: {}", pty.screen());
        pty.send("\x1b");
        pty.until("an empty line", |s| !kept(s));
    }
    pty.answer("a");
    assert_eq!(pty.ended(), 0);
    assert!(pty.screen().contains("applied changes to 1 file; placet undo reverts them"), "{}", pty.screen());
    assert_eq!(pty.read("new"), "one\n");
    assert!(pty.is_cooked());
}

#[test]
fn esc_and_ctrl_c_keep_what_sandbox_run_made() {
    for keys in ["\x1b", "\x03", "k"] {
        let mut pty = sandbox_run("echo one > new");
        pty.until("the question", |s| s.contains(SANDBOX));
        pty.answer(keys);
        assert_eq!(pty.ended(), 3, "{keys:?}: {}", pty.screen());
        assert!(!pty.exists("new") && pty.screen().contains("pending: "), "{keys:?}: {}", pty.screen());
        assert!(pty.is_cooked());
    }
}

#[test]
fn linear_questions_take_numbers_that_were_typed_by_hand() {
    let start = shell().arg("--linear").arg("--mode").arg("ask").file("a.txt", "x\n").size(100, 40);
    let mut pty = start.open();
    pty.line("run sleep 1; echo y >> a.txt");
    pty.until("the call", |s| s.contains("call: run sleep 1"));
    pty.send("1\r1\r");
    pty.until("the question", |s| s.contains("answer: type a number and Enter"));
    pause(600);
    for burst in ["1\r", "1\r1\r1\r", "11\r"] {
        pty.send(burst);
        pause(300);
        assert_eq!(pty.read("a.txt"), "x\n", "{burst:?}");
    }
    // Only the Enter is looked at: digits with another key held are no text.
    for noise in ["\r\u{1b}[999z", "\u{1b}[999z\r", "\u{1b}[13;9u", "\u{1b}[13;1:2u"] {
        pty.send("1");
        pause(300);
        pty.send(noise);
        pause(300);
        assert_eq!(pty.read("a.txt"), "x\n", "{noise:?}");
    }
    for wrong in ["a\r", "y\r", "yes\r", "9\r", "\r"] {
        pty.answer(wrong);
        pause(150);
        assert_eq!(pty.read("a.txt"), "x\n", "{wrong:?}");
    }
    pty.until("the answers again", |s| s.contains("not an answer, and not sent"));
    pty.answer("1\r");
    pty.until("the change", |s| s.contains("applied changes to 1 file"));
    assert_eq!(pty.read("a.txt"), "x\ny\n");
}

/// Story: at a dumb terminal nothing was echoed, Enter, Ctrl-C and Ctrl-D did nothing, and the shell had to be killed.
#[test]
fn a_dumb_terminal_gets_lines_and_can_be_left() {
    for term in ["dumb", "emacs"] {
        let start =
            shell().variable("TERM", term).arg("--mode").arg("ask").file("a.txt", "x\n").size(100, 40);
        let mut pty = start.open();
        pty.by_hand("lisx\x7ft\r");
        pty.until("the list", |s| s.contains("a.txt"));
        pty.by_hand("half\x03");
        pty.until_prompt("");
        pty.by_hand("run echo y >> a.txt\r");
        pty.until("the question", |s| s.contains("answer: type a number and Enter"));
        pty.answer("1\r");
        pty.until("the change", |s| s.contains("applied changes to 1 file"));
        pty.until_prompt("");
        pty.by_hand("\x04");
        assert_eq!(pty.ended(), 0);
        assert!(pty.is_cooked());
        let raw = pty.raw();
        assert!(!raw.contains(&0x1b), "{:?}", String::from_utf8_lossy(&raw));
    }
}

/// Sends `word` to a question that takes this word, in every way that is no answer; the question stays open.
fn no_answers(pty: &mut Pty, question: &str, word: &str) {
    // At once, before it could be read: refused, or dropped without a word where the question reads a moment later.
    let mut looks = 0;
    wait::until("no answer", || {
        if looks % 100 == 0 {
            pty.send(&format!("{word}\r"));
        }
        looks += 1;
        let screen = pty.screen();
        screen.contains("ignored: ") && screen.trim_end().ends_with(question)
    });
    for burst in [format!("{word}\r"), format!("{word}\r{word}\r"), marked(&format!("{word}\r"))] {
        pty.until("no answer", |s| s.contains("ignored: ") && s.trim_end().ends_with(question));
        pause(700);
        pty.send(&burst);
        pause(300);
    }
    pty.until("the question", |s| s.trim_end().ends_with(question));
}

const TRUST: &str = "Type `trust` to accept it, Enter to continue without it:";

#[test]
fn only_a_hand_trusts_a_projects_settings() {
    let settings = || shell().size(110, 40).file(".placet/config.toml", "mode = \"unrestricted\"\n");
    for ahead in ["trust\r", "trust\rtrust\r", &marked("trust\r")] {
        // Typed while placet starts: dropped, or refused.
        let mut pty = settings().spawn();
        pty.send(ahead);
        pty.until("the question", |s| s.contains(TRUST));
        no_answers(&mut pty, TRUST, "trust");
        pty.answer("y\r");
        pty.until("the prompt", |s| s.contains("ignored; placet asks again next time"));
        pty.until("the usual mode", |s| s.contains("placet [a] >"));
        pty.send("\x04");
    }
    let mut pty = settings().spawn();
    pty.until("the question", |s| s.trim_end().ends_with(TRUST));
    pty.answer("trust\r");
    pty.until("the project's mode", |s| s.contains("placet [u] >"));
}

const RESET: &str = "Type `reset` to start a new conversation, Enter to stay:";

#[test]
fn only_a_hand_leaves_a_classified_conversation() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("placet")).unwrap();
    let settings = "[classification]\npaths = [\"CONFIDENTIAL:secret/**\"]\n";
    std::fs::write(dir.path().join("placet/config.toml"), settings).unwrap();
    let start = shell().size(110, 40).variable("XDG_CONFIG_HOME", dir.path().to_str().unwrap());
    let mut pty = start.file("secret/plan.txt", "the plan\n").open();
    pty.line("show secret/plan.txt");
    pty.until("the level", |s| s.contains("CONFIDENTIAL >"));
    // Typed ahead in the same write as the command.
    pty.send("/taint reset\rreset\r");
    pty.until("the question", |s| s.contains(RESET));
    no_answers(&mut pty, RESET, "reset");
    pty.answer("y\r");
    pty.until("nothing", |s| s.contains("nothing was changed") && s.trim_end().ends_with("CONFIDENTIAL >"));
    pty.line("/taint reset");
    pty.until("the question again", |s| s.trim_end().ends_with(RESET));
    pty.answer("reset\r");
    pty.until("started a new conversation", |s| s.trim_end().ends_with("placet [a] >"));
}

/// A key is often pasted, so a paste is an answer here; what was typed before the question is not.
#[test]
fn what_is_typed_ahead_is_no_part_of_a_providers_key() {
    let dir = tempfile::tempdir().unwrap();
    let start = shell().size(110, 30).variable("XDG_CONFIG_HOME", dir.path().to_str().unwrap());
    let mut pty = start.arg("config").arg("init").arg("--key").arg("anthropic").spawn();
    pty.send("typed-ahead\r\x04");
    pty.until("the question", |s| s.contains("type or paste the key"));
    // What comes now is the answer.
    pause(300);
    pty.send("the-key\r");
    pause(100);
    pty.send("\x04");
    assert_eq!(pty.ended(), 0, "{}", pty.screen());
    let stored = std::fs::read_to_string(dir.path().join("placet/keys.toml")).unwrap();
    assert_eq!(stored.trim(), "anthropic = \"the-key\"");
}

/// Nothing is applied in the review, and its summary takes an Enter that was meant for it.
#[test]
fn a_burst_in_the_review_applies_nothing_and_what_a_hand_rejects_comes_back() {
    let mut pty = asked(shell().size(120, 30));
    pty.answer("r");
    pty.until("the review and its keys", |s| s.contains("0/1 hunks") && s.contains("a accept"));
    pty.send("X\r\r\ra\r");
    pty.until("the summary", |s| s.contains("rejected   1 hunk") && s.contains("[Discard]"));
    assert_eq!(pty.read("a.txt"), "alpha\nbeta\n");
    pty.answer("a");
    pty.until("it is gone", |s| s.contains("1 hunk rejected; /undo restores it"));
    pty.until("the prompt", |s| s.trim_end().ends_with("placet [a] >"));
    pty.line("/undo");
    pty.until("it is pending again", |s| {
        s.contains("restored the discarded changes to 1 file") && s.contains("±1 >")
    });
    assert_eq!(pty.read("a.txt"), "alpha\nbeta\n");
}
