//! The writer: takes a text character by character and emits its rendering, so that a text in pieces and a whole text
//! have the same rendering. It waits only as long as a sign requires: for the end of a run, of spaces, or of a possible
//! sign.

use super::char_class;
use super::char_class::{BLANK_SIGN, BLANKS, CharRendering, EscapeMatch, MARKS, TABS};
use super::lookalikes::looks_like_own;
use super::repeat::{Repeats, Token};
use super::{LineBreaks, TAB, VisibleMode, VisiblePiece, VisiblePieceKind};
use std::ops::Range;

/// A run of one picture is counted from this length on.
pub(super) const PICTURES: usize = 4;
/// The longest colour sequence.
const COLOUR: usize = 48;

/// One unit of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextUnit {
    Char(char),
    /// The byte is not a part of a character.
    Byte(u8),
}

/// Input whose rendering depends on the next unit.
#[derive(Debug)]
enum PendingUnits {
    Nothing,
    /// The same unit this number of times; from this byte on.
    Run(TextUnit, usize, usize),
    /// A possible sign of the renderer, or, after ESC, a sequence that may be dropped.
    Held(String, usize),
}

#[derive(Debug)]
pub(super) struct VisibleWriter {
    manner: VisibleMode,
    breaks: LineBreaks,
    at: usize,
    column: usize,
    /// The line has only spaces until now.
    is_blank: bool,
    /// Marks on the newest character; `None` if no character can take a mark.
    marks: Option<usize>,
    pending: PendingUnits,
    /// Signs that came one after the other. They are emitted before everything that follows.
    repeats: Repeats,
    /// The positions of look-alikes to write as numbers, in order.
    alike: std::vec::IntoIter<usize>,
    next_alike: Option<usize>,
    /// The beginning of an incomplete character.
    cut: Vec<u8>,
}

impl VisibleWriter {
    pub(super) fn new(manner: VisibleMode, breaks: LineBreaks) -> VisibleWriter {
        VisibleWriter {
            manner,
            breaks,
            at: 0,
            column: 0,
            is_blank: true,
            marks: None,
            pending: PendingUnits::Nothing,
            repeats: Repeats::default(),
            alike: Vec::new().into_iter(),
            next_alike: None,
            cut: Vec::new(),
        }
    }

    pub(super) fn write_out(&mut self, places: Vec<usize>) {
        self.alike = places.into_iter();
        self.next_alike = self.alike.next();
    }

    pub(super) fn bytes(&mut self, bytes: &[u8], out: &mut Vec<VisiblePiece>) {
        let joined;
        let mut bytes = bytes;
        if !self.cut.is_empty() {
            joined = [std::mem::take(&mut self.cut).as_slice(), bytes].concat();
            bytes = &joined;
        }
        let mut rest = bytes.len();
        for chunk in bytes.utf8_chunks() {
            chunk.valid().chars().for_each(|c| self.unit(TextUnit::Char(c), c.len_utf8(), out));
            let invalid = chunk.invalid();
            rest -= chunk.valid().len() + invalid.len();
            let begun = std::str::from_utf8(invalid).is_err_and(|e| e.error_len().is_none());
            if rest == 0 && begun {
                self.cut = invalid.to_vec();
                return;
            }
            invalid.iter().for_each(|byte| self.unit(TextUnit::Byte(*byte), 1, out));
        }
    }

    /// Ends the text.
    pub(super) fn end(&mut self, out: &mut Vec<VisiblePiece>) {
        let cut = std::mem::take(&mut self.cut);
        cut.iter().for_each(|byte| self.unit(TextUnit::Byte(*byte), 1, out));
        self.flush(None, out);
        self.signs_first(out);
        self.column = 0;
        self.is_blank = true;
        self.marks = None;
    }

    fn unit(&mut self, unit: TextUnit, length: usize, out: &mut Vec<VisiblePiece>) {
        let at = self.at;
        self.at += length;
        let is_alike = self.next_alike == Some(at);
        if is_alike {
            self.next_alike = self.alike.next();
        }
        if let (PendingUnits::Held(held, _), TextUnit::Char(c)) = (&mut self.pending, unit) {
            held.push(c);
            match may_drop(held, self.manner).unwrap_or_else(|| char_class::sign(held)) {
                EscapeMatch::Begun => return,
                EscapeMatch::Whole if held.starts_with('\u{1b}') => {
                    self.pending = PendingUnits::Nothing;
                    return;
                }
                EscapeMatch::Whole => return self.imitation(out),
                EscapeMatch::Not => {
                    held.pop();
                }
            }
        }
        if let PendingUnits::Run(of, count, _) = &mut self.pending
            && *of == unit
            && !is_alike
        {
            *count += 1;
            return;
        }
        self.flush(Some(unit), out);
        match unit {
            TextUnit::Char('\n') if self.breaks == LineBreaks::Kept => {
                self.plain(out, at, '\n');
                self.column = 0;
                self.is_blank = true;
                self.marks = None;
            }
            TextUnit::Char('<') if self.manner != VisibleMode::Rendered => {
                self.pending = PendingUnits::Held("<".into(), at)
            }
            TextUnit::Char('\u{1b}') if self.manner == VisibleMode::Output => {
                self.pending = PendingUnits::Held("\u{1b}".into(), at);
            }
            TextUnit::Char(c) if is_alike || self.imitates_own(c) => {
                self.sign(at..at + length, written(c), out)
            }
            unit => self.begin(unit, at, out),
        }
    }

