//! The program's output on its way to the person's terminal: every byte passes unchanged and in order, and escape
//! sequences are read on the way.
//!
//! Two things are not passed: a request for the content of the clipboard (OSC 52 and 5522), because a program in a view
//! must not read what the person copied elsewhere. One thing is added: before the first change of the window's title the
//! terminal is asked to remember the title. Sequences are also found as C1 controls in UTF-8, as terminals do.

use super::mode_tracker::ModeTracker;

const ESC: u8 = 0x1b;
const BEL: u8 = 0x07;
const CAN: u8 = 0x18;
const SUB: u8 = 0x1a;
/// The first byte of a C1 control in UTF-8; the second is the control itself.
const C1: u8 = 0xc2;

/// The longest beginning of a clipboard sequence that is waited for. A longer one is not passed.
const HEADER: usize = 256;
/// How much of a sequence is read. What is longer changes no mode.
const READ: usize = 128;

/// The clipboard, as xterm and as kitty ask for it.
const CLIPBOARD: u32 = 52;
const KITTY_CLIPBOARD: u32 = 5522;

const SAVE_TITLE: &[u8] = b"\x1b[22;0t";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ScanState {
    Text,
    /// After [`C1`].
    HalfC1,
    /// After ESC, and the intermediate bytes of an escape sequence.
    Escape,
    Csi,
    /// The beginning of an OSC string, which waits for its number.
    OscHeader,
    Osc,
    /// An OSC string that is not passed.
    Dropped,
    /// DCS, APC, PM and SOS.
    Str,
}

pub(super) struct OutputScanner {
    state: ScanState,
    /// Bytes that are not passed yet.
    held: Vec<u8>,
    /// What was read of the present sequence.
    read: Vec<u8>,
    title_saved: bool,
    /// The last byte of a string may begin a C1 control, which may be its end.
    half_end: bool,
}

impl OutputScanner {
    pub(super) fn new() -> OutputScanner {
        OutputScanner {
            state: ScanState::Text,
            held: Vec::new(),
            read: Vec::new(),
            title_saved: false,
            half_end: false,
        }
    }

    /// True between two sequences: here other bytes may be written.
    pub(super) fn is_between(&self) -> bool {
        self.state == ScanState::Text
    }

