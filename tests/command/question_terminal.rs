//! After another program, the terminal is placet's again: what is sent before a question, whatever the program wrote.

use crate::support::pty::{Pty, Start, joined, shell};
use crate::support::require::has_view;
use crate::support::wait;

/// A program that changes a file and writes `output`.
fn run(output: &str) -> Start {
    let start = shell().size(80, 24).arg("run").arg("--").arg("cat output; echo new > made");
    start.file("output", output)
}

fn question(start: Start) -> Pty {
    let pty = start.spawn();
    pty.until("the question", |screen| screen.contains("apply?") && !screen.contains("a moment"));
    pty
}

/// What was sent between the program's last output and the question.
fn sent(pty: &Pty, output: &str) -> String {
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    let (before, _) = raw.split_once("apply?").unwrap();
    // The first: the last rows are above the question again, as text.
    let (_, sent) = before.split_once(output).unwrap_or_else(|| panic!("{output:?} is not in {raw:?}"));
    sent.to_string()
}

/// Stories: a row of double width hid the end of an added line; margins, letters of line drawing and reverse video.
#[test]
fn the_same_is_sent_before_a_question_whatever_the_program_wrote() {
    if !has_view() {
        return;
    }
    let mut sequences = Vec::new();
    for output in
        ["plain", "\x1b[2J\x1b[6;1H\x1b#6\x1b[H", "\x1b(0\x1b[3;6r\x1b[?5h\x1b[4h", "\x1b%@\u{9b}?5h"]
    {
        let sent = sent(&question(run(output)), output);
        let (reset, answered) = sent.split_once("\x1b7\x1b[6n").unwrap_or_else(|| panic!("{sent:?}"));
        // What is known of the program was taken back before; this is what comes in any case.
        let reset = reset.rsplit_once('\x18').unwrap_or_else(|| panic!("{reset:?}")).1;
        for part in [
            "\x1b<", "\x1b[!p", "\x1b[?5l", "\x1b[r", "\x1b[4l", "\x1b[0m", "\x1b(B", "\x1b)B", "\x0f",
            "\x1b[?7h",
        ] {
            assert!(reset.contains(part), "{part:?}: {reset:?}");
        }
        sequences.push(reset.to_string());
        // Then the screen is scrolled away and erased.
        let (_, cleared) = answered.split_once("\x1b[?6l").unwrap_or_else(|| panic!("{answered:?}"));
        assert!(cleared.trim_start_matches(|c: char| c != '\n').contains("\n\x1b[H\x1b[2J"), "{cleared:?}");
    }
    sequences.dedup();
    assert_eq!(sequences.len(), 1, "{sequences:#?}");
}

#[test]
fn nothing_that_was_on_the_screen_is_lost_and_no_blank_rows_are_made() {
    if !has_view() {
        return;
    }
    let script = |lines: usize| {
        format!(
            "for i in $(seq {lines}); do echo earlier-$i; done; {} run -- 'cat output; echo new > made'",
            crate::support::program::placet()
        )
    };
    // A program that writes rows, one that ends at the top of the screen, and a screen that is full.
    for (lines, output, last) in
        [(3, "one\ntwo\n", "one\ntwo\n"), (9, "\x1b[H", ""), (40, "one\n\x1b[2Atwo", "two\none\n")]
    {
        let start = shell().size(80, 24).program("sh").arg("-c").arg(&script(lines)).file("output", output);
        let pty = question(start);
        let transcript = pty.transcript();
        let earlier: Vec<&str> = transcript.lines().filter(|row| row.starts_with("earlier-")).collect();
        assert_eq!(earlier.len(), lines, "{transcript}");
        // The last rows and the question begin at the top of the screen, directly below what is in the scrollback.
        let screen = pty.screen();
        let begins = screen.starts_with(&format!("{last}────"));
        assert!(!screen.contains("earlier-") && begins, "{screen}");
        if lines == 3 {
            let above = transcript.split("────").next().unwrap();
            assert!(above.ends_with("\none\ntwo\none\ntwo\n") && !above.contains("\n\n"), "{above:?}");
        }
    }
}

/// Stories: a reset of one colour, a question at the end of a text, two colours in one string and the forms of kitty, iTerm2
/// and the console left colours as a program had set them.
#[test]
fn colours_of_a_terminal_that_does_not_tell_them_are_reset() {
    if !has_view() {
        return;
    }
    let resets = [
        "\x1b]104\x1b\\",
        "\x1b]110\x1b\\",
        "\x1b]111\x1b\\",
        "\x1b]112\x1b\\",
        "\x1b]117\x1b\\",
        "\x1b]119\x1b\\",
    ];
    for output in [
        "\x1b]4;4;rgb:ff/ff/ff\x07\x1b]104;0\x07",
        "\x1b]10;rgb:ff/ff/ff;?\x07",
        "\x1b]10;#111111;#111111\x07",
        "\x1b]21;foreground=black\x1b\\",
        "\x1b]1337;SetColors=fg=000\x07",
        "\x1b]P7161616\x1b\\",
    ] {
        let sent = sent(&question(run(output)), output);
        resets.iter().for_each(|reset| assert!(sent.contains(reset), "{output:?}: {sent:?}"));
    }
    // The person's palette stays where no program touched it.
    let output = "\x1b]2;title\x07\x1b[31mred\x1b]8;;https://example.org\x07";
    let sent = sent(&question(run(output)), output);
    resets.iter().for_each(|reset| assert!(!sent.contains(reset), "{sent:?}"));
}

