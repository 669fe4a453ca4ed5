//! What terminals send, whole and in pieces.

use super::*;
use proptest::prelude::*;

fn inputs(tokens: Vec<InputToken>) -> Vec<TerminalInput> {
    tokens.into_iter().filter_map(|token| token.input).collect()
}

/// Everything that `bytes` mean when they come at once and nothing follows.
fn all(bytes: &[u8]) -> Vec<TerminalInput> {
    let mut decoder = InputDecoder::default();
    let mut out = inputs(decoder.feed(bytes));
    for _ in 0..=PATIENCE {
        out.extend(inputs(decoder.flush_timeout().into_iter().collect()));
    }
    out
}

fn key(code: KeyCode, modifiers: KeyModifiers) -> TerminalInput {
    TerminalInput::Key(KeyEvent::new(code, modifiers))
}

#[test]
fn keys_of_every_kind_of_terminal() {
    const NONE: KeyModifiers = KeyModifiers::NONE;
    const SHIFT: KeyModifiers = KeyModifiers::SHIFT;
    const ALT: KeyModifiers = KeyModifiers::ALT;
    const CTRL: KeyModifiers = KeyModifiers::CONTROL;
    let table: &[(&[u8], KeyCode, KeyModifiers)] = &[
        (b"a", KeyCode::Char('a'), NONE),
        (b"A", KeyCode::Char('A'), SHIFT),
        ("日".as_bytes(), KeyCode::Char('日'), NONE),
        (b"\r", KeyCode::Enter, NONE),
        (b"\n", KeyCode::Char('j'), CTRL),
        (b"\t", KeyCode::Tab, NONE),
        (b"\x7f", KeyCode::Backspace, NONE),
        (b"\x08", KeyCode::Char('h'), CTRL),
        (b"\0", KeyCode::Char(' '), CTRL),
        (b"\x1c", KeyCode::Char('4'), CTRL),
        (b"\x1b", KeyCode::Esc, NONE),
        (b"\x1br", KeyCode::Char('r'), ALT),
        (b"\x1b\r", KeyCode::Enter, ALT),
        (b"\x1b[", KeyCode::Char('['), ALT),
        (b"\x1b]", KeyCode::Char(']'), ALT),
        (b"\x1bO", KeyCode::Char('O'), ALT | SHIFT),
        (b"\x1b[A", KeyCode::Up, NONE),
        (b"\x1bOA", KeyCode::Up, NONE),
        (b"\x1b[1;5C", KeyCode::Right, CTRL),
        (b"\x1b[Z", KeyCode::BackTab, SHIFT),
        (b"\x1b[3~", KeyCode::Delete, NONE),
        (b"\x1b[5;2~", KeyCode::PageUp, SHIFT),
        (b"\x1b[[C", KeyCode::F(3), NONE),
        (b"\x1bOP", KeyCode::F(1), NONE),
        (b"\x1b[24~", KeyCode::F(12), NONE),
        // xterm's modifyOtherKeys.
        (b"\x1b[27;2;13~", KeyCode::Enter, SHIFT),
        (b"\x1b[27;5;105~", KeyCode::Char('i'), CTRL),
        // The kitty keyboard protocol.
        (b"\x1b[13;2u", KeyCode::Enter, SHIFT),
        (b"\x1b[27u", KeyCode::Esc, NONE),
        (b"\x1b[99;5u", KeyCode::Char('c'), CTRL),
        (b"\x1b[97:65;2u", KeyCode::Char('A'), SHIFT),
        (b"\x1b[9;2u", KeyCode::BackTab, SHIFT),
        (b"\x1b[57414u", KeyCode::Enter, NONE),
        (b"\x1b[97;1:1u", KeyCode::Char('a'), NONE),
    ];
    for (bytes, code, modifiers) in table {
        assert_eq!(all(bytes), [key(*code, *modifiers)], "{:?}", String::from_utf8_lossy(bytes));
    }
}

