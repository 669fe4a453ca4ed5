use super::piece::joined;
use super::samples::bytes;
use super::*;
use proptest::prelude::*;
use std::borrow::Cow;
use std::path::Path;

#[test]
fn everything_that_acts_or_hides_becomes_a_sign() {
    for (raw, shown) in [
        ("plain", "plain"),
        ("a\u{1b}[31mred\u{1b}[0m", "a␛[31mred␛[0m"),
        ("\"\u{1b}]\" ; evil #\u{7}", "\"␛]\" ; evil #␇"),
        ("\u{9b}2Jx", "<U+009B>2Jx"),
        ("a\rb", "a⏎b"),
        ("a\tb", "a⇥  b"),
        ("a\u{202e}b", "a<U+202E>b"),
        ("a\u{200b}\u{200b}b", "a<U+200B x2>b"),
        ("a\u{3164}b\u{2800}", "a<U+3164>b<U+2800>"),
        ("a\u{a0}b", "a<U+00A0>b"),
        ("e\u{301}", "e<U+0301>"),
        ("⚠\u{fe0f}", "⚠<U+FE0F>"),
        ("end  ", "end␣␣"),
        ("<U+200B>", "<U+003C>U+200B>"),
        ("<FF x3> <b> <U+12", "<U+003C>FF x3> <b> <U+12"),
        ("␛ ⇥ ◆", "<U+241B> <U+21E5> <U+25C6>"),
        ("\0\0\0\0", "<U+0000 x4>"),
        ("שלום नमस्ते", "שלום नमस्ते"),
        ("Привет", "Привет"),
        ("\u{430}dmin", "<U+0430>dmin"),
    ] {
        assert_eq!(line(raw), shown, "{raw:?}");
        assert_eq!(read_back(&line(raw)), raw.as_bytes(), "{raw:?}");
    }
    assert_eq!(block("a\r\nb \nc"), "a⏎\nb␣\nc");
    assert_eq!(line("a\nb"), "a␊b");
    assert_eq!(name(" a"), "␣a");
    for (bytes, shown) in [
        (&b"a.rs"[..], "a.rs"),
        (b"A new.txt", "\"A new.txt\""),
        (b"a\"b", "\"a<U+0022>b\""),
        (b"a\xff", "a<FF>"),
        (b"a\xfe", "a<FE>"),
        (b"a\nb", "a␊b"),
        (b"", "\"\""),
    ] {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(path(Path::new(std::ffi::OsStr::from_bytes(bytes))), shown);
    }
    assert_eq!(visible(b"a\xff\xfe\xfe\xe2\x82z", LineBreaks::Shown), "a<FF><FE x2><E2><82>z");
}

/// Story: 100,000 zero-width characters took 800 kB on the screen, and code after 700 spaces was never seen.
#[test]
fn a_run_is_counted() {
    assert_eq!(line(&"\u{200b}".repeat(100_000)), "<U+200B x100000>");
    assert_eq!(line(&format!("return 2{}; evil", " ".repeat(700))), "return 2<U+0020 x700>; evil");
    let tower: String = std::iter::once('ا').chain(std::iter::repeat_n('\u{64b}', 100_000)).collect();
    assert_eq!(line(&tower).chars().count(), 1 + 8 + "<U+064B x99992>".len());
}

