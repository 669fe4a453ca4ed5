use super::*;
use proptest::prelude::*;

#[test]
fn escape_sequences_disappear_and_other_controls_are_shown() {
    for (raw, clean) in [
        ("plain", "plain"),
        ("a\u{1b}[31mred\u{1b}[0m", "ared"),
        ("\u{1b}]0;title\u{7}x", "x"),
        ("\u{1b}]52;c;QUJD\u{1b}\\x", "x"),
        ("\u{1b}Pq#0\u{1b}\\x", "x"),
        ("\u{1b}_Gf=100;AAAA\u{1b}\\x", "x"),
        ("\u{9b}2Jx\u{9d}0;t\u{9c}y", "xy"),
        ("\u{1b}cx", "x"),
        ("\u{1b}(Bx", "x"),
        ("a\rb", "a\u{240d}b"),
        ("a\u{8}\u{7}b", "a\u{2408}\u{2407}b"),
        ("a\tb", "a   b"),
        ("a\u{202e}b", "a<U+202E>b"),
        ("a\u{200b}b", "a<U+200B>b"),
        ("e\u{301}", "e\u{301}"),
        ("👩\u{200d}👩\u{200d}👧", "👩\u{200d}👩\u{200d}👧"),
        ("\u{1b}", ""),
        ("\u{1b}[", ""),
    ] {
        assert_eq!(line(raw), clean, "{raw:?}");
    }
    assert_eq!(block("a\r\nb\nc"), "a\nb\nc");
    assert_eq!(line("a\nb"), "a\u{240a}b");
}

#[test]
fn an_unfinished_string_ends_with_its_line() {
    assert_eq!(block("\u{1b}]0;never closed\nnext"), "\nnext");
}

#[test]
fn a_tower_of_combining_marks_is_cut() {
    let tower = format!("a{}b", "\u{301}".repeat(100_000));
    assert!(line(&tower).len() < 40);
}

/// A model sends a mark at a time, and each piece began to count anew.
#[test]
fn a_tower_that_arrives_mark_by_mark_is_cut_at_the_same_height() {
    let tower = format!("a{}b", "\u{301}".repeat(100));
    let mut stream = Stream::default();
    let shown: String = tower.chars().map(|c| stream.feed(c.encode_utf8(&mut [0; 4]))).collect();
    assert_eq!(shown, block(&tower));
}

proptest! {
    #[test]
    fn no_control_character_survives(text in "(\\PC|[\\x00-\\x1f\\x7f-\\x9f]|\u{1b}\\[|\u{1b}\\]|\u{202e}){0,60}") {
        prop_assert!(line(&text).chars().all(|c| !c.is_control() && !is_hidden(c)));
        prop_assert!(block(&text).chars().all(|c| c == '\n' || !c.is_control() && !is_hidden(c)));
        prop_assert!(is_plain(&name(&text)));
    }

    #[test]
    fn a_stream_shows_the_same_however_it_is_cut(
        text in "([a-z\u{e9}\\n\\t]|\r\n|\u{1b}\\[3[0-9]m|\u{1b}\\]0;[a-z]{0,5}\u{7}){0,40}",
        cuts in proptest::collection::vec(0usize..200, 0..6),
    ) {
        let mut cuts: Vec<usize> = cuts.into_iter().filter(|c| *c <= text.len() && text.is_char_boundary(*c)).collect();
        cuts.sort_unstable();
        let mut stream = Stream::default();
        let mut out = String::new();
        let mut from = 0;
        for cut in cuts.into_iter().chain([text.len()]) {
            out.push_str(&stream.feed(&text[from..cut]));
            from = cut;
        }
        let mut whole = Stream::default();
        prop_assert_eq!(out, whole.feed(&text));
    }
}

#[test]
fn a_name_is_written_out_where_it_would_look_like_another_one() {
    assert_eq!(name("e\u{301}\u{202e}gnp.exe"), "e\u{301}\\u{202e}gnp.exe");
    let tower: String = std::iter::once('e').chain(std::iter::repeat_n('\u{301}', 10)).collect();
    assert_eq!(name(&tower), format!("e{}\\u{{301}}\\u{{301}}", "\u{301}".repeat(8)));
}
