//! The key that opens placet's page, found in what the person types, in each form in which terminals send it.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use thiserror::Error;

/// Around text that is pasted: a key in it opens nothing.
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

/// Caps lock and num lock, which terminals report as modifiers.
const LOCKS: u16 = 64 | 128;

/// `run.page_key` is not a key that can open the page.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("`run.page_key = \"{0}\"`: write `Ctrl-` and a letter or one of `\\ ] ^ _`, or `none`")]
pub(super) struct PageKeyError(String);

/// Ctrl and a character; follows pastes.
#[derive(Debug)]
pub(super) struct PageKeyFinder {
    /// In lower case; absent where there is no key.
    letter: Option<u8>,
    in_paste: bool,
}

impl PageKeyFinder {
    pub(super) fn parse(setting: &str) -> Result<PageKeyFinder, PageKeyError> {
        let wrong = || PageKeyError(setting.into());
        let letter = match setting.trim() {
            "none" => None,
            text => {
                let rest = text.get(..5).filter(|lead| lead.eq_ignore_ascii_case("ctrl-")).and(text.get(5..));
                match rest.map(str::as_bytes) {
                    // Enter, Tab and Backspace are the same bytes as Ctrl-M, Ctrl-I and Ctrl-H, and J is a line feed.
                    Some([letter]) if b"hijmHIJM".contains(letter) => return Err(wrong()),
                    Some([letter]) if letter.is_ascii_alphabetic() || b"\\]^_".contains(letter) => {
                        Some(letter.to_ascii_lowercase())
                    }
                    _ => return Err(wrong()),
                }
            }
        };
        Ok(PageKeyFinder { letter, in_paste: false })
    }

    /// Where the key begins and ends in `typed`. The bytes before it belong to the program.
    pub(super) fn find(&mut self, typed: &[u8]) -> Option<(usize, usize)> {
        let letter = self.letter?;
        let byte = letter.to_ascii_uppercase() & 0x1f;
        let mut at = 0;
        while let Some(rest) = typed.get(at..).filter(|rest| !rest.is_empty()) {
            if rest.starts_with(PASTE_BEGINS) || rest.starts_with(PASTE_ENDS) {
                self.in_paste = rest.starts_with(PASTE_BEGINS);
                at += PASTE_ENDS.len();
                continue;
            }
            let length = if rest.first() == Some(&byte) { Some(1) } else { sequence(rest, letter) };
            if let (Some(length), false) = (length, self.in_paste) {
                return Some((at, at + length));
            }
            at += 1;
        }
        None
    }

    /// The same key as the page's own reader decodes it.
    pub(super) fn matches(&self, key: KeyEvent) -> bool {
        let Some(letter) = self.letter else { return false };
        let plain = match letter {
            // As the VT220 has it.
            b'\\' | b']' | b'^' | b'_' => letter - b'\\' + b'4',
            letter => letter,
        };
        let is_it = |letter: u8| key.code == KeyCode::Char(char::from(letter));
        key.modifiers.contains(KeyModifiers::CONTROL) && (is_it(plain) || is_it(letter))
    }
}

/// The length of a sequence for Ctrl and `letter` at the beginning of `bytes`: `CSI 93;5u` of the kitty protocol, or
/// `CSI 27;5;93~` of xterm.
fn sequence(bytes: &[u8], letter: u8) -> Option<usize> {
    let body = bytes.strip_prefix(b"\x1b[")?;
    let end = body.iter().position(|byte| !matches!(byte, b'0'..=b'9' | b';' | b':'))?;
    let text = std::str::from_utf8(body.get(..end)?).ok()?;
    let mut fields = text.split(';').map(|field| field.split(':'));
    let number = |text: Option<&str>| text?.parse::<u16>().ok();
    let (code, modifiers, event) = match body.get(end)? {
        b'u' => {
            let (code, mut second) = (number(fields.next()?.next()), fields.next()?);
            (code, number(second.next()), number(second.next()).unwrap_or(1))
        }
        b'~' => {
            let first = number(fields.next()?.next());
            let (second, third) = (number(fields.next()?.next()), number(fields.next()?.next()));
            (third.filter(|_| first == Some(27)), second, 1)
        }
        _ => return None,
    };
    let is_control = modifiers?.checked_sub(1)? & !LOCKS == 4;
    // 3 is the release of a key.
    (code == Some(u16::from(letter)) && is_control && event != 3).then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_key_is_found_in_every_form_and_not_in_a_paste() {
        let find = |typed: &[u8]| PageKeyFinder::parse("Ctrl-]").unwrap().find(typed);
        for (typed, found) in [
            (&b"ab\x1dc"[..], Some((2, 3))),
            (b"\x1b[93;5u", Some((0, 7))),
            (b"\x1b[93;69:1u", Some((0, 10))),
            (b"\x1b[93;5:3u", None),
            (b"\x1b[93;6u", None),
            (b"\x1b[27;5;93~", Some((0, 10))),
            (b"\x1b[A]", None),
            (b"\x1b[200~\x1d\x1b[201~", None),
            (b"\x1b[200~\x1d\x1b[201~\x1d", Some((13, 14))),
        ] {
            assert_eq!(find(typed), found, "{}", typed.escape_ascii());
        }
        let mut finder = PageKeyFinder::parse("Ctrl-]").unwrap();
        assert_eq!(finder.find(b"\x1b[200~"), None);
        assert_eq!(finder.find(b"\x1d"), None, "a paste may come in several pieces");
        let legacy = |letter| KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL);
        assert!(finder.matches(legacy('5')) && finder.matches(legacy(']')) && !finder.matches(legacy('4')));
    }

    #[test]
    fn a_setting_that_would_take_a_usual_key_is_refused() {
        for wrong in ["", "Ctrl-", "Ctrl-M", "ctrl-i", "Ctrl-[", "a", "Alt-x", "Ctrl-é"] {
            assert!(PageKeyFinder::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(PageKeyFinder::parse("none").unwrap().find(b"\x1d"), None);
        assert_eq!(PageKeyFinder::parse("ctrl-P").unwrap().find(b"\x10"), Some((0, 1)));
    }
}
