//! The characters that cannot be shown unchanged.
//!
//! The tables are Unicode's own, as the regular expressions of this crate have them: control, format, unassigned,
//! private-use and default-ignorable code points. In addition there are assigned characters that have no ink.

use super::repeat::LONGEST;
use super::{CONTINUED, LineBreaks, OWN, VisibleMode};
use std::sync::OnceLock;

/// How many combining marks on one character are drawn: more of them would overlap the lines above.
pub(super) const MARKS: usize = 8;
/// From this number of spaces inside a line on, spaces are counted instead of drawn: the text after them then remains
/// visible.
pub(super) const BLANKS: usize = 64;
/// The same for tabs.
pub(super) const TABS: usize = 32;

/// How one character is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CharRendering {
    AsIs,
    /// The character belongs to the character before it.
    Mark,
    /// This picture replaces the character.
    Picture(char),
    /// The number of the character is written: `<U+202E>`.
    Written,
}

/// Every character without ink that looks like other text, or like nothing.
const EXACT: &str = r"[[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\x{2800}\x{1D159}\x{16FE4}\x{FFFC}]--[\x20]]";
/// Characters that act, reorder or hide; spaces, private-use and new characters do not.
const PROSE: &str = r"[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\x{2800}]";

/// Characters that Unicode itself declares to be the same as another (canonical singletons), or that no font
/// distinguishes from an ASCII sign.
const SAME: &str = "\u{37e}\u{387}\u{1fef}\u{1ffd}\u{212a}\u{212b}\u{2126}\u{2024}\u{1c3}\u{a789}\u{2236}";

type CodePointRanges = Vec<(u32, u32)>;

fn ranges(pattern: &str) -> CodePointRanges {
    use regex_syntax::hir::{Class, HirKind};
    let parsed = regex_syntax::Parser::new().parse(pattern);
    match parsed.map(regex_syntax::hir::Hir::into_kind) {
        Ok(HirKind::Class(Class::Unicode(class))) => {
            class.ranges().iter().map(|r| (u32::from(r.start()), u32::from(r.end()))).collect()
        }
        // Impossible: the patterns are constants, and a test compiles them. The fallback writes every character as a
        // number.
        _ => vec![(0x80, 0x0010_ffff)],
    }
}

fn contains(ranges: &CodePointRanges, c: char) -> bool {
    let c = u32::from(c);
    let at = ranges.partition_point(|(_, end)| *end < c);
    ranges.get(at).is_some_and(|(start, _)| *start <= c)
}

fn is_hidden(c: char, manner: VisibleMode) -> bool {
    static ALL: OnceLock<CodePointRanges> = OnceLock::new();
    static SOME: OnceLock<CodePointRanges> = OnceLock::new();
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    match manner {
        VisibleMode::Exact | VisibleMode::Quiet | VisibleMode::Rendered => {
            contains(ALL.get_or_init(|| ranges(EXACT)), c) || SAME.contains(c)
        }
        VisibleMode::Prose | VisibleMode::Output => contains(SOME.get_or_init(|| ranges(PROSE)), c),
    }
}

/// A character without a column of its own.
fn is_mark(c: char) -> bool {
    !c.is_ascii() && unicode_width::UnicodeWidthChar::width(c) == Some(0)
}

/// True for joiners and selectors: prose retains them after a character to which they can belong.
pub(super) fn is_joiner(c: char) -> bool {
    matches!(c, '\u{200c}' | '\u{200d}' | '\u{fe0e}' | '\u{fe0f}')
}

/// A blank that would not be seen. Not the control picture `␠`: common monospaced fonts such as DejaVu do not have it.
pub const BLANK_SIGN: char = '\u{2423}';
/// A carriage return, the control character that texts have most often; for the same reason not `␍`.
pub(super) const RETURN_SIGN: char = '\u{23ce}';

/// The picture of a control character.
pub(super) fn is_picture(c: char) -> bool {
    matches!(c, '\u{2400}'..='\u{2426}' | RETURN_SIGN)
}

/// The rendering's own signs, which no text may imitate.
fn is_reserved(c: char, manner: VisibleMode) -> bool {
    match c {
        OWN => true,
        c if is_picture(c) => manner != VisibleMode::Rendered,
        '⇥' | CONTINUED => matches!(manner, VisibleMode::Exact | VisibleMode::Quiet),
        _ => false,
    }
}

/// How `c` is shown as a single character. The writer handles spaces, tabs and line breaks.
pub(super) fn shown(c: char, manner: VisibleMode) -> CharRendering {
    match c {
        ' '..='~' => CharRendering::AsIs,
        '\r' => CharRendering::Picture(RETURN_SIGN),
        '\u{0}'..='\u{1f}' => CharRendering::Picture(char::from_u32(0x2400 + c as u32).unwrap_or('\u{FFFD}')),
        '\u{7f}' => CharRendering::Picture('\u{2421}'),
        c if is_reserved(c, manner) || is_hidden(c, manner) => CharRendering::Written,
        // With a Latin, Greek or Cyrillic letter these look like one composed character.
        '\u{300}'..='\u{36f}' if matches!(manner, VisibleMode::Exact | VisibleMode::Quiet) => {
            CharRendering::Written
        }
        c if is_mark(c) => CharRendering::Mark,
        _ => CharRendering::AsIs,
    }
}

