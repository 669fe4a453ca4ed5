//! Light or dark: the terminal's background, asked for with OSC 11.
//!
//! The question goes out with the first prompt and nothing waits for the answer. The answer comes as input, in the same
//! stream as the keys and at any time: late, in pieces, twice, inside a paste, or never. Whoever reads keys then finds it
//! here and cuts it out; it is never typed.

use super::async_key_reader::timespec;
use super::decode::{InputDecoder, InputToken};
use crate::ui::term;
use memchr::memmem;
use rustix::event::{PollFd, PollFlags};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The question. The terminal answers `ESC ] 11 ; rgb:RRRR/GGGG/BBBB ST`.
pub const QUESTION: &str = "\x1b]11;?\x1b\\";
/// What an answer begins with.
pub(super) const ANSWER: &[u8] = b"\x1b]11;";
/// An answer is expected for so long: what comes later is swallowed only where it comes in one piece by itself.
const EXPECTED: Duration = Duration::from_secs(5);
/// Who leaves so soon after the question waits for the answer, and for how long: the shell would get it.
const SOON: Duration = Duration::from_secs(1);
const DRAIN: Duration = Duration::from_millis(100);
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
}

static QUESTIONED: Mutex<BackgroundQuestion> =
    Mutex::new(BackgroundQuestion { asked: None, answered: false, found: None });

fn lock() -> MutexGuard<'static, BackgroundQuestion> {
    QUESTIONED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// True for a terminal that is asked: not where the question would be shown as text, and not inside a multiplexer, which
/// answers for a terminal that may have changed since.
pub fn may_ask(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let term = set("TERM").unwrap_or_default();
    let knows =
        !["dumb", "linux", "screen", "tmux", "emacs", "cons25", "vt"].iter().any(|t| term.starts_with(t));
    knows && !term.is_empty() && set("TMUX").is_none() && set("STY").is_none()
}

/// The question is written now.
pub fn asked() {
    lock().asked = Some(Instant::now());
}

/// What the terminal answered since this was called last.
pub fn take_answer() -> Option<TerminalBackground> {
    lock().found.take()
}

fn is_expected() -> bool {
    lock().asked.is_some_and(|asked| asked.elapsed() < EXPECTED)
}

/// [`InputDecoder::feed`], with answers taken out.
pub(super) fn feed(decoder: &mut InputDecoder, bytes: &[u8]) -> Vec<InputToken> {
    decoder.expect_color(is_expected());
    noted(decoder.feed(bytes))
}

/// [`InputDecoder::read`], with answers taken out.
pub(super) fn read(decoder: &mut InputDecoder, bytes: &[u8]) -> Vec<InputToken> {
    decoder.expect_color(is_expected());
    noted(decoder.read(bytes))
}

/// [`InputDecoder::flush_timeout`], with answers taken out.
pub(super) fn flush_timeout(decoder: &mut InputDecoder) -> Option<InputToken> {
    decoder.expect_color(is_expected());
    decoder.flush_timeout()
}

fn noted(tokens: Vec<InputToken>) -> Vec<InputToken> {
    for token in &tokens {
        if let Some(background) = token.raw.starts_with(ANSWER).then(|| meaning(&token.raw)).flatten() {
            let mut question = lock();
            // Nobody asked: it says nothing about this session.
            if question.asked.is_some() {
                question.answered = true;
                question.found = Some(background);
            }
        }
    }
    tokens
}

/// Takes an answer that is on its way, before the terminal is given back to who reads it next.
pub fn drain() {
    let due = {
        let question = lock();
        question.asked.is_some_and(|asked| !question.answered && asked.elapsed() < SOON)
    };
    let end = Instant::now() + DRAIN;
    let mut decoder = InputDecoder::default();
    while due && !lock().answered {
        let left = end.saturating_duration_since(Instant::now());
        let terminal = term::input();
        let mut fds = [PollFd::new(&terminal, PollFlags::IN)];
        if left.is_zero() || !matches!(rustix::event::poll(&mut fds, Some(&timespec(left))), Ok(n) if n > 0) {
            return;
        }
        let mut buffer = [0; 4096];
        match rustix::io::read(terminal, &mut buffer) {
            Ok(n) if n > 0 => drop(feed(&mut decoder, buffer.get(..n).unwrap_or(&[]))),
            _ => return,
        }
    }
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
        assert_eq!(answer_in(b"ab\x1b]11;rgb:1/2/3\x07cd"), Some((2, 16)));
        assert_eq!(answer_in(b"\x1b]11;?\x07\x1b]11;rgb:1/2/3\x1b\\"), Some((7, 22)));
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
