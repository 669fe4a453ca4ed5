//! The one door between foreign text and the terminal: model, tool, file and error text passes here once.
//!
//! Escape sequences are dropped whole, other control characters become visible, and what reorders or hides text
//! (bidirectional overrides, zero-width characters) is written out. What remains cannot move the cursor, set a
//! title or a clipboard, or make a line look like another one. Only our own painter emits ESC.

use std::borrow::Cow;

/// Columns between tab stops.
const TAB: usize = 4;

/// One line made safe: no control character is left, not even a line break.
pub fn line(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    push_clean(&mut out, text, &mut At::default(), Breaks::Shown);
    Cow::Owned(out)
}

/// A file's name for a list: one line whatever it holds. Control characters, what reorders or hides text, and marks that
/// would make a tower are written as escapes: a name forges no second entry, looks like no other name, and none of it is
/// lost.
pub fn name(text: &str) -> Cow<'_, str> {
    if is_plain(text) {
        return Cow::Borrowed(text);
    }
    let mut marks = 0;
    let escaped = |c: char| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        match c {
            c if c.is_control() => c.escape_default().to_string(),
            c if is_hidden(c) || marks > MARKS => c.escape_unicode().to_string(),
            c => c.to_string(),
        }
    };
    Cow::Owned(text.chars().map(escaped).collect())
}

/// Several lines made safe. `\r\n` and `\n` stay line breaks; a lone `\r` is shown.
pub fn block(text: &str) -> Cow<'_, str> {
    if text.split('\n').all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    push_clean(&mut out, text, &mut At::default(), Breaks::Kept);
    Cow::Owned(out)
}

/// Cleans text that arrives in pieces: an escape sequence split between two pieces is still one.
#[derive(Debug, Default)]
pub struct Stream {
    held: String,
    at: At,
}

/// Where the cleaned text stands.
#[derive(Debug, Default)]
struct At {
    column: usize,
    /// Combining marks on the newest character.
    marks: usize,
}

/// The longest sequence that is held back while its end is awaited; a longer one is dropped as it stands.
const HELD: usize = 4096;

impl Stream {
    /// Returns what of `piece` (and of what was held before) is ready to be shown.
    pub fn feed(&mut self, piece: &str) -> String {
        let mut text = std::mem::take(&mut self.held);
        text.push_str(piece);
        let whole = complete_prefix(&text);
        let (ready, rest) = text.split_at(whole);
        let mut out = String::with_capacity(ready.len());
        push_clean(&mut out, ready, &mut self.at, Breaks::Kept);
        if rest.len() <= HELD {
            self.held = rest.to_string();
        }
        out
    }

    /// The stream is over: an unfinished sequence is dropped.
    pub fn finish(&mut self) {
        self.held.clear();
        self.at = At::default();
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Breaks {
    Kept,
    Shown,
}

/// How one character is shown where nothing may be hidden: in a diff that somebody consents to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Glyph {
    AsIs,
    /// A combining mark: it belongs to the character before it.
    Mark,
    Tab,
    /// This one stands for it.
    Picture(char),
    /// Its number is written out: `<U+202E>`.
    Written,
}

/// How `c` is shown. Unlike [`line`], no escape sequence is dropped: its ESC becomes visible, and it cannot act.
pub fn glyph(c: char) -> Glyph {
    match c {
        '\t' => Glyph::Tab,
        '\u{0}'..='\u{1f}' => Glyph::Picture(char::from_u32(0x2400 + c as u32).unwrap_or('\u{FFFD}')),
        '\u{7f}' => Glyph::Picture('\u{2421}'),
        c if c.is_control() || is_hidden(c) => Glyph::Written,
        c if is_mark(c) => Glyph::Mark,
        _ => Glyph::AsIs,
    }
}

fn is_plain(text: &str) -> bool {
    let mut marks = 0;
    text.chars().all(|c| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        !c.is_control() && !is_hidden(c) && marks <= MARKS
    })
}

/// Combining marks shown on one character: a tower of them would spill over the lines above it.
pub const MARKS: usize = 8;

fn is_mark(c: char) -> bool {
    !c.is_ascii() && unicode_width::UnicodeWidthChar::width(c) == Some(0)
}

/// Characters that reorder or hide what stands around them. The joiner and the variation selectors stay: emoji and
/// several scripts need them.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{061C}' | '\u{2060}'..='\u{2064}' | '\u{FEFF}'
        | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}' | '\u{2028}' | '\u{2029}')
}

