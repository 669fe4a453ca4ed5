//! Letters that look like other letters, within Latin, Greek and Cyrillic.
//!
//! A text in one alphabet is never marked: Russian text remains Russian. Two kinds are marked: letters that look Latin
//! in a word that also has Latin letters, and such letters in the changed part of a line that has an earlier version.

use std::ops::Range;

/// An ASCII character, and the characters that most fonts draw like it.
const LOOKS: &[(char, &str)] = &[
    ('A', "ΑАᎪ"),
    ('B', "ΒВᏴ"),
    ('C', "СϹᏟ"),
    ('D', "Ꭰ"),
    ('E', "ΕЕᎬ"),
    ('F', "Ϝ"),
    ('G', "ԌᏀ"),
    ('H', "ΗНᎻ"),
    ('I', "ΙІӀ"),
    ('J', "ЈͿᎫ"),
    ('K', "ΚКᏦ"),
    ('L', "Ꮮ"),
    ('M', "ΜМᎷ"),
    ('N', "Ν"),
    ('O', "ΟОՕ"),
    ('P', "ΡРᏢ"),
    ('Q', "Ԛ"),
    ('S', "ЅՏᏚ"),
    ('T', "ΤТᎢ"),
    ('V', "ѴᏙ"),
    ('W', "ԜᎳ"),
    ('X', "ΧХ"),
    ('Y', "ΥҮ"),
    ('Z', "ΖᏃ"),
    ('a', "аɑα"),
    ('b', "Ьᖯ"),
    ('c', "сϲᴄ"),
    ('d', "ԁᏧ"),
    ('e', "еҽ"),
    ('g', "ɡց"),
    ('h', "һհ"),
    ('i', "іıιɩ"),
    ('j', "јϳ"),
    ('k', "κк"),
    ('l', "ӏǀℓ"),
    ('n', "ոп"),
    ('o', "оοօσ"),
    ('p', "рρ"),
    ('q', "ԛգ"),
    ('r', "гᴦ"),
    ('s', "ѕꜱ"),
    ('u', "υսʋ"),
    ('v', "νѵᴠ"),
    ('w', "ԝѡᴡ"),
    ('x', "хχ"),
    ('y', "уүγ"),
    ('z', "ᴢ"),
    ('3', "ЗӠ"),
    ('6', "б"),
    ('!', "ǃ"),
    (';', "\u{37e}"),
    (':', "\u{a789}\u{2236}\u{589}"),
    ('.', "\u{2024}"),
    (',', "\u{201a}"),
    ('\'', "\u{2bc}\u{2b9}\u{2019}\u{2018}"),
    ('-', "\u{2010}\u{2011}\u{2012}\u{2013}\u{2212}"),
    ('/', "\u{2044}\u{2215}"),
    ('*', "\u{2217}"),
    ('|', "\u{2223}"),
    ('~', "\u{223c}"),
];

/// The characters that most fonts draw like [`super::OWN`]: diamonds and lozenges of every size, black, white and
/// coloured.
const DIAMONDS: &str = "⋄⌑⌺⍚◇◈◊♢♦⛋❖⟐⟠⟡⟢⟣⧪⧫⧰⧱⬖⬗⬘⬙⬥⬦⬧⬨⬩⬪⬫⯁⯞💠🔶🔷🔸🔹🞗🞘🞙🞚🞛🞜🞝🞞🞟🞠🮮🮿";

/// True if `c` looks like placet's own mark and is not the mark.
pub fn looks_like_own(c: char) -> bool {
    !c.is_ascii() && DIAMONDS.contains(c)
}

/// How many characters of a word are examined on each side.
const WORD: usize = 64;

/// The ASCII character that `c` looks like.
pub(crate) fn ascii_of(c: char) -> Option<char> {
    if c.is_ascii() {
        return None;
    }
    LOOKS.iter().find(|(_, others)| others.contains(c)).map(|(ascii, _)| *ascii)
}

/// True if `c` looks like an ASCII character and is not ASCII.
pub(super) fn is_alike(c: char) -> bool {
    ascii_of(c).is_some()
}

/// `text` with every look-alike replaced by its ASCII character.
pub fn skeleton(text: &str) -> String {
    text.chars().map(|c| ascii_of(c).unwrap_or(c)).collect()
}

/// True when two texts differ and look the same.
pub fn looks_like(one: &str, other: &str) -> bool {
    one != other && skeleton(one) == skeleton(other)
}

/// The positions in `bytes` of look-alikes to write as numbers: within `ranges`, and in words that mix alphabets.
pub(super) fn to_write(bytes: &[u8], ranges: &[Range<usize>]) -> Vec<usize> {
    let mut found = Vec::new();
    if bytes.is_ascii() {
        return found;
    }
    let mut at = 0;
    for chunk in bytes.utf8_chunks() {
        let text = chunk.valid();
        for (offset, c) in text.char_indices().filter(|(_, c)| !c.is_ascii() && is_alike(*c)) {
            let here = at + offset;
            let changed = ranges.iter().any(|range| range.contains(&here));
            if changed || c.is_alphabetic() && is_mixed(text, offset) {
                found.push(here);
            }
        }
        at += text.len() + chunk.invalid().len();
    }
    found
}

/// True when the word around `at` has an ASCII letter.
fn is_mixed(text: &str, at: usize) -> bool {
    let in_word = |c: &char| c.is_alphanumeric() || *c == '_';
    let (before, after) = text.split_at(at);
    before.chars().rev().take(WORD).take_while(in_word).any(|c| c.is_ascii_alphabetic())
        || after.chars().take(WORD).take_while(in_word).any(|c| c.is_ascii_alphabetic())
}
