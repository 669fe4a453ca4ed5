//! Bytes of a terminal as keys, pastes and news of the focus.
//!
//! Understood are the sequences of xterm and its kin, the Linux console's function keys, xterm's `modifyOtherKeys`
//! (`CSI 27 ; m ; c ~`) and the kitty keyboard protocol (`CSI c ; m u`). Answers to questions (OSC, DCS, device
//! attributes, cursor reports) and sequences that mean nothing here are swallowed whole, however they are cut into
//! reads: what a terminal says is never typed. Several lines that arrive at once from a terminal that does not mark
//! pastes are one all the same. Only time distinguishes a lone escape from the beginning of a sequence, and the caller
//! measures it: see [`InputDecoder::is_waiting`]. Bytes that type nothing are reported to readers of questions as well
//! ([`InputDecoder::read`]): a key that comes together with them is not an answer.

use super::{background, control};
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use memchr::memmem;

/// A longer paste is refused, in bytes.
pub const LONGEST_PASTE: usize = 10 * 1024 * 1024;
/// A longer sequence is not an answer, in bytes.
const LONGEST_ANSWER: usize = 8 * 1024;
/// Calls of [`InputDecoder::flush_timeout`] after which an unfinished answer is given up.
const PATIENCE: u8 = 25;
/// The same while the terminal's background is expected: its answer may come in pieces over a slow line.
const COLOR_PATIENCE: u8 = 125;
/// What an answer with the background begins with when its escape came alone.
const AFTER_ESCAPE: &[u8] = b"]11;";
const PASTE_BEGIN: &[u8] = b"\x1b[200~";
const PASTE_END: &[u8] = b"\x1b[201~";
/// So many line ends in one read are no typing.
const BURST_LINES: usize = 3;

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TerminalInput {
    Key(KeyEvent),
    /// As it came: line ends are not touched.
    Paste(String),
    /// A paste of so many bytes was thrown away, because it is longer than [`LONGEST_PASTE`].
    PasteRefused(usize),
    FocusGained,
    FocusLost,
    /// Bytes that type nothing: answers of the terminal, reports of the mouse, unknown sequences, bytes that are no
    /// text.
    Ignored,
    /// Bytes were read whose meaning depends on what follows: the beginning of a sequence, of a letter, of a paste.
    Unfinished,
    /// The window has another size. Never from bytes.
    Resized,
}

/// What was typed, and its bytes. `input` is `None` for bytes that are swallowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InputToken {
    pub input: Option<TerminalInput>,
    pub raw: Vec<u8>,
}

#[derive(Debug, Default)]
pub struct InputDecoder {
    /// Not understood yet.
    rest: Vec<u8>,
    paste: Option<PartialPaste>,
    /// A paste that nothing marked: it ends when nothing follows.
    burst: Option<PartialPaste>,
    waited: u8,
    /// A terminal may answer with its background now, at any place in the input.
    expects_color: bool,
    /// A lone escape was given out as a key while an answer was expected, and nothing was read since.
    escaped: bool,
}

/// A paste that has begun.
#[derive(Debug, Default)]
struct PartialPaste {
    content: Vec<u8>,
    /// The length of the whole paste, including content that was dropped.
    length: usize,
}

/// What the next bytes are.
enum InputScan {
    /// So many bytes, and what they mean.
    Whole(usize, Option<TerminalInput>),
    PasteBegins(usize),
    /// More has to come.
    Part,
}