/// Story: two zero-width characters in turn, 100,000 times, were written one by one: 1.6 MB.
#[test]
fn signs_that_repeat_in_turn_are_counted() {
    let turn = |units: &str, times: usize| units.repeat(times);
    assert_eq!(line(&turn("\u{200b}\u{200c}", 5_000)), "<(U+200B U+200C) x5000>");
    assert_eq!(line(&turn("\u{1b}\u{7}", 8)), "<(U+001B U+0007) x8>");
    assert_eq!(line(&turn("\u{1b}\u{7}", 7)), "␛␇".repeat(7));
    assert_eq!(line(&turn("\u{200b}\u{200b}\u{200c}", 9)), "<(U+200B x2 U+200C) x9>");
    assert_eq!(
        line(&turn("\u{2060}\u{200c}\u{200d}\u{200b}", 3_000)),
        "<(U+2060 U+200C U+200D U+200B) x3000>"
    );
    // A pattern that begins late, and a pattern that ends within itself.
    let late = format!("a\u{2060}{}\u{200b}\tb", turn("\u{200b}\u{200c}", 9));
    assert_eq!(line(&late), "a<U+2060><(U+200B U+200C) x9><U+200B>⇥  b");
    assert_eq!(visible(&b"\xff\xfe".repeat(20), LineBreaks::Shown), "<(FF FE) x20>");
    for manner in [
        VisibleMode::Exact,
        VisibleMode::Quiet,
        VisibleMode::Rendered,
        VisibleMode::Prose,
        VisibleMode::Output,
    ] {
        let raw = format!("a{}b", turn("\u{202e}\u{200b}", 5_000));
        let shown = joined(&pieces(raw.as_bytes(), manner, LineBreaks::Kept, &[]));
        assert_eq!(shown, "a<(U+202E U+200B) x5000>b", "{manner:?}");
        let all: Vec<_> =
            pieces(raw.as_bytes(), manner, LineBreaks::Kept, &[]).into_iter().map(|p| p.bytes).collect();
        assert_eq!(all, [0..1, 1..raw.len() - 1, raw.len() - 1..raw.len()]);
    }
    // Text that only looks like such a sign is not a sign.
    for said in ["<(U+200B U+200C) x9>", "<(FF U+200C x3 FE U+001B) x9>"] {
        assert_eq!(line(said), said.replacen('<', "<U+003C>", 1));
    }
    for said in
        ["<(U+200B) x9>", "<(U+200B U+200C)>", "cat <(ls)", "<(FF FE FF FE FF) x9>", "<(FF FE) x>", "<(FF"]
    {
        assert_eq!(line(said), said);
    }
    // Lines remain unchanged.
    assert_eq!(line(&"\r\n".repeat(9)), "⏎␊".repeat(9));
}

#[test]
fn prose_keeps_what_scripts_and_emoji_need() {
    for (raw, shown) in [
        ("👩\u{200d}👧 ⚠\u{fe0f} e\u{301} a\u{a0}b", "👩\u{200d}👧 ⚠\u{fe0f} e\u{301} a\u{a0}b"),
        ("a\tb  \r\nc", "a   b  \nc"),
        ("\u{1b}[31mred ◆ \u{202e}", "␛[31mred <U+25C6> <U+202E>"),
        ("\u{200d}", "<U+200D>"),
    ] {
        assert_eq!(prose(raw), shown, "{raw:?}");
    }
}

#[test]
fn a_guard_leaves_signs_as_they_are() {
    assert_eq!(guard("a<U+200B>␛  \nb "), "a<U+200B>␛  \nb ");
    assert_eq!(guard_line("\u{1b}]0;x\u{7}\n◆"), "␛]0;x␇␊<U+25C6>");
}

#[test]
fn output_loses_colours_and_nothing_else() {
    for (raw, shown) in [
        ("\u{1b}[1;32mok\u{1b}[0m\u{1b}[K\u{1b}(B", "ok"),
        ("\u{1b}[;`cmd`mx", "␛[;`cmd`mx"),
        ("\u{1b}]0;title\u{7}x", "␛]0;title␇x"),
        ("\u{1b}[2J\u{1b}[H", "␛[2J␛[H"),
        ("\u{1b}", "␛"),
        ("\u{1b}[31", "␛[31"),
        ("\u{1b}\u{1b}[31mx", "␛x"),
    ] {
        assert_eq!(output(raw), shown, "{raw:?}");
    }
}

#[test]
fn look_alikes_are_known() {
    assert!(looks_like("admin", "\u{430}dmin"));
    assert!(looks_like("a;", "a\u{37e}"));
    assert!(!looks_like("admin", "admin") && !looks_like("admin", "admln"));
    let shown: String =
        pieces("сор".as_bytes(), VisibleMode::Exact, LineBreaks::Shown, std::slice::from_ref(&(0..6)))
            .into_iter()
            .map(|p| p.text)
            .collect();
    assert_eq!(shown, "<U+0441><U+043E><U+0440>");
}

