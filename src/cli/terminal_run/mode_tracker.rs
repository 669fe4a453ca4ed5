//! Which modes of the person's terminal the program has changed, so that placet's page can pause and resume them, and so
//! that what depends on a state can be taken back at the end: the alternate screen with its cursor, the keyboard's stack.
//!
//! It knows the modes whose default every terminal shares. Before a question placet does not rely on it: see
//! [`crate::ui::reclaim`].

use crate::ui::terminal_colors::ProgramColors;
use std::collections::BTreeMap;

/// DEC private modes that are off in every terminal until a program sets them: cursor keys, reverse video, origin, mouse,
/// focus, paste, synchronised output, grapheme clusters, colour reports, resize reports, and so on.
const OFF: [u16; 30] = [
    1, 5, 6, 9, 45, 66, 67, 69, 1000, 1001, 1002, 1003, 1004, 1005, 1006, 1015, 1016, 2004, 2026, 2027, 2031,
    2048, 4, 38, 44, 80, 95, 1070, 5522, 9001,
];
/// Modes that are on until a program resets them: lines wrap, keys repeat, the cursor is visible.
const ON: [u16; 3] = [7, 8, 25];
/// ANSI modes, which are off: keyboard locked, insert, line feed implies carriage return.
const ANSI_OFF: [u16; 3] = [2, 4, 20];
/// The alternate screen, in three forms.
const ALTERNATE: [u16; 3] = [47, 1047, 1049];

/// OSC strings that change no colour: titles, directories, links, notices, marks of prompts, the clipboard, pointers,
/// sizes of text. Any other may.
const NO_COLORS: [u32; 14] = [0, 1, 2, 7, 8, 9, 52, 66, 99, 133, 633, 777, 3008, 5522];

/// The most entries of a keyboard's stack that are followed; terminals have fewer.
const STACK: usize = 64;

/// The keyboard protocol of kitty, which every screen has by itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct KeyboardFlags {
    /// Below the stack.
    base: u16,
    stack: Vec<u16>,
}

impl KeyboardFlags {
    fn now(&self) -> u16 {
        self.stack.last().copied().unwrap_or(self.base)
    }

    fn set(&mut self, flags: u16) {
        *self.stack.last_mut().unwrap_or(&mut self.base) = flags;
    }

    fn change(&mut self, prefix: u8, number: Option<u16>, mode: Option<u16>) {
        let flags = number.unwrap_or(0);
        match (prefix, mode) {
            (b'>', _) if self.stack.len() < STACK => self.stack.push(flags),
            (b'>', _) => self.set(flags),
            (b'<', _) => {
                let popped = usize::from(number.unwrap_or(1).max(1));
                self.stack.truncate(self.stack.len().saturating_sub(popped));
            }
            (_, Some(2)) => self.set(self.now() | flags),
            (_, Some(3)) => self.set(self.now() & !flags),
            _ => self.set(flags),
        }
    }

    /// Removes what the program has pushed.
    fn reset(&self, out: &mut Vec<u8>) {
        if !self.stack.is_empty() {
            out.extend_from_slice(format!("\x1b[<{}u", self.stack.len()).as_bytes());
        }
        if self.base > 0 {
            out.extend_from_slice(b"\x1b[=0;1u");
        }
    }
}

/// What the program has set and not reset.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct ModeTracker {
    /// Known private modes that are not as they were.
    private: BTreeMap<u16, bool>,
    ansi: BTreeMap<u16, bool>,
    alternate: Option<u16>,
    keyboard: [KeyboardFlags; 2],
    /// `modifyOtherKeys`.
    other_keys: Option<u16>,
    keypad: bool,
    /// The sequence that set the margins.
    margins: Option<Vec<u8>>,
    cursor_style: Option<u16>,
    colors: ProgramColors,
    pointer: bool,
    progress: bool,
    changed: bool,
}

impl ModeTracker {
    /// The form of the alternate screen, while it is on.
    pub(super) fn alternate(&self) -> Option<u16> {
        self.alternate
    }

