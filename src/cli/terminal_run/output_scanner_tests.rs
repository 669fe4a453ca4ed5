//! The scanner and the tracker together: what is passed, and what is reset at the end.

use super::*;
use crate::ui::terminal_colors::ProgramColors;
use proptest::prelude::*;

/// Passed bytes, and what resets the modes, for output that comes in pieces of `step` bytes.
fn passed(output: &[u8], step: usize) -> (Vec<u8>, ModeTracker) {
    let (mut scanner, mut tracker, mut out) = (OutputScanner::new(), ModeTracker::default(), Vec::new());
    for piece in output.chunks(step) {
        scanner.feed(piece, &mut out, &mut tracker, |_, _| {});
    }
    out.extend(scanner.finish());
    (out, tracker)
}

fn reset(output: &str) -> String {
    let (_, tracker) = passed(output.as_bytes(), 3);
    tracker.reset().escape_ascii().to_string()
}

#[test]
fn a_request_for_the_clipboard_is_not_passed_however_it_is_written() {
    for request in [
        "\x1b]52;c;?\x07",
        "\x1b]52;c;?\x1b\\",
        // DEL does nothing within a sequence.
        "\x1b\x7f]52;c;?\x07",
        "\x1b\x7f\x7f]52;c;?\x1b\\",
        "\x1b]\x7f52;c;?\x07",
        "\x1b]5\x7f2;c;?\x07",
        "\x1b]052;;?\x07",
        "\x1b]5\x002;pc;\x01?\x07",
        "\x1b]52;cp01234567;?trailing\x07",
        "\u{9d}52;c;?\u{9c}",
        "\x1b]52;c;?\u{9c}",
        "\x1b]5522;type=read;Lg==\x1b\\",
        "\x1b]5522;loc=primary:type=read\x07",
        &format!("\x1b]52;{};?\x07", "c".repeat(1000)),
    ] {
        let output = format!("before{request}after");
        for step in [1, 2, 3, 7, 10_000] {
            let (out, _) = passed(output.as_bytes(), step);
            let text = String::from_utf8_lossy(&out).replace("\x1b\\", "").replace('\u{9c}', "");
            assert_eq!(text, "beforeafter", "{request:?} in pieces of {step}");
        }
    }
}

#[test]
fn everything_else_is_passed_unchanged() {
    for output in [
        "\x1b]52;c;aGVsbG8=\x07",
        "\x1b]52;c;\x07",
        "\x1b]5522;type=write\x1b\\",
        "\x1b]11;?\x07\x1b[c\x1b[6n\x1b[?u\x1b[>q",
        "\x1bP+q544e\x1b\\\x1b_Ga=q;AAAA\x1b\\\x1bPq#0;2;0;0;0~~\x1b\\",
        "\x1b]8;;https://example.org/?q=1\x1b\\link\x1b]8;;\x1b\\",
        "text \u{a0}\u{e9} \u{1f600} \x1b[38;5;1mred\x1b[m\r\n",
        "\x1b]133;A\x07\x1b]66;s=2;big\x07\x1b]1337;File=:\x07\x1b]P0000000",
        "\x1b(0lqk\x1b(B\x0e\x0f\x1b#8\x1b7\x1b8\x1bM",
        "cut \x1b[38;2;1",
    ] {
        for step in [1, 2, 5, 10_000] {
            let (out, _) = passed(output.as_bytes(), step);
            assert_eq!(String::from_utf8_lossy(&out), output, "in pieces of {step}");
        }
    }
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(passed(&all, 1).0, all);
}

#[test]
fn the_title_is_stored_before_its_first_change() {
    let (out, _) = passed(b"\x1b]2;one\x07\x1b]0;two\x07", 1);
    assert_eq!(out.escape_ascii().to_string(), r"\x1b[22;0t\x1b]2;one\x07\x1b]0;two\x07");
}

#[test]
fn what_the_program_left_on_is_reset() {
    assert!(reset("\x1b\x7f[?1000h").contains("[?1000l"));
    for (output, expected) in [
        ("plain \x1b[31mtext", ""),
        ("\x1b[?1000;1006h", r"\x1b[?1000l\x1b[?1006l"),
        ("\x1b[?1000h\x1b[?1000l", ""),
        ("\x1b[?25l\x1b[?7l", r"\x1b[?7h\x1b[?25h"),
        ("\x1b[?1049h\x1b[>7u", r"\x1b[<1u\x1b[?1049l"),
        ("\x1b[>1u\x1b[>3u\x1b[<u", r"\x1b[<1u"),
        ("\x1b[=5;1u", r"\x1b[=0;1u"),
        ("\x1b[>4;2m", r"\x1b[>4;0m"),
        ("\x1b[>4;2m\x1b[>4m", ""),
        ("\x1b[5;10r", r"\x1b7\x1b[r\x1b8"),
        ("\x1b[4 q\x1b=", r"\x1b>\x1b[0 q"),
        ("\x1b]9;4;1;50\x07", r"\x1b]9;4;0\x1b\\"),
        ("\x1b[?1000h\x1b[?1049h\x1bc", ""),
        ("\x1b[?31337h", ""),
    ] {
        assert_eq!(reset(output), expected, "{output:?}");
    }
}

/// Story: a reset of one colour, a question at the end of a text and the forms of kitty and iTerm2 hid changed colours.
#[test]
fn a_string_that_is_not_known_to_change_no_colour_may_have_changed_some() {
    for (output, expected) in [
        ("plain \x1b[31mtext\x1b]2;title\x07\x1b]8;;http://a\x07\x1b]133;A\x07", ProgramColors::Untouched),
        ("\x1b]4;4;rgb:ff/ff/ff\x07\x1b]104;0\x07", ProgramColors::MaybeChanged),
        ("\x1b]10;rgb:ff/ff/ff;?\x07", ProgramColors::MaybeChanged),
        ("\x1b]10;#111;#111\x07\x1bc", ProgramColors::MaybeChanged),
        ("\x1b]21;foreground=black\x1b\\", ProgramColors::MaybeChanged),
        ("\x1b]1337;SetColors=fg=000\x07", ProgramColors::MaybeChanged),
        ("\x1b]P0ffffff\x1b\\", ProgramColors::MaybeChanged),
        ("\x1b%@\u{a0}", ProgramColors::MaybeChanged),
    ] {
        let (_, tracker) = passed(output.as_bytes(), 3);
        assert_eq!(tracker.colors(), expected, "{output:?}");
    }
}

proptest! {
    /// Whatever comes, in whatever pieces: without clipboard requests and titles nothing is added, lost or reordered.
    #[test]
    fn bytes_pass_in_order(
        output in prop::collection::vec(
            prop_oneof![
                Just(0x1bu8), Just(b'['), Just(b']'), Just(b'?'), Just(b';'), Just(b'h'), Just(b'4'), Just(0x07),
                Just(0xc2), Just(0x9c), Just(b'P'), Just(b'\\'), Just(0x18), any::<u8>(),
            ],
            0..200,
        ),
        step in 1usize..20,
    ) {
        let text = String::from_utf8_lossy(&output).into_owned();
        let has_number = |digit: char| text.contains(digit);
        prop_assume!(!['0', '1', '2', '5'].into_iter().any(has_number));
        let (out, _) = passed(&output, step);
        // A string that has only begun is not passed at the end.
        prop_assert!(output.starts_with(&out), "{} became {}", output.escape_ascii(), out.escape_ascii());
        prop_assert!(output.len() - out.len() <= 260);
    }
}