    /// True for a look-alike of placet's mark at a place where only the mark of placet's own lines may be.
    fn imitates_own(&self, c: char) -> bool {
        let may_begin = matches!(self.manner, VisibleMode::Prose | VisibleMode::Output) && self.is_blank;
        may_begin && looks_like_own(c)
    }

    /// Draws a single unit, or begins a run.
    fn begin(&mut self, unit: TextUnit, at: usize, out: &mut Vec<VisiblePiece>) {
        let TextUnit::Char(c) = unit else {
            self.pending = PendingUnits::Run(unit, 1, at);
            return;
        };
        let has_base = self.marks.is_some();
        let keeps = matches!(self.manner, VisibleMode::Prose | VisibleMode::Output)
            && char_class::is_joiner(c)
            && has_base;
        let shown = if keeps { CharRendering::Mark } else { char_class::shown(c, self.manner) };
        match (shown, self.marks) {
            (CharRendering::AsIs, _) if c != ' ' => {
                self.plain(out, at, c);
                self.column += unicode_width::UnicodeWidthChar::width(c).unwrap_or(1);
                // Also wide spaces, which prose retains.
                self.is_blank &= c.is_whitespace();
                self.marks = Some(0);
            }
            (CharRendering::Mark, Some(marks)) if marks < MARKS => {
                self.plain(out, at, c);
                self.marks = Some(marks + 1);
            }
            _ => self.pending = PendingUnits::Run(unit, 1, at),
        }
    }

    /// The waiting text looks like a sign of the renderer: its bracket is written as a number, and the rest is emitted
    /// unchanged.
    fn imitation(&mut self, out: &mut Vec<VisiblePiece>) {
        let PendingUnits::Held(held, at) = std::mem::replace(&mut self.pending, PendingUnits::Nothing) else {
            return;
        };
        self.sign(at..at + 1, written('<'), out);
        let rest = held.char_indices().skip(1);
        rest.for_each(|(offset, c)| self.plain(out, at + offset, c));
        self.column += held.len().saturating_sub(1);
        self.marks = Some(0);
    }

    /// Emits the waiting units; `next` follows them, if anything does.
    fn flush(&mut self, next: Option<TextUnit>, out: &mut Vec<VisiblePiece>) {
        match std::mem::replace(&mut self.pending, PendingUnits::Nothing) {
            PendingUnits::Nothing => {}
            PendingUnits::Held(held, at) => self.release(&held, at, next, out),
            PendingUnits::Run(TextUnit::Char(' '), count, at) => self.blanks(count, at, next, out),
            PendingUnits::Run(TextUnit::Char('\t'), count, at) => self.tabs(count, at, out),
            PendingUnits::Run(TextUnit::Byte(byte), count, at) => {
                let what = repeated(&format!("{byte:02X}"), count);
                self.token(at..at + count, format!("<{what}>"), what, out);
            }
            PendingUnits::Run(TextUnit::Char(c), count, at) => {
                let prose = matches!(self.manner, VisibleMode::Prose | VisibleMode::Output);
                let breaks = self.breaks == LineBreaks::Kept && next == Some(TextUnit::Char('\n'));
                // The return of a line break.
                let count = if prose && breaks && c == '\r' { count - 1 } else { count };
                if count > 0 {
                    let text = match char_class::shown(c, self.manner) {
                        CharRendering::Picture(picture) if count < PICTURES => {
                            picture.to_string().repeat(count)
                        }
                        _ => counted(c, count),
                    };
                    let bytes = at..at + count * c.len_utf8();
                    if c == '\r' {
                        self.is_blank = false;
                        self.stand_in(bytes, text, VisiblePieceKind::Blank, out);
                    } else {
                        self.token(bytes, text, in_pattern(c, count), out);
                    }
                }
            }
        }
    }

    /// Emits text that was waiting and turned out not to be a sign.
    fn release(&mut self, held: &str, at: usize, next: Option<TextUnit>, out: &mut Vec<VisiblePiece>) {
        for (offset, c) in held.char_indices() {
            let here = at + offset;
            if offset == 0 && c == '<' {
                self.plain(out, here, c);
                self.column += 1;
                self.is_blank = false;
                self.marks = Some(0);
                continue;
            }
            match &mut self.pending {
                PendingUnits::Run(of, count, _) if *of == TextUnit::Char(c) => *count += 1,
                _ => {
                    self.flush(Some(TextUnit::Char(c)), out);
                    self.begin(TextUnit::Char(c), here, out);
                }
            }
        }
        self.flush(next, out);
    }