impl InputDecoder {
    /// Takes what was read; returns what is complete, in its order.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<InputToken> {
        self.waited = 0;
        let mut out = Vec::new();
        let rest;
        let mut bytes = bytes;
        if self.expects_color {
            // An escape that time made a key, and the answer that it began.
            if std::mem::take(&mut self.escaped) && self.rest.is_empty() && bytes.starts_with(AFTER_ESCAPE) {
                self.rest.push(control::ESCAPE);
            } else if self.rest.is_empty() && background::answer_in(bytes).is_some() {
                rest = without_answers(bytes, &mut out);
                bytes = &rest;
            }
        }
        if bytes.is_empty() {
            return out;
        }
        // A caller that cannot wait for the end of a paste says so; nothing else is ever read as this one byte.
        if bytes == [control::CTRL_C]
            && let Some(paste) = self.paste.take()
        {
            self.rest.clear();
            self.end_paste(paste, &mut out);
            return out;
        }
        if let Some(burst) = &mut self.burst {
            burst.keep(bytes);
            return out;
        }
        if self.paste.is_none() && self.rest.is_empty() && is_burst(bytes) {
            self.burst.get_or_insert_default().keep(bytes);
            return out;
        }
        self.rest.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            let rest = self.rest.get(at..).unwrap_or(&[]);
            if let Some(paste) = &mut self.paste {
                let (used, ended) = paste.take(rest);
                at += used;
                if !ended {
                    break;
                }
                if let Some(paste) = self.paste.take() {
                    self.end_paste(paste, &mut out);
                }
                continue;
            }
            match scan(rest) {
                InputScan::Whole(length, input) => {
                    let raw = rest.get(..length).unwrap_or(rest).to_vec();
                    at += length;
                    out.push(InputToken { input, raw });
                }
                InputScan::PasteBegins(length) => {
                    at += length;
                    self.paste = Some(PartialPaste::default());
                }
                InputScan::Part => break,
            }
        }
        self.rest.drain(..at.min(self.rest.len()));
        if self.paste.is_none() && self.rest.len() > LONGEST_ANSWER {
            out.push(InputToken { input: None, raw: std::mem::take(&mut self.rest) });
        }
        out
    }

    /// An answer may have come in the middle of a paste, in pieces.
    fn end_paste(&self, mut paste: PartialPaste, out: &mut Vec<InputToken>) {
        if self.expects_color {
            paste.content = without_answers(&paste.content, out);
        }
        out.push(paste.end());
    }

    /// The same as [`InputDecoder::feed`], and an [`TerminalInput::Unfinished`] at the end where something has begun: a
    /// question must know that something follows a key before it is known what.
    pub fn read(&mut self, bytes: &[u8]) -> Vec<InputToken> {
        let mut out = self.feed(bytes);
        if self.is_waiting() || self.paste.is_some() {
            out.push(InputToken { input: Some(TerminalInput::Unfinished), raw: Vec::new() });
        }
        out
    }

    /// Something has begun that time decides: when nothing follows for a moment, [`InputDecoder::flush_timeout`] is
    /// due.
    pub fn is_waiting(&self) -> bool {
        self.burst.is_some() || (self.paste.is_none() && !self.rest.is_empty())
    }

    /// Whether the terminal may answer with its background at this time.
    pub(super) fn expect_color(&mut self, is_expected: bool) {
        self.expects_color = is_expected;
        self.escaped &= is_expected;
    }

    /// Nothing followed for a moment: an escape was the key itself. An answer may take a second.
    pub fn flush_timeout(&mut self) -> Option<InputToken> {
        if !self.is_waiting() {
            return None;
        }
        if let Some(burst) = self.burst.take() {
            return Some(burst.end());
        }
        // After this, the next byte is an ordinary key and may answer a question. A terminal sends a sequence in one
        // piece, so what comes later was typed: Alt-[ and then, a second later, `a` arrives in no other way. A sequence
        // that a slow line has cut in two is a key that is no answer, so that the guard still wants its time of quiet.
        let input = match self.rest.as_slice() {
            [control::ESCAPE] => {
                self.escaped = self.expects_color;
                Some(plain(KeyCode::Esc))
            }
            [control::ESCAPE, b']'] if self.expects_color && self.waited < PATIENCE => {
                self.waited += 1;
                return None;
            }
            [control::ESCAPE, c @ (b'[' | b']' | b'O' | b'P' | b'_' | b'^' | b'X')] => {
                Some(with_alt(char::from(*c)))
            }
            _ => {
                self.waited += 1;
                let is_color = self.expects_color && self.rest.starts_with(background::ANSWER);
                if self.waited < if is_color { COLOR_PATIENCE } else { PATIENCE } {
                    return None;
                }
                None
            }
        };
        self.waited = 0;
        Some(InputToken { input, raw: std::mem::take(&mut self.rest) })
    }

    /// What was taken and not given out, as it came.
    pub fn finish(self) -> Vec<u8> {
        match (self.burst, self.paste) {
            (Some(burst), _) => burst.end().raw,
            (None, Some(paste)) => [PASTE_BEGIN, &paste.content, &self.rest].concat(),
            (None, None) => self.rest,
        }
    }
}

impl PartialPaste {
    /// Takes what belongs to it; returns how much that was, and whether it has ended.
    fn take(&mut self, bytes: &[u8]) -> (usize, bool) {
        let (content, used, ended) = match memmem::find(bytes, PASTE_END) {
            Some(at) => (bytes.get(..at), at + PASTE_END.len(), true),
            // The end may have come in part.
            None => {
                let kept =
                    (1..PASTE_END.len()).rev().find(|n| bytes.ends_with(PASTE_END.get(..*n).unwrap_or(&[])));
                let used = bytes.len() - kept.unwrap_or(0);
                (bytes.get(..used), used, false)
            }
        };
        self.keep(content.unwrap_or(&[]));
        (used, ended)
    }

    fn keep(&mut self, content: &[u8]) {
        self.length += content.len();
        if self.length <= LONGEST_PASTE {
            self.content.extend_from_slice(content);
        } else {
            self.content = Vec::new();
        }
    }