#[test]
fn colours_that_a_program_changed_are_set_back_to_those_of_the_persons_shell() {
    if !has_view() {
        return;
    }
    let own =
        [("4;1", "rgb:11/22/33"), ("4;231", "rgb:44/55/66"), ("10", "rgb:77/88/99"), ("11", "rgb:00/00/00")];
    // The program asks for the right colour before it sets another one, so that the first answers are right.
    let output = "\x1b]4;1;?\x07\x1b[6n\x1b]4;1;rgb:ff/ff/ff\x07\x1b]10;#ffffff\x07";
    let pty = question(run(output).with_colors(&own));
    let sent = sent(&pty, output);
    assert!(
        sent.contains("\x1b]4;1;rgb:11/22/33\x1b\\") && sent.contains("\x1b]10;rgb:77/88/99\x1b\\"),
        "{sent:?}"
    );
    for untouched in ["\x1b]4;231;rgb", "\x1b]11;rgb", "\x1b]104"] {
        assert!(!sent.contains(untouched), "{untouched:?}: {sent:?}");
    }
    assert!(!pty.exists("made"));
}

#[test]
fn answers_to_a_programs_questions_type_nothing_at_the_question() {
    if !has_view() {
        return;
    }
    let output = "\x1b[6n".repeat(300);
    let pty = question(run(&output));
    let screen = pty.screen();
    // Above it is what the program's terminal has echoed.
    let (_, asked) = screen.split_once("────").unwrap();
    assert!(!asked.contains("R\x1b") && !asked.contains(";1R"), "{screen}");
    assert!(asked.contains("Keep pending") && !pty.exists("made"), "{screen}");
}

/// Story: `!cat file` left margins, letters of line drawing and reverse video to the question of the next turn.
#[test]
fn after_a_command_of_the_person_the_next_question_has_the_terminal_again() {
    if !has_view() {
        return;
    }
    let hostile = "\x1b7\x1b[1;20r\x1b8\x1b[?5h\x1b[?1003h\x1b]4;1;rgb:ff/ff/ff\x07printed\n";
    let start = shell().size(80, 24).arg("--mode").arg("ask").file("hostile", hostile);
    let mut pty = start.with_colors(&[("4;1", "rgb:11/22/33")]).open();
    pty.line("!cat hostile");
    pty.until("what it printed", |screen| screen.contains("printed"));
    pty.until_prompt("");
    // At the prompt the person reads what the command wrote, and the prompt itself, in letters and not in line drawing.
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    let (_, after) = raw.rsplit_once("printed").unwrap();
    let (reset, _) = after.split_once("[a]").unwrap();
    for part in ["\x1b%G", "\x1b[!p", "\x1b[?5l", "\x1b[r", "\x1b(B", "\x1b[?25h"] {
        assert!(reset.contains(part), "{part:?}: {reset:?}");
    }
    assert!(!after.contains("\x1b]4;1;") && !after.contains("\x1b[2J"), "{after:?}");
    assert!(!pty.modes_on().contains(&"mouse"), "{:?}", pty.modes_on());
    pty.line("run echo x > a.txt");
    pty.until("the question", |screen| screen.contains("apply?"));
    let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
    let (_, after) = raw.rsplit_once("printed").unwrap();
    for part in ["\x1b[!p", "\x1b[?5l", "\x1b[r", "\x1b]4;1;rgb:11/22/33\x1b\\", "\x1b[H\x1b[2J"] {
        assert!(after.contains(part), "{part:?}: {after:?}");
    }
    assert!(!pty.modes_on().contains(&"mouse"), "{:?}", pty.modes_on());
    let transcript = joined(&pty.transcript());
    assert!(transcript.contains("printed") && transcript.contains("run echo x > a.txt"), "{transcript}");
    // Once: the second question is drawn below what is there.
    pty.answer("k");
    pty.until("the prompt", |screen| screen.contains("±1 >"));
    let clears = |pty: &Pty| String::from_utf8_lossy(&pty.raw()).matches("\x1b[H\x1b[2J").count();
    let before = clears(&pty);
    pty.line("run echo y > b.txt");
    pty.until("the second question", |screen| screen.contains("b.txt") && screen.contains("2 files"));
    wait::until_eq(&before, || clears(&pty));
}

/// Story: `placet run -- true` took two seconds in a terminal that answers nothing, to wait for colours that nobody had
/// changed.
#[test]
fn a_terminal_is_asked_nothing_while_a_program_writes_plain_text() {
    if !has_view() {
        return;
    }
    for output in ["", "text, \x1b[1;31mred\x1b[0m\r\n"] {
        let start = shell().mute().arg("run").arg("--").arg("cat output").file("output", output);
        let mut pty = start.spawn();
        assert_eq!(pty.ended(), 0, "{}", pty.screen());
        assert!(pty.screen().contains("no changes"), "{}", pty.screen());
        let raw = String::from_utf8_lossy(&pty.raw()).into_owned();
        assert!(!raw.contains("\x1b[6n") && !raw.contains(";?"), "{raw:?}");
    }
}
