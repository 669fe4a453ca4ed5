//! Light or dark: the terminal is asked with the first prompt, and what it answers is never typed.

use crate::support::pty::{Pty, Start, shell};
use std::time::Duration;

const QUESTION: &str = "\x1b]11;?\x1b\\";
const DARK: &str = "\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\";
const LIGHT: &str = "\x1b]11;rgb:ffff/ffff/ffff\x1b\\";
/// The background of an added line in the theme for light terminals.
const LIGHT_ADDED: &str = "48;2;226;245;231";
/// The mode in the prompt, in the colours of the themes.
const DARK_MODE: &str = "\x1b[0;1;38;2;126;198;153;48;2;47;58;77m[r]";
const LIGHT_MODE: &str = "\x1b[0;1;38;2;23;105;58;48;2;219;228;243m[r]";

fn colours() -> Start {
    shell().variable("COLORTERM", "truecolor").arg("--mode").arg("read")
}

fn raw(pty: &Pty) -> String {
    String::from_utf8_lossy(&pty.raw()).into_owned()
}

fn asked(start: Start) -> Pty {
    let pty = start.open();
    pty.until("the question", |_| raw(&pty).contains(QUESTION));
    pty
}

/// A word that only an answer to the prompt has, and then the next prompt.
fn send_line(pty: &mut Pty) {
    pty.line("/title x");
    pty.until("the answer", |s| s.matches("] > ").count() > 1);
    pty.until_prompt("");
}

#[test]
fn a_late_answer_gives_the_next_prompt_its_colours_and_types_nothing() {
    let mut pty = asked(colours());
    let first = raw(&pty);
    assert!(first.find("placet ").unwrap() < first.find(QUESTION).unwrap(), "{first:?}");
    pty.send("/tit");
    // The rest of the word is a hint.
    pty.until("the word", |s| s.contains("> /tit"));
    pty.send(LIGHT);
    pty.send("le x");
    pty.until_prompt("/title x");
    assert!(!raw(&pty).contains(LIGHT_MODE));
    pty.send("\r");
    pty.until("the prompt in its colours", |_| raw(&pty).contains(LIGHT_MODE));
    assert_eq!(raw(&pty).matches(QUESTION).count(), 1);
    // The next shell asks again: the same terminal may be dark now.
    pty.line("/quit");
    assert_eq!(pty.ended(), 0);
    let mut pty = asked(colours().after(pty));
    assert!(!raw(&pty).contains(LIGHT_MODE), "{:?}", raw(&pty));
    pty.send(DARK);
    send_line(&mut pty);
    pty.until("the prompt in the other colours", |_| raw(&pty).contains(DARK_MODE));
}

#[test]
fn a_terminal_that_never_answers_changes_nothing() {
    let mut pty = asked(colours());
    send_line(&mut pty);
    assert!(!raw(&pty).contains(LIGHT_MODE) && !raw(&pty).contains(DARK_MODE));
    pty.line("/quit");
    assert_eq!(pty.ended(), 0);
}

#[test]
fn answers_that_come_twice_and_in_pieces_are_not_typed() {
    let mut pty = asked(colours());
    pty.send("/tit");
    pty.send(DARK);
    pty.send(DARK);
    for at in [1, 2, 4, 12, DARK.len() - 1] {
        let (first, second) = DARK.split_at(at);
        pty.send(first);
        // Longer than an escape waits for what follows.
        std::thread::sleep(Duration::from_millis(90));
        pty.send(second);
    }
    pty.send("le x");
    pty.until_prompt("/title x");
    pty.send("\r");
    pty.until("the prompt in its colours", |_| raw(&pty).contains(DARK_MODE));
}

#[test]
fn an_answer_inside_a_paste_is_no_part_of_the_paste() {
    let mut pty = asked(colours());
    let (first, second) = DARK.split_at(9);
    pty.send(&format!("\x1b[200~/title {DARK}one {first}"));
    std::thread::sleep(Duration::from_millis(90));
    pty.send(&format!("{second}two\x1b[201~"));
    pty.until_prompt("/title one two");
    pty.send("\r");
    pty.until("the prompt in its colours", |_| raw(&pty).contains(DARK_MODE));
}

/// The shell that placet was started from would get the answer.
#[test]
fn an_answer_that_comes_while_placet_ends_is_read() {
    let mut pty = asked(colours());
    pty.send("/quit\r");
    pty.send(DARK);
    assert_eq!(pty.ended(), 0);
}

#[test]
fn what_is_known_is_not_asked_for() {
    let is_asked = |start: Start| {
        let mut pty = start.open();
        send_line(&mut pty);
        raw(&pty).contains("\x1b]11;")
    };
    assert!(is_asked(colours()));
    assert!(!is_asked(colours().variable("COLORFGBG", "0;15")));
    assert!(!is_asked(colours().arg("--set").arg("ui.theme=dark")));
    assert!(!is_asked(colours().arg("--set").arg("ui.color=never")));
    assert!(!is_asked(colours().variable("TERM", "screen-256color")));
    assert!(!is_asked(colours().variable("TERM", "linux")));
    assert!(!is_asked(colours().variable("TMUX", "/tmp/tmux-0/default,1,0")));
    assert!(!is_asked(colours().variable("STY", "1.pts")));
}

/// No later frame of a full screen would have other colours, so a subcommand waits a moment for the answer.
#[test]
fn a_review_has_the_colours_for_the_background_from_its_first_frame() {
    let patch = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n";
    let start =
        shell().variable("COLORTERM", "truecolor").file("p.patch", patch).arg("review").arg("p.patch");
    let mut pty = start.spawn();
    // Before the question, because the wait is short; it counts once placet has asked.
    pty.send(LIGHT);
    pty.until("the review", |s| s.contains("new") && s.contains("keys"));
    assert!(raw(&pty).contains(QUESTION));
    assert!(raw(&pty).contains(LIGHT_ADDED), "{:?}", raw(&pty));
}

/// Story: the list of `placet -r`, and the conversation that was shown after it, had neutral colours on a dark terminal.
#[test]
fn the_list_of_sessions_at_the_start_has_the_colours_for_the_background() {
    let start = || shell().variable("COLORTERM", "truecolor").arg("--mode").arg("read");
    let mut pty = start().open();
    pty.line("list");
    pty.until("the answer", |s| s.contains("list_directory") || s.matches("] > ").count() > 1);
    pty.until_prompt("");
    pty.line("/quit");
    assert_eq!(pty.ended(), 0);
    let mut pty = start().arg("-r").after(pty).spawn();
    // Before the question, because the wait is short; it counts once placet has asked.
    pty.send(LIGHT);
    pty.until("the list", |s| s.contains("cancel"));
    pty.by_hand("\r");
    pty.until("the conversation", |s| s.contains("] > "));
    // The prompt asks again, and nobody has answered that yet: the colour comes from the answer before the list.
    assert!(raw(&pty).contains(LIGHT_MODE), "{:?}", raw(&pty));
}
