//! The sanitiser: what it lets out cannot move a cursor or reorder text, cleaning twice is cleaning once, and a text
//! that arrives in pieces is as clean as one that arrives whole.
#![no_main]

use libfuzzer_sys::fuzz_target;
use placet::text::sanitize::{Stream, block, line, name};

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn assert_clean(text: &str, breaks: bool) {
    for c in text.chars() {
        assert!(!c.is_control() || breaks && c == '\n', "{c:?} in {text:?}");
        assert!(!is_bidi(c), "{c:?} in {text:?}");
    }
}

fuzz_target!(|data: (&str, u16)| {
    let (text, cut) = data;
    let (one, many) = (line(text), block(text));
    assert_clean(&one, false);
    assert_clean(&many, true);
    assert_eq!(line(&one), one);
    assert_eq!(block(&many), many);
    assert!(!name(text).chars().any(char::is_control));
    assert_eq!(name(&name(text)), name(text));

    let cut = (0..=usize::from(cut).min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap();
    let mut pieces = Stream::default();
    let mut shown = pieces.feed(&text[..cut]);
    shown.push_str(&pieces.feed(&text[cut..]));
    assert_clean(&shown, true);
    let mut whole = Stream::default();
    let expected = whole.feed(text);
    if text.len() <= 4096 {
        assert_eq!(shown, expected, "cut at {cut}");
    }
});