#[test]
fn answers_of_the_terminal_are_never_typed() {
    let answers: &[&[u8]] = &[
        b"\x1b]11;rgb:1e1e/1e1e/2e2e\x07",
        b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\",
        b"\x1bP>|kitty(0.32.1)\x1b\\",
        b"\x1b_Gi=31;OK\x1b\\",
        b"\x1b[?62;22c",
        b"\x1b[>41;354;0c",
        b"\x1b[24;80R",
        b"\x1b[?2026;2$y",
        b"\x1b[?1u",
        b"\x1b[8;24;80t",
        b"\x1b[97;1:3u",
        b"\x1b[<0;10;5M",
        b"\x1b[201~",
        b"\x1b[\x18",
    ];
    for answer in answers {
        let shown = String::from_utf8_lossy(answer).into_owned();
        let said: Vec<TerminalInput> = all(answer)
            .into_iter()
            .filter(|i| *i != key(KeyCode::Char('x'), KeyModifiers::CONTROL))
            .collect();
        assert_eq!(said, [], "{shown:?}");
        // Between keys, byte by byte.
        let mut decoder = InputDecoder::default();
        let mut typed = Vec::new();
        for byte in [b"a".as_slice(), answer, b"b"].concat() {
            typed.extend(inputs(decoder.feed(&[byte])));
        }
        typed.retain(|i| *i != key(KeyCode::Char('x'), KeyModifiers::CONTROL));
        let letters = ['a', 'b'].map(|c| key(KeyCode::Char(c), KeyModifiers::NONE));
        assert_eq!(typed, letters, "{shown:?}");
    }
}

#[test]
fn an_answer_that_never_ends_is_given_up_and_typing_goes_on() {
    let mut decoder = InputDecoder::default();
    assert_eq!(decoder.feed(b"\x1b]11;rgb:"), []);
    for _ in 1..PATIENCE {
        assert_eq!(decoder.flush_timeout(), None);
    }
    assert!(decoder.flush_timeout().is_some_and(|token| token.input.is_none()));
    assert_eq!(inputs(decoder.feed(b"a")), [key(KeyCode::Char('a'), KeyModifiers::NONE)]);
    // However long it is.
    let mut decoder = InputDecoder::default();
    decoder.feed(b"\x1b]52;c;");
    decoder.feed(&[b'A'; LONGEST_ANSWER]);
    assert!(!decoder.is_waiting());
}

#[test]
fn the_focus_is_news_and_no_key() {
    assert_eq!(all(b"\x1b[I"), [TerminalInput::FocusGained]);
    assert_eq!(all(b"\x1b[O"), [TerminalInput::FocusLost]);
}

#[test]
fn a_paste_with_another_beginning_in_it_is_one_paste() {
    let bytes = b"\x1b[200~a\x1b[200~b\r\n\0\x1b[31m\x1b[201~c";
    let expected = [
        TerminalInput::Paste("a\u{1b}[200~b\r\n\0\u{1b}[31m".into()),
        key(KeyCode::Char('c'), KeyModifiers::NONE),
    ];
    assert_eq!(all(bytes), expected);
}

#[test]
fn a_paste_without_an_end_ends_with_ctrl_c() {
    let mut decoder = InputDecoder::default();
    assert_eq!(decoder.feed(b"\x1b[200~half"), []);
    assert!(!decoder.is_waiting(), "time ends no paste: a slow line would be typed");
    assert_eq!(inputs(decoder.feed(b"\x03")), [TerminalInput::Paste("half".into())]);
}

#[test]
fn lines_that_come_at_once_are_a_paste_where_none_is_marked() {
    let burst = b"one line\rand two\rand three\r";
    assert_eq!(all(burst), [TerminalInput::Paste("one line\rand two\rand three\r".into())]);
    let mut decoder = InputDecoder::default();
    decoder.feed(burst);
    decoder.feed(b"the rest\r");
    let whole = String::from_utf8_lossy(burst).into_owned() + "the rest\r";
    assert_eq!(decoder.flush_timeout().and_then(|t| t.input), Some(TerminalInput::Paste(whole)));
    // Keys that are held down and a line typed ahead are keys.
    assert_eq!(all(b"\r\r\r\r\r").len(), 5);
    assert_eq!(all(b"ls\rls\r").len(), 6);
}

#[test]
fn a_paste_that_is_too_long_is_refused_whole() {
    let mut decoder = InputDecoder::default();
    decoder.feed(b"\x1b[200~");
    for _ in 0..11 {
        assert_eq!(decoder.feed(&[b'x'; 1024 * 1024]), []);
    }
    let tokens = decoder.feed(b"\x1b[201~a");
    let expected =
        [TerminalInput::PasteRefused(11 * 1024 * 1024), key(KeyCode::Char('a'), KeyModifiers::NONE)];
    assert_eq!(inputs(tokens), expected);
}