    fn blanks(&mut self, count: usize, at: usize, next: Option<TextUnit>, out: &mut Vec<VisiblePiece>) {
        self.marks = None;
        let last = next.is_none() || self.breaks == LineBreaks::Kept && next == Some(TextUnit::Char('\n'));
        let range = at..at + count;
        if self.manner != VisibleMode::Exact || !last && count < BLANKS {
            (0..count).for_each(|n| self.plain(out, at + n, ' '));
            self.column += count;
        } else if last && count < PICTURES {
            self.stand_in(range, BLANK_SIGN.to_string().repeat(count), VisiblePieceKind::Blank, out);
        } else {
            self.stand_in(range, counted(' ', count), VisiblePieceKind::Blank, out);
        }
    }

    fn tabs(&mut self, count: usize, at: usize, out: &mut Vec<VisiblePiece>) {
        self.signs_first(out);
        self.marks = None;
        if count >= TABS && self.manner == VisibleMode::Exact {
            return self.stand_in(at..at + count, counted('\t', count), VisiblePieceKind::Blank, out);
        }
        for n in 0..count {
            let room = TAB - self.column % TAB;
            let lead = if self.manner == VisibleMode::Exact { '⇥' } else { ' ' };
            let text = std::iter::once(lead).chain(std::iter::repeat_n(' ', room - 1)).collect();
            self.stand_in(at + n..at + n + 1, text, VisiblePieceKind::Blank, out);
        }
    }

    fn sign(&mut self, bytes: Range<usize>, text: String, out: &mut Vec<VisiblePiece>) {
        self.is_blank = false;
        self.stand_in(bytes, text, VisiblePieceKind::Sign, out);
    }

    /// A sign that may be one of many in turn; `what` is its name in a pattern.
    fn token(&mut self, bytes: Range<usize>, text: String, what: String, out: &mut Vec<VisiblePiece>) {
        self.is_blank = false;
        self.marks = None;
        let ready = self
            .repeats
            .push(Token { piece: VisiblePiece { bytes, text, kind: VisiblePieceKind::Sign }, what });
        self.draw(ready, out);
    }

    /// Emits the waiting signs, because something else follows.
    fn signs_first(&mut self, out: &mut Vec<VisiblePiece>) {
        let ready = self.repeats.flush();
        self.draw(ready, out);
    }

    fn draw(&mut self, ready: Vec<VisiblePiece>, out: &mut Vec<VisiblePiece>) {
        self.column += ready.iter().map(|piece| piece.text.chars().count()).sum::<usize>();
        out.extend(ready);
    }

    fn plain(&mut self, out: &mut Vec<VisiblePiece>, at: usize, c: char) {
        self.signs_first(out);
        plain(out, at, c);
    }

    fn stand_in(
        &mut self,
        bytes: Range<usize>,
        text: String,
        kind: VisiblePieceKind,
        out: &mut Vec<VisiblePiece>,
    ) {
        self.signs_first(out);
        // The signs are ASCII or pictures of one column.
        self.column += text.chars().count();
        self.marks = None;
        out.push(VisiblePiece { bytes, text, kind });
    }
}

/// Whether the sequence that begins with ESC is one that the output of a command may drop; `None` if it is not.
fn may_drop(held: &str, manner: VisibleMode) -> Option<EscapeMatch> {
    let rest = held.strip_prefix('\u{1b}').filter(|_| manner == VisibleMode::Output)?;
    Some(match rest.as_bytes() {
        [] | [b'('] | [b'['] => EscapeMatch::Begun,
        [b'(', b'B'] => EscapeMatch::Whole,
        [b'[', parameters @ .., last] if parameters.len() < COLOUR => {
            let number = |b: &u8| matches!(b, b'0'..=b'9' | b';' | b':');
            match last {
                b'm' | b'K' if parameters.iter().all(number) => EscapeMatch::Whole,
                last if number(last) && parameters.iter().all(number) => EscapeMatch::Begun,
                _ => EscapeMatch::Not,
            }
        }
        _ => EscapeMatch::Not,
    })
}

fn plain(out: &mut Vec<VisiblePiece>, at: usize, c: char) {
    match out.last_mut() {
        Some(VisiblePiece { bytes, text, kind: VisiblePieceKind::Plain }) if bytes.end == at => {
            text.push(c);
            bytes.end += c.len_utf8();
        }
        _ => out.push(VisiblePiece {
            bytes: at..at + c.len_utf8(),
            text: c.into(),
            kind: VisiblePieceKind::Plain,
        }),
    }
}

/// `c` by its number, as a sign: `<U+25C6>`.
pub fn written(c: char) -> String {
    counted(c, 1)
}

/// A run of one character by its number.
pub(super) fn counted(c: char, count: usize) -> String {
    format!("<{}>", in_pattern(c, count))
}

/// The same inside a pattern.
pub(super) fn in_pattern(c: char, count: usize) -> String {
    repeated(&format!("U+{:04X}", u32::from(c)), count)
}

fn repeated(what: &str, count: usize) -> String {
    if count == 1 { what.to_string() } else { format!("{what} x{count}") }
}