    /// Passes `bytes` to `out`. `switched` is called whenever the program has changed the screen, with what is passed
    /// so far.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        out: &mut Vec<u8>,
        tracker: &mut ModeTracker,
        mut switched: impl FnMut(&[u8], &ModeTracker),
    ) {
        // What is between the two is passed at once: most output is text, colours and movements of the cursor.
        let (mut from, mut at) = (0, 0);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            if self.state == ScanState::Text {
                let text = memchr::memchr2(ESC, C1, rest).unwrap_or(rest.len());
                at += text;
                let rest = rest.get(text..).unwrap_or_default();
                if let Some(sequence) = WholeControl::at(rest) {
                    at += sequence.length;
                    if !sequence.changes_no_mode() {
                        let before = tracker.alternate();
                        tracker.csi(sequence.parameters, sequence.last);
                        if tracker.alternate() != before {
                            out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
                            from = at;
                            switched(out, tracker);
                        }
                    }
                    continue;
                }
                out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
                from = at;
            }
            let Some(&byte) = bytes.get(at) else { break };
            let before = tracker.alternate();
            self.step(byte, out, tracker);
            at += 1;
            from = at;
            if tracker.alternate() != before {
                switched(out, tracker);
            }
        }
        out.extend_from_slice(bytes.get(from..at).unwrap_or_default());
    }

    /// True once the terminal was asked to remember its title.
    pub(super) fn has_saved_title(&self) -> bool {
        self.title_saved
    }

    /// The title was given back.
    pub(super) fn forget_title(&mut self) {
        self.title_saved = false;
    }

    /// What is held at the end of the output.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        match std::mem::replace(&mut self.state, ScanState::Text) {
            ScanState::OscHeader => Vec::new(),
            _ => std::mem::take(&mut self.held),
        }
    }

    fn step(&mut self, byte: u8, out: &mut Vec<u8>, tracker: &mut ModeTracker) {
        match self.state {
            ScanState::Text => match byte {
                ESC => self.begin(ScanState::Escape, byte),
                C1 => self.begin(ScanState::HalfC1, byte),
                _ => out.push(byte),
            },
            ScanState::HalfC1 => {
                // U+0080 to U+009F are ESC and a byte from 0x40 on.
                let seventh = byte.checked_sub(0x40).filter(|_| (0x80..0xa0).contains(&byte));
                self.state = ScanState::Text;
                match seventh {
                    Some(meaning) => self.escape(meaning, byte, out, tracker),
                    None => {
                        self.pass(out);
                        match byte {
                            ESC => self.begin(ScanState::Escape, byte),
                            C1 => self.begin(ScanState::HalfC1, byte),
                            _ => out.push(byte),
                        }
                    }
                }
            }
            ScanState::Escape => match byte {
                ESC => {
                    self.pass(out);
                    self.begin(ScanState::Escape, byte);
                }
                CAN | SUB => self.end(byte, out),
                0x20..=0x2f => {
                    self.held.push(byte);
                    self.remember(byte);
                }
                // A control is executed within the sequence, and DEL does nothing there.
                0..=0x1f | 0x7f => self.held.push(byte),
                _ if self.read.is_empty() => self.escape(byte, byte, out, tracker),
                // The end of a sequence with intermediate bytes: a character set.
                _ => {
                    if self.read == b"%" {
                        tracker.is_unread();
                    }
                    self.end(byte, out);
                }
            },
            ScanState::Csi => self.csi(byte, out, tracker),
            ScanState::OscHeader => self.osc_header(byte, out, tracker),
            ScanState::Osc | ScanState::Str | ScanState::Dropped => self.string(byte, out, tracker),
        }
    }

    fn begin(&mut self, state: ScanState, byte: u8) {
        self.state = state;
        self.held.push(byte);
        self.read.clear();
    }

    fn pass(&mut self, out: &mut Vec<u8>) {
        out.append(&mut self.held);
    }

    fn end(&mut self, byte: u8, out: &mut Vec<u8>) {
        self.pass(out);
        out.push(byte);
        self.state = ScanState::Text;
    }

    fn remember(&mut self, byte: u8) {
        if self.read.len() < READ {
            self.read.push(byte);
        }
    }

    /// The byte after ESC, or what a C1 control means. `byte` is what arrived.
    fn escape(&mut self, meaning: u8, byte: u8, out: &mut Vec<u8>, tracker: &mut ModeTracker) {
        self.read.clear();
        match meaning {
            b']' => {
                self.half_end = false;
                self.held.push(byte);
                self.state = ScanState::OscHeader;
            }
            b'[' => {
                self.end(byte, out);
                self.state = ScanState::Csi;
            }
            b'P' | b'X' | b'^' | b'_' => {
                self.end(byte, out);
                self.state = ScanState::Str;
                self.half_end = false;
            }
            _ => {
                self.end(byte, out);
                tracker.escape(meaning);
            }
        }
    }

    fn csi(&mut self, byte: u8, out: &mut Vec<u8>, tracker: &mut ModeTracker) {
        match byte {
            ESC => self.begin(ScanState::Escape, byte),
            0x20..=0x3f => {
                out.push(byte);
                self.remember(byte);
            }
            0x40..=0x7e => {
                out.push(byte);
                self.state = ScanState::Text;
                if self.read.len() < READ {
                    tracker.csi(&self.read, byte);
                }
            }
            CAN | SUB => self.end(byte, out),
            C1 => self.begin(ScanState::HalfC1, byte),
            0..=0x1f | 0x7f => out.push(byte),
            _ => self.end(byte, out),
        }
    }

    /// Holds the string back until it is known not to ask for the clipboard.
    fn osc_header(&mut self, byte: u8, out: &mut Vec<u8>, tracker: &mut ModeTracker) {
        let is_end = matches!(byte, BEL | ESC | CAN | SUB) || (self.half_end && byte == 0x9c);
        if !is_end {
            self.half_end = byte == C1;
            self.held.push(byte);
            // Terminals ignore controls and DEL within a string.
            if byte >= 0x20 && byte != 0x7f {
                self.remember(byte);
            }
        }
        let digits = self.read.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = self.osc_number();
        let is_known = self.read.len() > digits || is_end;
        let clipboard = matches!(number, Some(CLIPBOARD | KITTY_CLIPBOARD));
        let asks = if is_known && clipboard {
            self.clipboard_request(number, is_end)
        } else if is_known || digits > 8 {
            Some(false)
        } else {
            None
        };
        match asks {
            Some(false) => self.release(number, out),
            None if self.held.len() <= HEADER => {}
            _ => {
                self.held.clear();
                self.state = ScanState::Dropped;
            }
        }
        if is_end {
            self.string(byte, out, tracker);
        }
    }

    fn release(&mut self, number: Option<u32>, out: &mut Vec<u8>) {
        if matches!(number, Some(0..=2)) && !std::mem::replace(&mut self.title_saved, true) {
            out.extend_from_slice(SAVE_TITLE);
        }
        self.pass(out);
        self.state = ScanState::Osc;
    }

    fn osc_number(&self) -> Option<u32> {
        let digits = self.read.iter().take_while(|byte| byte.is_ascii_digit());
        let mut number: Option<u32> = None;
        for digit in digits {
            number = number.unwrap_or(0).checked_mul(10)?.checked_add(u32::from(digit - b'0'));
        }
        number
    }

    /// Whether the string asks for the clipboard; `None` as long as that is open.
    fn clipboard_request(&self, number: Option<u32>, is_end: bool) -> Option<bool> {
        let mut parts = self.read.splitn(3, |byte| *byte == b';').skip(1);
        let selection = parts.next().unwrap_or_default();
        let data = parts.next();
        if number == Some(KITTY_CLIPBOARD) {
            let reads = selection.windows(9).any(|part| part == b"type=read");
            return (reads || data.is_some() || is_end).then_some(reads);
        }
        match data.and_then(<[u8]>::first) {
            Some(first) => Some(*first == b'?'),
            None => is_end.then_some(false),
        }
    }

    fn string(&mut self, byte: u8, out: &mut Vec<u8>, tracker: &mut ModeTracker) {
        let (is_osc, is_passed) = (self.state != ScanState::Str, self.state != ScanState::Dropped);
        let half = std::mem::replace(&mut self.half_end, byte == C1);
        let ends = match byte {
            BEL => is_osc,
            ESC | CAN | SUB => true,
            _ => half && byte == 0x9c,
        };
        if ends && is_osc && is_passed {
            self.read_osc(tracker);
        }
        // A string ends with ESC \, which means nothing by itself and may be passed in any case.
        if byte == ESC {
            return self.begin(ScanState::Escape, byte);
        }
        if is_passed {
            out.push(byte);
        }
        if ends {
            self.state = ScanState::Text;
        } else if is_osc && is_passed {
            self.remember(byte);
        }
    }

    fn read_osc(&mut self, tracker: &mut ModeTracker) {
        let Some(number) = self.osc_number() else { return tracker.is_unread() };
        let text = self.read.splitn(2, |byte| *byte == b';').nth(1).unwrap_or_default();
        tracker.osc(number, text);
    }
}

