//! A line as it is typed where nothing may be repainted: its echo, and the line with the way in which it came.
//!
//! The terminal could edit and show the line itself, but then only whole lines arrive, and nobody knows whether a hand
//! typed them. A line ends with an Enter that comes alone; lines that arrive faster than a hand
//! can type are marked, so that no question takes them for an answer. No I/O, no clock.

use super::decode::TerminalInput;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use placet_text::text::visible::{OWN, looks_like_own};
use std::time::{Duration, Instant};
use unicode_width::UnicodeWidthChar;

/// How long an Enter must stay alone to end a line: programs that type for a person wait 8 to 12 ms between two keys.
const ALONE: Duration = Duration::from_millis(50);
/// Keys that follow each other faster were not typed. A hand that rolls from a letter to Enter takes 25 ms and more; what is
/// pasted without marks arrives in one read.
const ROLLED: Duration = Duration::from_millis(20);

/// What came of the keys so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypedLine {
    /// A line that was typed by hand and sent with Enter.
    Line(String),
    /// A line whose Enter came together with the text or with something else, as in a paste.
    AtOnce(String),
    /// Several lines that came together, which nobody types.
    Pasted(String),
    /// The beginning of a line that continues.
    Begun(String),
    /// Ctrl-C, and the text of the line.
    Stop(String),
    /// Ctrl-Z, and the text of the line.
    Suspend(String),
    /// Ctrl-D in an empty line.
    End,
}

#[derive(Debug, Default)]
pub struct LineInput {
    text: String,
    /// When anything was last typed.
    last: Option<Instant>,
    /// An Enter came that may still turn out to be part of a paste: it ends the line then.
    ends_at: Option<Instant>,
    /// Something of the line came faster than by hand.
    at_once: bool,
    /// Nothing of the line is shown.
    is_secret: bool,
}

impl LineInput {
    /// A line that begins as `text`.
    pub fn begun(text: &str) -> LineInput {
        LineInput { text: text.into(), ..LineInput::default() }
    }

    /// A line of which nothing is shown.
    pub fn secret() -> LineInput {
        LineInput { is_secret: true, ..LineInput::default() }
    }

    /// Takes what was read at `at`; returns what the terminal is to show of it, and what came of it. Call
    /// [`LineInput::take_due_line`] with the same time first.
    pub fn take(&mut self, input: &TerminalInput, at: Instant) -> (String, Option<TypedLine>) {
        let (echo, typed) = self.take_visibly(input, at);
        match self.is_secret {
            true => (String::new(), typed),
            false => (echo, typed),
        }
    }

    fn take_visibly(&mut self, input: &TerminalInput, at: Instant) -> (String, Option<TypedLine>) {
        let mut echo = String::new();
        match input {
            TerminalInput::Key(key) => {
                self.end_was_none(&mut echo);
                let typed = self.key(*key, at, &mut echo);
                (echo, typed)
            }
            TerminalInput::Paste(text) => {
                self.end_was_none(&mut echo);
                self.last = Some(at);
                self.at_once = true;
                self.text.push_str(&text.replace("\r\n", "\n").replace('\r', "\n"));
                echo.push_str(&shown(text));
                let whole = self.text.ends_with('\n');
                let typed = if whole { self.end() } else { TypedLine::Begun(self.text.clone()) };
                (echo, Some(typed))
            }
            // An Enter that comes together with bytes of no meaning was not pressed by a hand alone. It still ends the
            // line, or an answer of the terminal would join two lines.
            _ => {
                self.at_once |= self.ends_at.is_some();
                if *input != TerminalInput::Unfinished {
                    self.last = Some(at);
                }
                (echo, None)
            }
        }
    }

    /// The line, once nothing has followed its Enter.
    pub fn take_due_line(&mut self, now: Instant) -> Option<TypedLine> {
        self.ends_at.take_if(|at| *at <= now)?;
        Some(self.end())
    }

    /// When [`LineInput::take_due_line`] may have a line.
    pub fn due(&self) -> Option<Instant> {
        self.ends_at
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// Something follows an Enter at once: it was the end of a line in a paste.
    fn end_was_none(&mut self, echo: &mut String) {
        if self.ends_at.take().is_some() {
            self.text.push('\n');
            echo.push_str("\r\n");
            self.at_once = true;
        }
    }

    fn end(&mut self) -> TypedLine {
        self.ends_at = None;
        let at_once = std::mem::take(&mut self.at_once);
        let text = std::mem::take(&mut self.text);
        match (text.trim_end_matches('\n').contains('\n'), at_once) {
            (true, _) => TypedLine::Pasted(text),
            (false, true) => TypedLine::AtOnce(text.trim_end_matches('\n').into()),
            (false, false) => TypedLine::Line(text),
        }
    }

    fn key(&mut self, key: KeyEvent, at: Instant, echo: &mut String) -> Option<TypedLine> {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        if key.code == KeyCode::Enter || (key.code, ctrl) == (KeyCode::Char('j'), true) {
            let held = key.code == KeyCode::Enter && !key.modifiers.is_empty();
            let is_burst = self.last.is_some_and(|last| at.saturating_duration_since(last) < ROLLED);
            self.at_once |= held || key.kind != KeyEventKind::Press || is_burst;
            (self.last, self.ends_at) = (Some(at), Some(at + ALONE));
            return None;
        }
        self.last = Some(at);
        match (key.code, ctrl) {
            (KeyCode::Char(c @ ('c' | 'z')), true) => {
                let text = std::mem::take(&mut self.text);
                self.at_once = false;
                echo.push_str(if c == 'c' { "^C\r\n" } else { "^Z" });
                return Some(if c == 'c' { TypedLine::Stop(text) } else { TypedLine::Suspend(text) });
            }
            (KeyCode::Char('d'), true) if self.text.is_empty() => return Some(TypedLine::End),
            (KeyCode::Char('u'), true) => while self.erase(echo) {},
            (KeyCode::Char('w'), true) => {
                while self.text.ends_with(' ') && self.erase(echo) {}
                while !self.text.is_empty() && !self.text.ends_with(' ') && self.erase(echo) {}
            }
            (KeyCode::Char('h'), true) | (KeyCode::Backspace, _) => drop(self.erase(echo)),
            (KeyCode::Tab, false) => self.put(' ', echo),
            (KeyCode::Char(c), false) if (key.modifiers - KeyModifiers::SHIFT).is_empty() => {
                self.put(c, echo)
            }
            _ => return None,
        }
        Some(TypedLine::Begun(self.text.clone()))
    }

    fn put(&mut self, c: char, echo: &mut String) {
        self.text.push(c);
        echo.push_str(&shown(c.encode_utf8(&mut [0; 4])));
    }

    /// False when nothing is left in this row of the line.
    fn erase(&mut self, echo: &mut String) -> bool {
        if self.text.is_empty() || self.text.ends_with('\n') {
            return false;
        }
        let width = self.text.pop().and_then(UnicodeWidthChar::width).unwrap_or(0);
        echo.push_str(&"\u{8} \u{8}".repeat(width));
        self.at_once &= !self.text.is_empty();
        true
    }
}

/// Text as the terminal may show it: nothing in it acts on the terminal, and no row of a paste begins like placet's
/// own.
fn shown(text: &str) -> String {
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::new();
    for c in lines.chars() {
        match c.width() {
            None if c == '\n' => out.push_str("\r\n"),
            None => {}
            // As wide as the character is, so that it can be rubbed out.
            Some(wide) if c == OWN || looks_like_own(c) => out.push_str(&"\u{fffd}".repeat(wide)),
            Some(_) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
#[path = "line_input_tests.rs"]
mod tests;