    /// The program is in the middle of a synchronised update.
    pub(super) fn is_updating(&self) -> bool {
        self.private.contains_key(&2026)
    }

    /// True once after each change.
    pub(super) fn take_changed(&mut self) -> bool {
        std::mem::take(&mut self.changed)
    }

    pub(super) fn escape(&mut self, last: u8) {
        match last {
            b'=' | b'>' => self.keypad = last == b'=',
            // Everything is as it was when the terminal was switched on.
            b'c' => self.forget(),
            _ => return,
        }
        self.changed = true;
    }

    /// The terminal takes text in a character set in which sequences are not found, or colours change in a form without
    /// a number.
    pub(super) fn is_unread(&mut self) {
        self.colors = ProgramColors::MaybeChanged;
        self.changed = true;
    }

    /// Nothing is set any more, but colours may be.
    pub(super) fn forget(&mut self) {
        *self = ModeTracker { colors: self.colors, ..ModeTracker::default() };
    }

    /// The program may have changed colours.
    pub(super) fn colors(&self) -> ProgramColors {
        self.colors
    }

    /// A control sequence: what is between `CSI` and its last byte, and that byte.
    pub(super) fn csi(&mut self, read: &[u8], last: u8) {
        let prefix = read.first().copied().filter(|byte| matches!(byte, b'<'..=b'?'));
        let body = read.get(usize::from(prefix.is_some())..).unwrap_or_default();
        let end = body.iter().position(|byte| (0x20..=0x2f).contains(byte)).unwrap_or(body.len());
        let (numbers, middle) = body.split_at_checked(end).unwrap_or((body, &[]));
        let numbers = numbers.split(|byte| *byte == b';').map(number);
        match (prefix, middle, last) {
            (Some(b'?'), [], b'h' | b'l') => numbers.flatten().for_each(|n| self.private(n, last == b'h')),
            (None, [], b'h' | b'l') => {
                for n in numbers.flatten().filter(|n| ANSI_OFF.contains(n)) {
                    put(&mut self.ansi, n, last == b'h', false);
                }
            }
            (Some(prefix @ (b'<' | b'>' | b'=')), [], b'u') => {
                let mut numbers = numbers;
                self.keyboard(prefix, numbers.next().flatten(), numbers.next().flatten());
            }
            (Some(b'>'), [], b'm') => {
                let numbers: Vec<Option<u16>> = numbers.collect();
                if numbers.first() == Some(&Some(4)) {
                    self.other_keys = numbers.get(1).copied().flatten().filter(|level| *level > 0);
                } else if numbers == [None] {
                    self.other_keys = None;
                }
            }
            (Some(b'>'), [], b'n') => self.other_keys = None,
            (None, [], b'r') => self.margins = (!body.is_empty()).then(|| sequence(read, last)),
            (None, b" ", b'q') => self.cursor_style = numbers.flatten().next().filter(|style| *style > 0),
            (None, b"!", b'p') => self.soft_reset(),
            _ => return,
        }
        self.changed = true;
    }

    /// An OSC string: its number, and the beginning of its text.
    pub(super) fn osc(&mut self, number: u32, text: &[u8]) {
        match number {
            9 if text.starts_with(b"4;") => self.progress = text.get(2).is_some_and(|state| *state != b'0'),
            22 => self.pointer = !text.is_empty(),
            _ if NO_COLORS.contains(&number) => return,
            _ => self.colors = ProgramColors::MaybeChanged,
        }
        self.changed = true;
    }

    fn private(&mut self, n: u16, on: bool) {
        if ALTERNATE.contains(&n) {
            self.alternate = on.then_some(n);
        } else if ON.contains(&n) || OFF.contains(&n) {
            put(&mut self.private, n, on, ON.contains(&n));
        }
    }

    fn keyboard(&mut self, prefix: u8, first: Option<u16>, mode: Option<u16>) {
        let [main, alternate] = &mut self.keyboard;
        let flags = if self.alternate.is_some() { alternate } else { main };
        flags.change(prefix, first, mode);
    }