/// A megabyte with everything that a paste may contain.
fn megabyte() -> Vec<u8> {
    let piece = "line of text\r\n日本語\ttab\0nul \u{1b}[200~ 👩\u{200d}👧\r";
    piece.repeat(1024 * 1024 / piece.len()).into_bytes()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_megabyte_arrives_whole_however_it_is_cut(cuts in prop::collection::vec(1usize..70_000, 1..40)) {
        let content = megabyte();
        let bytes = [b"\x1b[200~".as_slice(), &content, PASTE_END].concat();
        let mut decoder = InputDecoder::default();
        let (mut out, mut rest, mut cuts) = (Vec::new(), bytes.as_slice(), cuts.iter().cycle());
        while !rest.is_empty() {
            let (now, later) = rest.split_at((*cuts.next().unwrap()).min(rest.len()));
            out.extend(inputs(decoder.feed(now)));
            rest = later;
        }
        prop_assert_eq!(out, [TerminalInput::Paste(String::from_utf8(content).unwrap())]);
    }

    #[test]
    fn any_bytes_in_any_pieces_mean_the_same_and_none_is_lost(
        bytes in prop::collection::vec(prop_oneof![Just(0x1bu8), Just(b'['), Just(b']'), Just(b';'), Just(b'~'), any::<u8>()], 0..60),
        cut in 0usize..60,
    ) {
        prop_assume!(!is_burst(&bytes) && !bytes.contains(&3));
        let mut whole = InputDecoder::default();
        let tokens = whole.feed(&bytes);
        let mut raw: Vec<u8> = tokens.iter().flat_map(|t| t.raw.clone()).collect();
        raw.extend(whole.finish());
        prop_assert_eq!(&raw, &bytes);
        let (first, second) = bytes.split_at(cut.min(bytes.len()));
        prop_assume!(!is_burst(second));
        let mut parts = InputDecoder::default();
        let mut pieces = parts.feed(first);
        pieces.extend(parts.feed(second));
        prop_assert_eq!(inputs(pieces), inputs(tokens));
    }
}

/// A question has to know of every byte that was read.
#[test]
fn no_bytes_are_read_without_a_token() {
    let nothing: &[&[u8]] =
        &[b"\xff", b"\xe9a", b"\x9ba", b"\x1b[999z", b"\x1b[201~", b"\x1b]52;c;x\x07", b"\x1b[<0;1;1M"];
    for bytes in nothing {
        let tokens = InputDecoder::default().read(bytes);
        assert!(tokens.first().is_some_and(|token| token.input.is_none()), "{bytes:?}: {tokens:?}");
    }
    for begun in [b"\x1b".as_slice(), b"\xe2", b"\x1b[", b"\x1b]52;c;", b"\x1b[200~a", b"aa\rbb\rcc\r"] {
        let tokens = InputDecoder::default().read(begun);
        assert_eq!(
            tokens.last().and_then(|token| token.input.clone()),
            Some(TerminalInput::Unfinished),
            "{begun:?}"
        );
    }
    assert_eq!(inputs(InputDecoder::default().read(b"a")), all(b"a"));
    let Some(TerminalInput::Key(held)) = all(b"\x1b[97;1:2u").pop() else { panic!("no key") };
    assert_eq!((held.code, held.kind), (KeyCode::Char('a'), KeyEventKind::Repeat));
}

/// All of `pieces`, with a moment between them, while the terminal's background is expected.
fn expecting(pieces: &[&[u8]]) -> Vec<TerminalInput> {
    let mut decoder = InputDecoder::default();
    let mut out = Vec::new();
    for piece in pieces {
        decoder.expect_color(true);
        out.extend(inputs(decoder.feed(piece)));
        out.extend(inputs(decoder.flush_timeout().into_iter().collect()));
    }
    out
}

#[test]
fn an_expected_answer_is_cut_out_wherever_it_comes() {
    let answer = b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\";
    let (a, b) = (key(KeyCode::Char('a'), KeyModifiers::NONE), key(KeyCode::Char('b'), KeyModifiers::NONE));
    let escape = key(KeyCode::Esc, KeyModifiers::NONE);
    for at in 0..answer.len() {
        let (first, second) = answer.split_at(at);
        let typed = expecting(&[b"a", first, second, b"b"]);
        // An escape that came alone was a key; nothing of the rest is typed.
        let want =
            if at == 1 { vec![a.clone(), escape.clone(), b.clone()] } else { vec![a.clone(), b.clone()] };
        assert_eq!(typed, want, "cut at {at}");
    }
    let paste = [&b"\x1b[200~one "[..], answer, b"two", answer, b"\x1b[201~"].concat();
    for at in PASTE_BEGIN.len()..paste.len() {
        let (first, second) = paste.split_at(at);
        let typed = expecting(&[first, second]);
        assert_eq!(typed, [TerminalInput::Paste("one two".into())], "cut at {at}");
    }
    // Lines that come at once are a paste all the same.
    let burst = [&b"one\rtwo\r"[..], answer, b"three\rfour\r"].concat();
    assert_eq!(expecting(&[&burst]), [TerminalInput::Paste("one\rtwo\rthree\rfour\r".into())]);
    // What a person types is not taken for an answer.
    assert_eq!(expecting(&[b"\x1b", b"]"]), [escape, key(KeyCode::Char(']'), KeyModifiers::NONE)]);
}