    fn end(self) -> InputToken {
        if self.length > LONGEST_PASTE {
            return InputToken { input: Some(TerminalInput::PasteRefused(self.length)), raw: Vec::new() };
        }
        let raw = [PASTE_BEGIN, &self.content, PASTE_END].concat();
        let text = String::from_utf8(self.content)
            .unwrap_or_else(|e| String::from_utf8_lossy(e.as_bytes()).into_owned());
        InputToken { input: Some(TerminalInput::Paste(text)), raw }
    }
}

/// Returns `bytes` without the answers that they contain. The answers go to `out`.
fn without_answers(bytes: &[u8], out: &mut Vec<InputToken>) -> Vec<u8> {
    let mut kept = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((from, to)) = background::answer_in(rest) {
        kept.extend_from_slice(rest.get(..from).unwrap_or(&[]));
        out.push(InputToken { input: None, raw: rest.get(from..to).unwrap_or(&[]).to_vec() });
        rest = rest.get(to..).unwrap_or(&[]);
    }
    kept.extend_from_slice(rest);
    kept
}

/// True for lines of text with their ends, in one read. A key that is held down makes many line ends and no text.
fn is_burst(bytes: &[u8]) -> bool {
    let ends = bytes.iter().filter(|b| matches!(b, b'\r' | b'\n')).count();
    let text = bytes.iter().filter(|b| **b >= b' ' && **b != 0x7f).count();
    ends >= BURST_LINES && text >= 2 * ends && !bytes.contains(&control::ESCAPE)
}

fn scan(bytes: &[u8]) -> InputScan {
    let Some((&first, after)) = bytes.split_first() else { return InputScan::Part };
    match first {
        control::ESCAPE => escape(after),
        0x00..0x20 | 0x7f => InputScan::Whole(1, Some(TerminalInput::Key(control::key(first)))),
        _ => match character(bytes) {
            DecodedChar::One(c, length) => InputScan::Whole(length, Some(typed(c))),
            DecodedChar::Part => InputScan::Part,
            DecodedChar::None(length) => InputScan::Whole(length, None),
        },
    }
}

fn escape(after: &[u8]) -> InputScan {
    let Some((&second, rest)) = after.split_first() else { return InputScan::Part };
    match second {
        b'[' => sequence(rest),
        b'O' => match rest.first() {
            None => InputScan::Part,
            Some(&last) => InputScan::Whole(3, letter(last, KeyModifiers::NONE).map(TerminalInput::Key)),
        },
        b']' | b'P' | b'_' | b'^' | b'X' => answer(rest),
        // Escape twice: the key, and what follows.
        control::ESCAPE => InputScan::Whole(1, Some(plain(KeyCode::Esc))),
        0x00..0x20 | 0x7f => {
            let key = control::key(second);
            InputScan::Whole(
                2,
                Some(TerminalInput::Key(KeyEvent::new(key.code, key.modifiers | KeyModifiers::ALT))),
            )
        }
        _ => match character(after) {
            DecodedChar::One(c, length) => InputScan::Whole(1 + length, Some(with_alt(c))),
            DecodedChar::Part => InputScan::Part,
            DecodedChar::None(length) => InputScan::Whole(1 + length, None),
        },
    }
}

/// A string that ends with BEL or ST, and is not a key.
fn answer(rest: &[u8]) -> InputScan {
    let Some(end) = rest.iter().position(|b| matches!(*b, 0x07 | control::ESCAPE)) else {
        return InputScan::Part;
    };
    match (rest.get(end), rest.get(end + 1)) {
        (Some(0x07), _) => InputScan::Whole(2 + end + 1, None),
        (_, Some(b'\\')) => InputScan::Whole(2 + end + 2, None),
        (_, None) => InputScan::Part,
        // Broken off by something else, which is to be read.
        _ => InputScan::Whole(2 + end, None),
    }
}

/// What follows `ESC [`.
fn sequence(rest: &[u8]) -> InputScan {
    let parameters = rest.iter().take_while(|b| matches!(b, 0x30..=0x3f)).count();
    let between = rest.iter().skip(parameters).take_while(|b| matches!(b, 0x20..=0x2f)).count();
    let length = 2 + parameters + between + 1;
    let Some(&last) = rest.get(parameters + between) else { return InputScan::Part };
    let numbers = rest.get(..parameters).unwrap_or(&[]);
    match last {
        // The Linux console: `ESC [ [ A` is F1.
        b'[' if parameters + between == 0 => match rest.get(1) {
            None => InputScan::Part,
            Some(c @ b'A'..=b'E') => InputScan::Whole(4, Some(plain(KeyCode::F(c - b'A' + 1)))),
            Some(_) => InputScan::Whole(3, None),
        },
        0x40..=0x7e if between > 0 => InputScan::Whole(length, None),
        0x40..=0x7e if numbers == b"200" && last == b'~' => InputScan::PasteBegins(length),
        0x40..=0x7e => InputScan::Whole(length, meaning(numbers, last)),
        // Broken off: what has begun is dropped, what breaks it off is read.
        _ => InputScan::Whole(length - 1, None),
    }
}

