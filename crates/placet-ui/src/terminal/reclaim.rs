//! The terminal is placet's again after another program had it.
//!
//! Nobody knows every sequence of every terminal, and a sequence can hide in a form that nobody reads. So what is sent
//! before a question does not depend on what the program has written: [`reset`] always, then the screen is scrolled
//! into the scrollback, and the question is drawn on rows that are new. A row keeps what a program gave it (double
//! width, protected cells, pictures), and it takes it along. Only colours are set back by what the terminal answers:
//! see [`super::terminal_colors`].

use super::term;
use super::terminal_colors::ProgramColors;
use crate::input::{background, inquiry::TerminalInquiry, typeahead};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What comes first, in this order: without it the terminal would not understand what follows.
const UNDERSTOOD: &[&str] = &[
    // Ends a sequence or a string that the program left unfinished; both forms, as terminals differ.
    "\x18\x1b\\",
    // Tektronix emulation and VT52 know no other sequence.
    "\x1b\x03\x1b<",
    // The output goes to a printer and not to the screen until this comes.
    "\x1b[4i\x1b[?4i",
    // Text is UTF-8, and the terminal's answers have seven bits.
    "\x1b%G\x1b F",
];

/// What is sent after every program, in this order. It leaves the cursor where it is.
const SEQUENCES: &[&str] = &[
    // The alternate screen, in the forms that do not move the cursor where it is off.
    "\x1b[?47l\x1b[?1047l",
    // The output goes to the screen and not to the status line, which is off.
    "\x1b[0$}\x1b[0$~",
    // DECSTR: much of what follows, in the terminals that know it. The rest is for the others.
    "\x1b[!p",
    // These move the cursor, which is stored around them: left and right margins, margins.
    "\x1b7\x1b[?69l\x1b[r\x1b8",
    // Reverse video, reverse wrap, characters of other countries, synchronised updates, reports of the size and of colours.
    "\x1b[?5l\x1b[?45l\x1b[?1045l\x1b[?42l\x1b[?2026l\x1b[?2048l\x1b[?2031l",
    // Insert mode, line feed that is a carriage return as well, a locked keyboard; no local echo.
    "\x1b[4l\x1b[20l\x1b[2l\x1b[12h",
    // Mouse, focus and paste are reported only where placet asks for it.
    "\x1b[?9l\x1b[?1000l\x1b[?1001l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?2004l",
    // Keys send what they did: cursor keys, keypad, kitty's protocol, xterm's formats, the console of Windows.
    "\x1b[?1l\x1b>\x1b[?66l\x1b[=0;1u\x1b[>m\x1b[>4m\x1b[?9001l",
    // Direction of writing, as VTE has it; tab stops at each eighth column.
    "\x1b[0 k\x1b[8h\x1b[?2501l\x1b[?5W",
    // Text is no link, is not protected from erasure, and has no attribute.
    "\x1b]8;;\x1b\\\x1b[0\"q\x1bW\x1b[0m",
    // Letters are letters: all four character sets are ASCII, and the first is in use.
    "\x1b(B\x1b)B\x1b*B\x1b+B\x0f",
    // Lines wrap, and the cursor is visible.
    "\x1b[?7h\x1b[?25h",
];

/// What has the terminal, or had it last, and whether its colours are set back.
static LENT: Mutex<Option<(LentTerminal, ProgramColors)>> = Mutex::new(None);

/// The terminal understands placet after this. Nothing else changes.
pub fn understood() -> Vec<u8> {
    UNDERSTOOD.concat().into_bytes()
}

/// Resets everything that has no state which only the person's shell knows.
pub fn reset() -> Vec<u8> {
    reset_with(&[])
}

/// The same, with what takes back what is known of the program. Only that where no sequence means anything.
pub fn reset_with(known: &[u8]) -> Vec<u8> {
    if term::is_dumb() {
        return known.into();
    }
    [&understood(), known, SEQUENCES.concat().as_bytes()].concat()
}

/// The terminal while another program has it.
#[derive(Debug, Default)]
pub struct LentTerminal {
    /// What the terminal was like before.
    pub before: TerminalInquiry,
    size: (u16, u16),
    is_asked: bool,
    wants_background: bool,
}

/// The terminal after that: understood, with its colours, and with what the program wrote still on the screen.
#[derive(Debug)]
pub struct ReturnedTerminal {
    /// So many rows are in use.
    rows: u16,
}

impl LentTerminal {
    /// Nothing is asked yet.
    pub fn lend() -> LentTerminal {
        let before = TerminalInquiry::default();
        LentTerminal { before, size: term::size(), is_asked: false, wants_background: false }
    }

    /// The same where the background decides how placet's questions look: its answer is noted.
    pub fn lend_with_background() -> LentTerminal {
        let mut lent = LentTerminal::lend();
        lent.wants_background = true;
        lent
    }

