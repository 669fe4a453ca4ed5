use super::super::decode::InputDecoder;
use super::*;
use std::time::Duration;

/// Bytes with the times, in milliseconds, at which they are read: what the terminal shows, and what comes of it.
fn play(reads: &[(u64, &str)]) -> (String, Vec<TypedLine>) {
    let start = Instant::now();
    let (mut decoder, mut line) = (InputDecoder::default(), LineInput::default());
    let (mut echo, mut out) = (String::new(), Vec::new());
    for millis in 0..3_000 {
        let now = start + Duration::from_millis(millis);
        out.extend(line.take_due_line(now));
        let mut inputs = Vec::new();
        for (_, bytes) in reads.iter().filter(|(at, _)| *at == millis) {
            inputs.extend(decoder.read(bytes.as_bytes()));
        }
        if millis % 40 == 39 {
            inputs.extend(decoder.flush_timeout());
        }
        for input in inputs.into_iter().map(|token| token.input.unwrap_or(TerminalInput::Ignored)) {
            let (shown, typed) = line.take(&input, now);
            echo.push_str(&shown);
            out.extend(typed.filter(|typed| !matches!(typed, TypedLine::Begun(_))));
        }
    }
    (echo, out)
}

#[test]
fn a_line_counts_as_typed_when_its_enter_comes_alone() {
    let line = |text: &str| vec![TypedLine::Line(text.into())];
    let at_once = |text: &str| vec![TypedLine::AtOnce(text.into())];
    type LineInputCase<'a> = (&'a [(u64, &'a str)], Vec<TypedLine>);
    let cases: [LineInputCase<'_>; 18] = [
        (&[(0, "a"), (100, "\r")], line("a")),
        (&[(0, "ap"), (30, "ply"), (200, "\n")], line("apply")),
        (&[(0, "a\r")], at_once("a")),
        (&[(0, "a"), (19, "\r")], at_once("a")),
        // A hand that rolls from the letter to Enter.
        (&[(0, "a"), (25, "\r")], line("a")),
        (&[(0, "a"), (100, "\r"), (120, "b"), (300, "\r")], vec![TypedLine::Pasted("a\nb".into())]),
        (&[(0, "a\ra\r")], vec![TypedLine::Pasted("a\na".into())]),
        (&[(0, "aaa\raaa\raaa\r")], vec![TypedLine::Pasted("aaa\naaa\naaa\n".into())]),
        (&[(0, "\x1b[200~a\r\x1b[201~")], at_once("a")),
        (&[(0, "\r")], line("")),
        // Bytes that type nothing, and keys that only look like an Enter or a letter.
        (&[(0, "a"), (100, "\r\x1b[999z")], at_once("a")),
        (&[(0, "a"), (100, "\x1b[I\r")], at_once("a")),
        (&[(0, "a"), (100, "\r\x1b]52;c;")], at_once("a")),
        (&[(0, "a\x1b]52;c;x\x07"), (200, "\r")], line("a")),
        (&[(0, "a"), (100, "\x1b[13;9u")], at_once("a")),
        (&[(0, "a"), (100, "\x1b[13;1:2u")], at_once("a")),
        (&[(0, "a\x1b[98;9u\x1b[98;17u\x1b[98;33u"), (200, "\r")], line("a")),
        (&[(0, "a"), (100, "\x1b[13;1:1u")], line("a")),
    ];
    for (reads, wanted) in cases {
        assert_eq!(play(reads).1, wanted, "{reads:?}");
    }
}

#[test]
fn the_line_is_edited_and_shown_as_a_terminal_does_it() {
    let (echo, typed) =
        play(&[(0, "on日x"), (100, "\x7f\x7f"), (200, "e two"), (300, "\x17"), (400, "2"), (500, "\r")]);
    assert_eq!(typed, [TypedLine::Line("one 2".into())]);
    assert_eq!(echo, "on日x\u{8} \u{8}\u{8} \u{8}\u{8} \u{8}e two\u{8} \u{8}\u{8} \u{8}\u{8} \u{8}2");
    let (_, typed) = play(&[(0, "gone"), (100, "\x15"), (200, "x\x1b[A"), (400, "\r")]);
    assert_eq!(typed, [TypedLine::Line("x".into())]);
}

#[test]
fn control_keys_act_at_once_and_nothing_typed_acts_on_the_terminal() {
    let (echo, typed) = play(&[(0, "half"), (100, "\x03"), (200, "\x04"), (300, "x"), (400, "\x1a")]);
    assert_eq!(typed, [TypedLine::Stop("half".into()), TypedLine::End, TypedLine::Suspend("x".into())]);
    assert_eq!(echo, "half^C\r\nx^Z");
    let (echo, _) = play(&[(0, "\x1b[200~\x1b]52;c;x\x07\x1b[2J\u{9b}x\x1b[201~")]);
    assert!(!echo.contains(['\x1b', '\x07', '\u{9b}']), "{echo:?}");
}
