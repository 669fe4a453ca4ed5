//! Light or dark: the terminal's background, asked for with OSC 11.
//!
//! The question goes out with the first prompt and nothing waits for the answer. The answer comes as input, in the same
//! stream as the keys and at any time: late, in pieces, twice, inside a paste, or never. This module recognizes an
//! answer and stores the background; [`super::answering_decoder`] removes the answer from what is typed.

use memchr::memmem;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The question. The terminal answers `ESC ] 11 ; rgb:RRRR/GGGG/BBBB ST`.
pub const QUESTION: &str = "\x1b]11;?\x1b\\";
/// What an answer begins with.
pub(super) const ANSWER: &[u8] = b"\x1b]11;";
/// An answer is expected for so long: what comes later is swallowed only where it comes in one piece by itself.
const EXPECTED: Duration = Duration::from_secs(5);
/// When placet ends, it does not wait for an answer that did not come within this time.
const SOON: Duration = Duration::from_secs(1);
/// The longest answer of any terminal is about 30 bytes.
const LONGEST: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalBackground {
    Dark,
    Light,
}

#[derive(Debug)]
struct BackgroundQuestion {
    asked: Option<Instant>,
    answered: bool,
    /// What nobody has taken yet.
    found: Option<TerminalBackground>,
    /// No other program had the terminal since the question.
    is_own: bool,
}

static QUESTIONED: Mutex<BackgroundQuestion> =
    Mutex::new(BackgroundQuestion { asked: None, answered: false, found: None, is_own: true });

fn lock() -> MutexGuard<'static, BackgroundQuestion> {
    QUESTIONED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True for a terminal that is asked: not where the question would be shown as text, and not inside a multiplexer,
/// which answers for a terminal that may have changed since.
pub fn may_ask(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let term = set("TERM").unwrap_or_default();
    let knows =
        !["dumb", "linux", "screen", "tmux", "emacs", "cons25", "vt"].iter().any(|t| term.starts_with(t));
    knows && !term.is_empty() && set("TMUX").is_none() && set("STY").is_none()
}

/// The question is written now.
pub fn asked() {
    let mut question = lock();
    (question.asked, question.answered, question.is_own) = (Some(Instant::now()), false, true);
}

/// Another program had the terminal: what is answered from now on may be the background that it chose, until the next
/// question.
pub fn was_lent() {
    lock().is_own = false;
}

/// What the terminal answered since this was called last.
pub fn take_answer() -> Option<TerminalBackground> {
    lock().found.take()
}

/// The same, without taking it.
pub fn answer() -> Option<TerminalBackground> {
    lock().found
}

pub(super) fn is_expected() -> bool {
    lock().asked.is_some_and(|asked| asked.elapsed() < EXPECTED)
}

/// Keeps an answer. What comes without a question says nothing about this session.
pub(super) fn note(answer: &[u8]) {
    let Some(background) = answer.starts_with(ANSWER).then(|| meaning(answer)).flatten() else { return };
    let mut question = lock();
    if question.asked.is_some() {
        question.answered = true;
        if question.is_own {
            question.found = Some(background);
        }
    }
}

/// An answer may still be on its way, and nobody has asked long ago.
pub(super) fn is_due() -> bool {
    let question = lock();
    !question.answered && question.asked.is_some_and(|asked| asked.elapsed() < SOON)
}

/// The first whole answer in `bytes`: where it begins and ends. Only what can be nothing else is one.
pub(super) fn answer_in(bytes: &[u8]) -> Option<(usize, usize)> {
    let mut from = 0;
    loop {
        let start = from + memmem::find(bytes.get(from..)?, ANSWER)?;
        let body = bytes.get(start + ANSWER.len()..)?;
        let is_body =
            |b: &&u8| b.is_ascii_hexdigit() || matches!(**b, b'/' | b':' | b'r' | b'g' | b'b' | b'a');
        let length = body.iter().take(LONGEST).take_while(is_body).count();
        let end = match (body.get(length), body.get(length + 1)) {
            (Some(0x07), _) => Some(1),
            (Some(0x1b), Some(b'\\')) => Some(2),
            _ => None,
        };
        if let (Some(end), true) = (end, body.starts_with(b"rgb")) {
            return Some((start, start + ANSWER.len() + length + end));
        }
        from = start + ANSWER.len();
    }
}

/// `rgb:RRRR/GGGG/BBBB` with one to four digits each, or `rgba:` and one more.
fn meaning(answer: &[u8]) -> Option<TerminalBackground> {
    let text = std::str::from_utf8(answer.get(ANSWER.len()..)?).ok()?;
    let text = text.trim_end_matches(['\x07', '\x1b', '\\']);
    let (_, parts) = text.split_once(':')?;
    let mut parts = parts.split('/').map(|digits| {
        let most =
            16_u32.checked_pow(u32::try_from(digits.len()).ok()?)?.checked_sub(1).filter(|most| *most > 0)?;
        Some(f64::from(u32::from_str_radix(digits, 16).ok()?) / f64::from(most))
    });
    let (red, green, blue) = (parts.next()??, parts.next()??, parts.next()??);
    let light = 0.299 * red + 0.587 * green + 0.114 * blue;
    Some(if light > 0.5 { TerminalBackground::Light } else { TerminalBackground::Dark })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_light_or_dark() {
        for (answer, want) in [
            ("\x1b]11;rgb:0000/0000/0000\x1b\\", Some(TerminalBackground::Dark)),
            ("\x1b]11;rgb:fdfd/f6f6/e3e3\x07", Some(TerminalBackground::Light)),
            ("\x1b]11;rgb:1e/1e/2e\x07", Some(TerminalBackground::Dark)),
            ("\x1b]11;rgba:ffff/ffff/ffff/ffff\x1b\\", Some(TerminalBackground::Light)),
            ("\x1b]11;rgb:\x07", None),
            ("\x1b]11;?\x07", None),
        ] {
            assert_eq!(meaning(answer.as_bytes()), want, "{answer:?}");
        }
    }

    #[test]
    fn an_answer_is_found_between_other_bytes_and_nothing_else_is_one() {
        assert_eq!(answer_in(b"ab\x1b]11;rgb:1/2/3\x07cd"), Some((2, 17)));
        assert_eq!(answer_in(b"\x1b]11;?\x07\x1b]11;rgb:1/2/3\x1b\\"), Some((7, 23)));
        for text in [&b"\x1b]11;rgb:1/2/3"[..], b"\x1b]11;hello\x07", b"]11;rgb:1/2/3\x07", b""] {
            assert_eq!(answer_in(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_console_and_a_multiplexer_are_not_asked() {
        for (variables, want) in [
            (vec![("TERM", "xterm-256color")], true),
            (vec![("TERM", "foot")], true),
            (vec![("TERM", "dumb")], false),
            (vec![("TERM", "linux")], false),
            (vec![("TERM", "screen.xterm-256color")], false),
            (vec![("TERM", "tmux-256color")], false),
            (vec![("TERM", "xterm"), ("TMUX", "/tmp/x,1,0")], false),
            (vec![("TERM", "xterm"), ("STY", "1.x")], false),
            (vec![], false),
        ] {
            let variable =
                |name: &str| variables.iter().find(|(n, _)| *n == name).map(|(_, value)| value.to_string());
            assert_eq!(may_ask(variable), want, "{variables:?}");
        }
    }
}