/// True only if `text` equals its own rendering. May be false for a text that is equal.
pub(super) fn is_plain(text: &str, manner: VisibleMode, breaks: LineBreaks) -> bool {
    let mut blanks = 0;
    let exact = manner == VisibleMode::Exact;
    for (at, c) in text.char_indices() {
        let ends_line = c == '\n' && breaks == LineBreaks::Kept;
        if ends_line {
            if exact && blanks > 0 {
                return false;
            }
            blanks = 0;
            continue;
        }
        blanks = if c == ' ' { blanks + 1 } else { 0 };
        let sign = c == '<'
            && manner != VisibleMode::Rendered
            && text.as_bytes().get(at + 1).is_some_and(|b| sign_begins(*b));
        if sign
            || blanks >= BLANKS && exact
            || shown(c, manner) != CharRendering::AsIs
            || super::lookalikes::is_alike(c)
        {
            return false;
        }
        if super::lookalikes::looks_like_own(c) {
            return false;
        }
    }
    !exact || blanks == 0
}

fn sign_begins(byte: u8) -> bool {
    matches!(byte, b'(' | b'U' | b'8' | b'9' | b'A'..=b'F')
}

/// How much of `text` is a sign of the renderer: `<U+200B>`, `<U+200B x12>`, `<FF>`, `<FF x12>`, or up to four of them
/// that repeat: `<(U+200B U+200C x2) x12>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EscapeMatch {
    Not,
    /// More characters could complete a sign.
    Begun,
    Whole,
}

pub(super) fn sign(text: &str) -> EscapeMatch {
    let Some(body) = text.strip_prefix('<') else { return EscapeMatch::Not };
    let read = match body.as_bytes() {
        [b'(', pattern @ ..] => pattern_read(pattern),
        one => one_read(one),
    };
    match read {
        Ok(b">") => EscapeMatch::Whole,
        Ok(_) => EscapeMatch::Not,
        Err(end) => end,
    }
}

/// The rest after the part that was read, or how the text ends before it.
type Read<'t> = Result<&'t [u8], EscapeMatch>;

/// `U+200B`, `FF`, each optionally with a count.
fn one_read(text: &[u8]) -> Read<'_> {
    let rest = match text {
        [] | [b'U'] => return Err(EscapeMatch::Begun),
        [b'U', b'+', digits @ ..] => hex_read(digits, 4, 6)?,
        [b'8' | b'9' | b'A'..=b'F', ..] => hex_read(text, 2, 2)?,
        _ => return Err(EscapeMatch::Not),
    };
    match rest {
        [b' '] => Err(EscapeMatch::Begun),
        [b' ', b'x', number @ ..] => count_read(number),
        _ => Ok(rest),
    }
}

fn hex_read(text: &[u8], least: usize, most: usize) -> Read<'_> {
    let count = text.iter().take_while(|b| matches!(b, b'0'..=b'9' | b'A'..=b'F')).count();
    match text.get(count..).unwrap_or_default() {
        [] if count <= most => Err(EscapeMatch::Begun),
        _ if count < least || count > most => Err(EscapeMatch::Not),
        rest => Ok(rest),
    }
}

fn count_read(text: &[u8]) -> Read<'_> {
    let length = text.iter().take_while(|b| b.is_ascii_digit()).count();
    match text.get(length..).unwrap_or_default() {
        [] if length <= 20 => Err(EscapeMatch::Begun),
        rest if (1..=20).contains(&length) => Ok(rest),
        _ => Err(EscapeMatch::Not),
    }
}

/// A pattern after its bracket: two to four signs, and the number of repetitions.
fn pattern_read(text: &[u8]) -> Read<'_> {
    let (mut rest, mut signs) = (one_read(text)?, 1);
    loop {
        rest = match rest {
            [b' ', more @ ..] if signs < LONGEST => one_read(more)?,
            [b')'] | [b')', b' '] if signs > 1 => return Err(EscapeMatch::Begun),
            [b')', b' ', b'x', number @ ..] if signs > 1 => return count_read(number),
            _ => return Err(EscapeMatch::Not),
        };
        signs += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_read() {
        for pattern in [EXACT, PROSE] {
            assert!(ranges(pattern).len() > 10, "{pattern}");
        }
        for c in [
            '\u{3164}',
            '\u{115f}',
            '\u{1160}',
            '\u{ffa0}',
            '\u{2800}',
            '\u{180e}',
            '\u{a0}',
            '\u{e000}',
            '\u{fdd0}',
            '\u{378}',
            '\u{ad}',
            '\u{34f}',
            '\u{fe0f}',
            '\u{e0041}',
            '\u{10ffff}',
            '\u{85}',
            '\u{2028}',
            '\u{3000}',
        ] {
            assert_eq!(shown(c, VisibleMode::Exact), CharRendering::Written, "{c:?}");
        }
        for c in ['é', '日', 'ж', 'א', '─', '👩', '→', '…', '‰'] {
            assert_eq!(shown(c, VisibleMode::Exact), CharRendering::AsIs, "{c:?}");
        }
    }
}