/// A control sequence that is whole, read at once: the steps of [`OutputScanner::csi`] cost four times as much.
struct WholeControl<'b> {
    parameters: &'b [u8],
    last: u8,
    /// All parameters are numbers.
    has_numbers_only: bool,
    length: usize,
}

impl WholeControl<'_> {
    fn at(bytes: &[u8]) -> Option<WholeControl<'_>> {
        let body = bytes.strip_prefix(b"\x1b[")?;
        let mut has_numbers_only = true;
        for (at, byte) in body.iter().enumerate().take(READ) {
            match byte {
                b'0'..=b';' => {}
                b' '..=b'?' => has_numbers_only = false,
                b'@'..=b'~' => {
                    let parameters = body.get(..at)?;
                    return Some(WholeControl { parameters, last: *byte, has_numbers_only, length: at + 3 });
                }
                _ => return None,
            }
        }
        None
    }

    /// A colour, a movement, an erasure.
    fn changes_no_mode(&self) -> bool {
        let is_such = matches!(
            self.last,
            b'@'..=b'M' | b'P' | b'S' | b'T' | b'X' | b'Z' | b'`' | b'a' | b'd'..=b'f' | b'm'
        );
        is_such && self.has_numbers_only
    }
}

#[cfg(test)]
#[path = "output_scanner_tests.rs"]
mod tests;
