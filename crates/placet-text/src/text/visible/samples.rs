//! Hostile texts for the properties of every user interface, and the characters that no user interface may emit.

use proptest::prelude::*;

/// True for characters that a terminal acts on or that reorder text. Line breaks between rows do not count.
pub fn acts(c: char) -> bool {
    c != '\n' && super::acts(c)
}

/// Bytes with everything in them that was once dropped, drawn alike or acted on.
pub fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        4 => "[ -~]{0,6}".prop_map(String::into_bytes),
        3 => prop::sample::select(vec![
            " ", "   ", "\t", "\n", "\r", "\r\n", "\u{1b}[31m", "\u{1b}]0;t\u{7}", "\u{9b}", "<", "<U+200B>", "<U+200B x",
            "<FF>", "\u{200b}", "\u{301}", "\u{64b}", "日", "а", "◆", "⇥", "␛", "\u{3164}", "\u{feff}", "👩\u{200d}👧",
            "\u{202e}", "\0", "↪", "(no line end)", "é", "\u{a0}", "\\ No newline at end of file",
        ]).prop_map(|s| s.as_bytes().to_vec()),
        1 => (prop::collection::vec(bytes_of_a_sign(), 1..6), 1usize..20).prop_map(|(parts, n)| parts.concat().repeat(n)),
        1 => Just(b"<(U+200B U+200C x2) x12>".to_vec()),
        1 => (0usize..80).prop_map(|n| vec![b' '; n]),
        1 => any::<char>().prop_map(|c| c.to_string().into_bytes()),
        2 => prop::collection::vec(any::<u8>(), 0..4),
    ];
    prop::collection::vec(part, 0..16).prop_map(|parts| parts.concat())
}

/// A text, and two versions of it that differ in little: a content before a change, and two after it.
pub fn three_versions() -> impl Strategy<Value = (Vec<u8>, Vec<u8>, Vec<u8>)> {
    let piece = || prop_oneof![3 => Just(Vec::new()), 2 => bytes(), 2 => bytes_of_a_sign()];
    (bytes(), any::<prop::sample::Index>(), any::<prop::sample::Index>(), piece(), piece(), any::<bool>())
        .prop_map(|(base, at, from, one, other, is_new)| {
            let at = at.index(base.len() + 1);
            let mut after = base.clone();
            drop(after.splice(at..at, one));
            let from = from.index(after.len() + 1);
            let mut third = after.clone();
            drop(third.splice(from..(from + 1).min(after.len()), other));
            (if is_new { Vec::new() } else { base }, after, third)
        })
}

/// One thing that is easily lost.
fn bytes_of_a_sign() -> impl Strategy<Value = Vec<u8>> {
    prop::sample::select(vec![
        &b" "[..],
        b"\r",
        b"\n",
        b"\t",
        b"\0",
        b"\x7f",
        b"\xff",
        b"\xc2\xa0",
        b"\xe2\x80\x8b",
        b"\xd0\xb0",
        b"\xef\xbb\xbf",
    ])
    .prop_map(<[u8]>::to_vec)
}