/// What a whole `CSI numbers last` means; nothing for an answer.
fn meaning(numbers: &[u8], last: u8) -> Option<TerminalInput> {
    if numbers.first().is_some_and(|b| matches!(b, b'<' | b'=' | b'>' | b'?')) {
        return None;
    }
    let text = std::str::from_utf8(numbers).ok()?;
    let mut parts = text.split(';').map(|part| {
        let mut sub = part.split(':').map(|n| n.parse::<u32>().ok());
        (sub.next().flatten(), sub.next().flatten())
    });
    let (first, second, third) = (parts.next(), parts.next(), parts.next());
    let number = first.and_then(|(n, _)| n);
    let (held, event) = second.unwrap_or((None, None));
    let modifiers = modifiers(held);
    let press = |key: KeyEvent| TerminalInput::Key(KeyEvent { kind: kind(event), ..key });
    match last {
        b'I' if numbers.is_empty() => Some(TerminalInput::FocusGained),
        b'O' if numbers.is_empty() => Some(TerminalInput::FocusLost),
        // A cursor report looks like F3 with modifiers, but never begins with 1 where anybody would ask for one.
        b'A'..=b'F' | b'H' | b'P'..=b'S' if matches!(number, None | Some(1)) && event != Some(3) => {
            letter(last, modifiers).map(press)
        }
        b'Z' => Some(TerminalInput::Key(KeyEvent::new(KeyCode::BackTab, KeyModifiers::SHIFT))),
        b'~' if number == Some(27) => control::from_code(third?.0?, modifiers).map(TerminalInput::Key),
        b'~' if event != Some(3) => numbered(number?).map(|code| press(KeyEvent::new(code, modifiers))),
        b'u' if event != Some(3) => control::from_code(number?, modifiers).map(press),
        _ => None,
    }
}

/// The kitty keyboard protocol's event: a key that is held down types as often as it repeats, but answers nothing.
fn kind(event: Option<u32>) -> KeyEventKind {
    if matches!(event, None | Some(1)) { KeyEventKind::Press } else { KeyEventKind::Repeat }
}

/// The parameter is one more than a sum of bits.
fn modifiers(held: Option<u32>) -> KeyModifiers {
    let bits = held.unwrap_or(1).saturating_sub(1);
    let table = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ];
    table.into_iter().filter(|(bit, _)| bits & bit != 0).map(|(_, m)| m).collect()
}

fn letter(last: u8, modifiers: KeyModifiers) -> Option<KeyEvent> {
    let code = match last {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'F' => KeyCode::End,
        b'H' => KeyCode::Home,
        b'M' => KeyCode::Enter,
        b'P'..=b'S' => KeyCode::F(last - b'P' + 1),
        _ => return None,
    };
    Some(KeyEvent::new(code, modifiers))
}

fn numbered(number: u32) -> Option<KeyCode> {
    let code = match u8::try_from(number).ok()? {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        n @ 11..=15 => KeyCode::F(n - 10),
        n @ 17..=21 => KeyCode::F(n - 11),
        n @ 23..=24 => KeyCode::F(n - 12),
        _ => return None,
    };
    Some(code)
}

enum DecodedChar {
    One(char, usize),
    Part,
    /// So many bytes that are no text.
    None(usize),
}

fn character(bytes: &[u8]) -> DecodedChar {
    let head = bytes.get(..bytes.len().min(4)).unwrap_or(bytes);
    let valid = match std::str::from_utf8(head) {
        Ok(text) => text,
        Err(e) if e.valid_up_to() > 0 => {
            std::str::from_utf8(head.get(..e.valid_up_to()).unwrap_or(&[])).unwrap_or("")
        }
        Err(e) => return e.error_len().map_or(DecodedChar::Part, DecodedChar::None),
    };
    match valid.chars().next() {
        Some(c) => DecodedChar::One(c, c.len_utf8()),
        None => DecodedChar::Part,
    }
}

fn plain(code: KeyCode) -> TerminalInput {
    TerminalInput::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

fn typed(c: char) -> TerminalInput {
    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    TerminalInput::Key(KeyEvent::new(KeyCode::Char(c), shift))
}

fn with_alt(c: char) -> TerminalInput {
    let shift = if c.is_uppercase() { KeyModifiers::SHIFT } else { KeyModifiers::NONE };
    TerminalInput::Key(KeyEvent::new(KeyCode::Char(c), shift | KeyModifiers::ALT))
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod decode_tests;