proptest! {
    #[test]
    fn an_exact_rendering_can_be_read_back(bytes in bytes()) {
        let shown = visible(&bytes, LineBreaks::Kept);
        prop_assert_eq!(read_back(&shown), bytes.clone(), "{}", shown);
        let shown = visible(&bytes, LineBreaks::Shown);
        prop_assert_eq!(read_back(&shown), bytes.clone(), "{}", shown);
        prop_assert!(shown.chars().all(|c| !c.is_control()));
        if let Ok(text) = std::str::from_utf8(&bytes) {
            prop_assert_eq!(read_back(&name(text)), bytes);
        }
    }

    #[test]
    fn no_manner_lets_out_what_a_terminal_acts_on(bytes in bytes()) {
        for manner in [VisibleMode::Exact, VisibleMode::Quiet, VisibleMode::Rendered, VisibleMode::Prose, VisibleMode::Output] {
            let shown = joined(&pieces(&bytes, manner, LineBreaks::Kept, &[]));
            let acts = |c: char| c.is_control() && c != '\n' || c == OWN
                || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            prop_assert!(!shown.chars().any(acts), "{:?}", shown);
        }
    }

    #[test]
    fn pieces_cover_their_bytes_in_order(bytes in bytes()) {
        let pieces = pieces(&bytes, VisibleMode::Exact, LineBreaks::Kept, &[]);
        let mut at = 0;
        for piece in &pieces {
            prop_assert_eq!(piece.bytes.start, at);
            at = piece.bytes.end;
            if piece.kind == VisiblePieceKind::Plain {
                prop_assert_eq!(piece.text.as_bytes(), &bytes[piece.bytes.clone()]);
            }
        }
        prop_assert_eq!(at, bytes.len());
    }

    #[test]
    fn a_stream_shows_the_same_however_it_is_cut(
        bytes in bytes(),
        cuts in prop::collection::vec(0usize..200, 0..6),
        output in any::<bool>(),
    ) {
        let manner = if output { VisibleMode::Output } else { VisibleMode::Prose };
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|c| *c <= bytes.len()).collect();
        cuts.sort_unstable();
        let mut stream = VisibleStream::new(manner);
        let (mut out, mut from) = (String::new(), 0);
        for cut in cuts.into_iter().chain([bytes.len()]) {
            out.push_str(&stream.feed_bytes(&bytes[from..cut]));
            from = cut;
        }
        out.push_str(&stream.finish());
        prop_assert_eq!(out, joined(&pieces(&bytes, manner, LineBreaks::Kept, &[])));
    }

    #[test]
    fn a_path_is_one_word_and_two_paths_differ(one in bytes(), other in bytes()) {
        use std::os::unix::ffi::OsStrExt;
        let of = |bytes: &[u8]| path(Path::new(std::ffi::OsStr::from_bytes(bytes)));
        let (a, b) = (of(&one), of(&other));
        prop_assert_eq!(one == other, a == b, "{} {}", a, b);
        let quoted = a.len() > 1 && a.starts_with('"') && a.ends_with('"');
        let inside = if quoted { &a[1..a.len() - 1] } else { &a };
        prop_assert!(!inside.contains('"') && (quoted || !inside.contains([' ', '\n'])), "{}", a);
        // A list has paths next to each other: `A a -> b` is not the file `a -> b`.
        let ascii = |path: &Path| super::path(path);
        prop_assert_ne!(format!("{} -> {}", ascii(Path::new("a")), ascii(Path::new("b"))), ascii(Path::new("a -> b")));
    }

    #[test]
    fn plain_text_is_found_to_be_plain(text in "[a-zA-Z0-9_.,;:() -]{0,40}[a-z]") {
        prop_assert!(matches!(line(&text), Cow::Borrowed(_)));
    }
}

#[test]
fn every_surface_counts_100_000_characters_without_ink() {
    let many = |c: char| c.to_string().repeat(100_000);
    for c in ['\u{200b}', '\u{2060}', '\u{feff}', '\u{ad}', '\u{e0041}', '\u{202e}', '\0', '\u{200d}'] {
        let text = format!("x{}y", many(c));
        let path = path_name(std::path::Path::new(&text));
        let mut stream = VisibleStream::new(VisibleMode::Output);
        let streamed =
            many(c).chars().map(|c| stream.feed(&c.to_string())).collect::<String>() + &stream.finish();
        for shown in [
            line(&text).into_owned(),
            block(&text).into_owned(),
            name(&text).into_owned(),
            path,
            guard(&text).into_owned(),
            prose(&text).into_owned(),
            prose_line(&text).into_owned(),
            output(&text).into_owned(),
            output_line(&text).into_owned(),
            visible(text.as_bytes(), LineBreaks::Kept),
            streamed,
        ] {
            assert!(shown.len() < 100, "{c:?}: {} bytes", shown.len());
        }
        // A character that the first rendering retains is not a decoded character.
        if c != '\u{200d}' {
            assert!(decoded(&text).len() < 100, "{c:?}: decoded");
        }
    }
}