fn push_clean(out: &mut String, text: &str, at: &mut At, breaks: Breaks) {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or("");
        let mut shown = 1;
        match c {
            '\u{1b}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}' => {
                rest = rest.get(sequence(rest).unwrap_or(rest.len())..).unwrap_or("");
                continue;
            }
            '\n' if breaks == Breaks::Kept => {
                out.push('\n');
                *at = At::default();
                rest = after;
                continue;
            }
            '\r' if breaks == Breaks::Kept && after.starts_with('\n') => shown = 0,
            '\t' => {
                shown = TAB - at.column % TAB;
                out.extend(std::iter::repeat_n(' ', shown));
            }
            '\u{0}'..='\u{1f}' => out.push(char::from_u32(0x2400 + c as u32).unwrap_or('\u{FFFD}')),
            '\u{7f}' => out.push('\u{2421}'),
            c if c.is_control() => out.push('\u{FFFD}'),
            c if is_hidden(c) => {
                let written = format!("<U+{:04X}>", c as u32);
                shown = written.len();
                out.push_str(&written);
            }
            c if is_mark(c) => {
                at.marks += 1;
                if at.marks <= MARKS {
                    out.push(c);
                }
                rest = after;
                continue;
            }
            c => {
                shown = unicode_width::UnicodeWidthChar::width(c).unwrap_or(1);
                out.push(c);
            }
        }
        at.marks = 0;
        at.column += shown;
        rest = after;
    }
}

/// The length of the escape sequence at the start of `text`, or `None` when its end is not in `text`.
fn sequence(text: &str) -> Option<usize> {
    let mut chars = text.char_indices();
    let (_, first) = chars.next()?;
    let (introducer, body) = match first {
        '\u{1b}' => {
            let (at, second) = chars.next()?;
            (second, at + second.len_utf8())
        }
        '\u{9b}' => ('[', first.len_utf8()),
        '\u{9d}' => (']', first.len_utf8()),
        _ => ('P', first.len_utf8()),
    };
    match introducer {
        '[' => {
            for (at, c) in text.get(body..)?.char_indices() {
                match c {
                    '\u{40}'..='\u{7e}' => return Some(body + at + 1),
                    '\u{20}'..='\u{3f}' => {}
                    // Not a sequence after all: what interrupts it is looked at anew.
                    _ => return Some(body + at),
                }
            }
            None
        }
        ']' | 'P' | 'X' | '^' | '_' => string_end(text, body),
        // ESC with intermediate bytes, as in a character set switch.
        '\u{20}'..='\u{2f}' => {
            let tail = text.get(body..)?;
            let end = tail.find(|c: char| !('\u{20}'..='\u{2f}').contains(&c))?;
            let last = tail.get(end..)?.chars().next()?;
            Some(body + end + if last.is_ascii_graphic() { 1 } else { 0 })
        }
        '\u{30}'..='\u{7e}' => Some(body),
        // ESC before something that starts no sequence: only the ESC goes.
        _ => Some(1),
    }
}

/// The end of an OSC, DCS, SOS, PM or APC string: BEL, ST, or the ESC of the next sequence.
fn string_end(text: &str, body: usize) -> Option<usize> {
    for (at, c) in text.get(body..)?.char_indices() {
        match c {
            '\u{7}' => return Some(body + at + 1),
            '\u{9c}' => return Some(body + at + 2),
            '\u{1b}' => {
                return match text.get(body + at + 1..)?.chars().next() {
                    Some('\\') => Some(body + at + 2),
                    Some(_) => Some(body + at),
                    None => None,
                };
            }
            // A line break ends what was never going to end, so that one stray byte cannot eat the rest.
            '\n' => return Some(body + at),
            _ => {}
        }
    }
    None
}

/// The part of `text` that holds only whole sequences. A `\r` at the very end may be half of a line break.
fn complete_prefix(text: &str) -> usize {
    let starts = |c: char| matches!(c, '\u{1b}' | '\u{90}' | '\u{98}' | '\u{9b}' | '\u{9d}'..='\u{9f}');
    let mut at = 0;
    while let Some(offset) = text.get(at..).and_then(|rest| rest.find(starts)) {
        match text.get(at + offset..).and_then(sequence) {
            Some(length) => at += offset + length.max(1),
            None => return at + offset,
        }
    }
    if text.ends_with('\r') { text.len() - 1 } else { text.len() }
}

#[cfg(test)]
#[path = "sanitize_tests.rs"]
mod tests;