    /// DECSTR resets a part of it.
    fn soft_reset(&mut self) {
        for n in [1, 6, 25, 69] {
            self.private.remove(&n);
        }
        self.ansi.remove(&4);
        (self.keypad, self.margins) = (false, None);
    }

    /// Takes back what depends on a state, and leaves the alternate screen.
    pub(super) fn reset(&self) -> Vec<u8> {
        let [main, alternate] = &self.keyboard;
        let mut out = Vec::new();
        if let Some(form) = self.alternate {
            alternate.reset(&mut out);
            out.extend_from_slice(format!("\x1b[?{form}l").as_bytes());
        }
        main.reset(&mut out);
        self.pause_into(&mut out);
        if self.progress {
            out.extend_from_slice(b"\x1b]9;4;0\x1b\\");
        }
        out
    }

    /// Resets what would disturb another screen; [`ModeTracker::resume`] takes it back. The alternate screen and the
    /// keyboard's stack stay as they are.
    pub(super) fn pause(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if self.keys_now() > 0 {
            out.extend_from_slice(b"\x1b[=0;1u");
        }
        self.pause_into(&mut out);
        out
    }

    /// The keyboard's flags of the screen that is on.
    fn keys_now(&self) -> u16 {
        let [main, alternate] = &self.keyboard;
        if self.alternate.is_some() { alternate.now() } else { main.now() }
    }

    fn pause_into(&self, out: &mut Vec<u8>) {
        for (n, on) in &self.private {
            out.extend_from_slice(private_mode(*n, !on).as_bytes());
        }
        for n in self.ansi.keys() {
            out.extend_from_slice(format!("\x1b[{n}l").as_bytes());
        }
        if self.other_keys.is_some() {
            out.extend_from_slice(b"\x1b[>4;0m");
        }
        if self.keypad {
            out.extend_from_slice(b"\x1b>");
        }
        if self.margins.is_some() {
            // The sequence moves the cursor, which is therefore stored around it.
            out.extend_from_slice(b"\x1b7\x1b[r\x1b8");
        }
        if self.cursor_style.is_some() {
            out.extend_from_slice(b"\x1b[0 q");
        }
        if self.pointer {
            out.extend_from_slice(b"\x1b]22;\x1b\\");
        }
    }

    /// Sets again what [`ModeTracker::pause`] has reset, and what a full screen of placet has set in between.
    pub(super) fn resume(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(margins) = &self.margins {
            out.extend_from_slice(b"\x1b7");
            out.extend_from_slice(margins);
            out.extend_from_slice(b"\x1b8");
        }
        for (n, on) in &self.private {
            out.extend_from_slice(private_mode(*n, *on).as_bytes());
        }
        for n in self.ansi.keys() {
            out.extend_from_slice(format!("\x1b[{n}h").as_bytes());
        }
        if let Some(level) = self.other_keys {
            out.extend_from_slice(format!("\x1b[>4;{level}m").as_bytes());
        }
        if self.keys_now() > 0 {
            out.extend_from_slice(format!("\x1b[={};1u", self.keys_now()).as_bytes());
        }
        if self.keypad {
            out.extend_from_slice(b"\x1b=");
        }
        if let Some(style) = self.cursor_style {
            out.extend_from_slice(format!("\x1b[{style} q").as_bytes());
        }
        out
    }
}

fn put(modes: &mut BTreeMap<u16, bool>, n: u16, on: bool, default: bool) {
    match on == default {
        true => drop(modes.remove(&n)),
        false => drop(modes.insert(n, on)),
    }
}

fn private_mode(n: u16, on: bool) -> String {
    format!("\x1b[?{n}{}", if on { 'h' } else { 'l' })
}

fn sequence(read: &[u8], last: u8) -> Vec<u8> {
    [b"\x1b[", read, &[last]].concat()
}

/// A parameter; nothing where it is empty. Sub-parameters are not read.
fn number(text: &[u8]) -> Option<u16> {
    let text = text.split(|byte| *byte == b':').next().unwrap_or_default();
    std::str::from_utf8(text).ok()?.parse().ok()
}
