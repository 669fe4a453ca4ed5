//! Texts that look alike and are not equal: composed and decomposed letters, letters of other alphabets, dashes, quotes
//! and blanks.
//!
//! Only messages use this. An edit that took such a text for the one that was sent would change characters that nobody
//! named.

use super::visible::ascii_look;
use icu_normalizer::{ComposingNormalizerBorrowed, DecomposingNormalizerBorrowed};
use std::ops::Range;

/// True if both texts look the same.
pub fn looks_the_same(one: &str, other: &str) -> bool {
    one == other || folded(one).map(|(c, _)| c).eq(folded(other).map(|(c, _)| c))
}

/// The text with each letter as one character where there is one: `é` and not `e` with an accent (NFC).
pub fn composed(text: &str) -> String {
    ComposingNormalizerBorrowed::new_nfc().normalize(text).into_owned()
}

/// The first place in `text` that looks like `wanted`.
pub fn find_look_alike(text: &str, wanted: &str) -> Option<Range<usize>> {
    let wanted: Vec<char> = folded(wanted).map(|(c, _)| c).collect();
    let all: Vec<(char, usize)> = folded(text).collect();
    let begins =
        |at: usize| at == 0 || all.get(at - 1).map(|(_, byte)| byte) != all.get(at).map(|(_, byte)| byte);
    let places = all.windows(wanted.len().max(1)).enumerate();
    let mut found = places.filter(|(at, part)| {
        part.iter().map(|(c, _)| c).eq(&wanted) && begins(*at) && begins(at + wanted.len())
    });
    let (at, part) = found.next().filter(|_| !wanted.is_empty())?;
    let end = all.get(at + wanted.len()).map_or(text.len(), |(_, byte)| *byte);
    Some(part.first()?.1..end)
}

/// A line with the number of each character beyond ASCII: `cafe<U+0301>`.
pub fn code_points(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            ' '..='~' => out.push(c),
            c => out.push_str(&format!("<U+{:04X}>", u32::from(c))),
        }
    }
    out
}

/// A JSON string in which each character beyond ASCII is escaped: `"cafe\u0301"`.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in serde_json::Value::from(text).to_string().chars() {
        match c {
            ' '..='~' => out.push(c),
            c => c.encode_utf16(&mut [0; 2]).iter().for_each(|unit| out.push_str(&format!("\\u{unit:04x}"))),
        }
    }
    out
}

/// The characters of a text, those that look alike made equal, each with the byte where its own character begins.
fn folded(text: &str) -> impl Iterator<Item = (char, usize)> {
    let forms = DecomposingNormalizerBorrowed::new_nfd();
    text.char_indices().flat_map(move |(at, c)| {
        let parts: Vec<char> = match c.is_ascii() {
            true => vec![c],
            false => forms.normalize_iter(std::iter::once(c)).collect(),
        };
        parts.into_iter().filter_map(fold).map(move |c| (c, at))
    })
}

/// A character as it looks; `None` for one that is not seen.
fn fold(c: char) -> Option<char> {
    match c {
        '\r' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' | '\u{ad}' | '\u{fe0e}' | '\u{fe0f}' => None,
        '\u{201c}' | '\u{201d}' | '\u{201e}' | '\u{ab}' | '\u{bb}' => Some('"'),
        '\u{2014}' | '\u{2015}' => Some('-'),
        c if c.is_whitespace() && c != '\n' && c != '\t' => Some(' '),
        c => Some(ascii_look(c).unwrap_or(c)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const PAIRS: [(&str, &str); 8] = [
        ("caf\u{e9}", "cafe\u{301}"),
        ("\u{1e09}", "c\u{327}\u{301}"),
        ("\u{ac00}", "\u{1100}\u{1161}"),
        ("it\u{2019}s", "it's"),
        ("\u{201c}quoted\u{201d}", "\"quoted\""),
        ("a \u{2013} b", "a - b"),
        ("no\u{a0}break", "no break"),
        ("p\u{430}y", "pay"),
    ];

    #[test]
    fn the_two_forms_of_a_text_are_found_in_each_other() {
        for (one, other) in PAIRS {
            for (there, sent) in [(one, other), (other, one)] {
                assert!(looks_the_same(there, sent), "{there} {sent}");
                let text = format!("before\r\n{there} after");
                let found = find_look_alike(&text, sent).unwrap();
                assert_eq!(text.get(found), Some(there));
            }
        }
        assert!(!looks_the_same("cafe", "caf\u{e9}") && find_look_alike("caf\u{e9}", "cafe").is_none());
        assert_eq!(find_look_alike("a", ""), None);
        assert_eq!(code_points("cafe\u{301}"), "cafe<U+0301>");
    }

    proptest! {
        #[test]
        fn an_escaped_text_is_ascii_and_the_same_text(text in "\\PC{0,20}") {
            let escaped = escaped(&text);
            prop_assert!(escaped.is_ascii());
            prop_assert_eq!(serde_json::from_str::<String>(&escaped).unwrap(), text);
        }

        /// Every text is found in itself, whatever surrounds it.
        #[test]
        fn a_text_is_found_where_it_is(head in "[a-z\u{e9}\u{301}\u{2013}]{0,6}", text in "[A-Z\u{c9}]{1,5}", tail in "[a-z]{0,6}") {
            let all = format!("{head}{text}{tail}");
            prop_assert_eq!(find_look_alike(&all, &text), all.find(&text).map(|at| at..at + text.len()));
        }
    }
}