    /// Asks for what has to be set back, once. The base mode must hold.
    pub fn ask(&mut self) {
        if std::mem::replace(&mut self.is_asked, true) {
            return;
        }
        self.before = TerminalInquiry::ask();
        if self.wants_background && self.before.is_asked() {
            background::asked();
        }
    }

    /// Call it before the program's output is written. A program that writes plain text leaves nothing to be set back,
    /// and not every terminal answers: then placet would wait for nothing.
    pub fn ask_before(&mut self, output: &[u8]) {
        if !self.is_asked && !is_plain(output) {
            self.ask();
        }
    }

    /// Resets everything, and sets the colours back. Returns what was typed meanwhile, without answers of the terminal.
    pub fn take_back(&mut self, program: ProgramColors) -> (ReturnedTerminal, Vec<u8>) {
        term::write_all(&reset());
        let mut typed = self.before.wait(None);
        background::was_lent();
        let mut now = TerminalInquiry::default();
        if self.before.is_complete() {
            now = TerminalInquiry::ask();
            typed.extend(now.wait(Some(&self.before)));
        }
        term::write_all(&self.before.colors().set_back(now.colors(), program));
        let size = term::size();
        // Above the row in which the program began is what was there before it. A program that ended higher up may have
        // been anywhere.
        let began = self.before.rows().filter(|_| size == self.size);
        let rows = now.rows().filter(|rows| began.is_some_and(|began| began <= *rows));
        (ReturnedTerminal { rows: rows.unwrap_or(size.1) }, typed)
    }
}

impl Drop for LentTerminal {
    fn drop(&mut self) {
        // An answer that is on its way is not for who has the terminal next.
        drop(self.before.wait(None));
    }
}

impl ReturnedTerminal {
    /// Scrolls what is on the screen into the scrollback. The cursor is at the top of an empty screen.
    pub fn clear(self) {
        if term::is_dumb() {
            return;
        }
        let bottom = term::size().1;
        let rows = "\n".repeat(usize::from(self.rows.min(bottom)));
        term::write_all(format!("\x1b[?6l\x1b[{bottom};1H{rows}\x1b[H\x1b[2J").as_bytes());
    }
}

/// True for output that changes nothing of the terminal but its text, on every terminal: ASCII, with colours of the text
/// and erased lines.
fn is_plain(output: &[u8]) -> bool {
    let mut parts = output.split(|byte| *byte == 0x1b);
    let is_text = |text: &[u8]| text.iter().all(|b| matches!(b, b' '..=b'~' | b'\t' | b'\n' | b'\r'));
    let is_sequence = |part: &[u8]| {
        let parameters = part.iter().skip(1).take_while(|b| matches!(b, b'0'..=b'9' | b';' | b':')).count();
        part.first() == Some(&b'[') && matches!(part.get(parameters + 1), Some(b'm' | b'K')) && is_text(part)
    };
    parts.next().is_none_or(is_text) && parts.all(is_sequence)
}

/// A program gets the terminal that placet takes back with [`before_question`]. Its colours are asked for, so that the
/// base mode must hold.
pub fn lend() {
    if term::is_dumb() {
        return;
    }
    let mut lent = lock();
    if lent.is_none() {
        let mut terminal = LentTerminal::lend();
        terminal.ask();
        typeahead::give_back(&terminal.before.wait(None));
        *lent = Some((terminal, ProgramColors::MaybeChanged));
    }
}

/// The person's shell gets it, by Ctrl-Z; returns when placet is continued. The colours that it sets are the person's.
pub fn suspend() {
    if !term::is_dumb() {
        lock().get_or_insert_default();
    }
    term::suspend();
}

/// Call it where a question may follow and nothing of placet is drawn yet: if another program had the terminal, placet
/// takes it back.
pub fn before_question() {
    let Some((mut lent, program)) = lock().take() else { return };
    let (returned, typed) = term::with_plain_keys(|| lent.take_back(program));
    typeahead::give_back(&typed);
    returned.clear();
}

fn lock() -> MutexGuard<'static, Option<(LentTerminal, ProgramColors)>> {
    LENT.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn only_text_its_colours_and_erased_lines_are_plain() {
        for (output, is) in [
            ("", true),
            ("text\r\n\ttext~\n", true),
            ("\x1b[1;38:5:1mred\x1b[0m\x1b[K\n", true),
            ("\x1b[m", true),
            // A sequence that goes on in the next piece.
            ("red\x1b", false),
            ("red\x1b[1", false),
            ("\x1b[2J", false),
            ("\x1b[?1m", false),
            ("\x1b]4;1;#000\x07", false),
            ("\x1b[m\x07", false),
            ("\x0e", false),
            ("\x7f", false),
            // A terminal of another character set finds controls in it.
            ("\u{dd}4;1;#000\x1b\\", false),
            ("\u{9b}m", false),
        ] {
            assert_eq!(is_plain(output.as_bytes()), is, "{output:?}");
        }
    }
}
