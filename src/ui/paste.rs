//! Pastes that are too long for a line: kept here, with words in their place.
//!
//! A line that is taller than the screen cannot be edited, so a long paste stands there as `[Pasted text #1: 30 lines,
//! 1.2 kB]` and is put in its place when the line is sent. So is a paste whose bytes would not survive the line:
//! control characters, or a backslash before a line end. Line ends become `\n`, for a terminal sends `\r` for each;
//! nothing else of a paste is ever changed, and none is ever cut: what is too long is refused.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// More lines than these are put away.
const LINES: usize = 10;
/// More bytes than these are put away.
const BYTES: usize = 1000;
/// All pastes of a session together.
const ALL: usize = 100 * 1024 * 1024;
const MARK: &str = "[Pasted text #";

/// The pastes of a session. Cloned handles are the same ones.
#[derive(Clone, Debug, Default)]
pub struct Pastes(Arc<Mutex<Vec<String>>>);

impl Pastes {
    /// What is to stand in a line for `text`; the error is that too much was pasted.
    pub fn take_in(&self, text: &str) -> Result<String, String> {
        let text = if text.contains('\r') {
            Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
        } else {
            Cow::Borrowed(text)
        };
        if fits(&text) {
            return Ok(text.into_owned());
        }
        let mut kept = self.kept();
        if kept.iter().map(String::len).sum::<usize>() + text.len() > ALL {
            return Err(refused(text.len(), "all pastes of a session together hold 100 MB"));
        }
        if let Some(known) = kept.iter().position(|paste| *paste == text) {
            return Ok(place(known + 1, &text));
        }
        let place = place(kept.len() + 1, &text);
        kept.push(text.into_owned());
        Ok(place)
    }

    /// A line that is there already, such as one of an earlier session, as it can be edited.
    pub fn collapsed(&self, line: String) -> String {
        if fits(&line) { line } else { self.take_in(&line).unwrap_or(line) }
    }

    /// `line` with every paste in its place. Words that name none stay as they are.
    pub fn expanded<'a>(&self, line: &'a str) -> Cow<'a, str> {
        if !line.contains(MARK) {
            return Cow::Borrowed(line);
        }
        let kept = self.kept();
        let mut out = String::new();
        let mut rest = line;
        while let Some(at) = rest.find(MARK) {
            let (before, mark) = rest.split_at(at);
            out.push_str(before);
            let paste =
                number(mark).and_then(|n| kept.get(n.checked_sub(1)?).map(|text| (place(n, text), text)));
            match paste {
                Some((place, text)) if mark.starts_with(&place) => {
                    out.push_str(text);
                    rest = mark.get(place.len()..).unwrap_or("");
                }
                _ => {
                    out.push_str(MARK);
                    rest = mark.get(MARK.len()..).unwrap_or("");
                }
            }
        }
        out.push_str(rest);
        Cow::Owned(out)
    }

    /// `line` for a history that outlives the session: a very long paste is named and not kept.
    pub fn for_history(&self, line: &str) -> String {
        const MOST: usize = 256 * 1024;
        let whole = self.expanded(line);
        if whole.len() <= MOST {
            return whole.into_owned();
        }
        line.replace(MARK, "[a paste that the history does not keep: #")
    }

    fn kept(&self) -> MutexGuard<'_, Vec<String>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why the reader of the terminal threw a paste away.
pub const TOO_LONG: &str = "it is longer than 10 MB";

/// Says why a paste of `bytes` was not taken, and what to do instead.
pub fn refused(bytes: usize, limit: &str) -> String {
    format!("a paste of {} was not taken: {limit}; save it to a file and name it with @", size(bytes))
}

fn fits(text: &str) -> bool {
    text.len() <= BYTES
        && text.matches('\n').count() < LINES
        && !text.contains("\\\n")
        && !text.chars().any(|c| c.is_control() && c != '\n' && c != '\t')
}

fn place(number: usize, text: &str) -> String {
    let lines = text.lines().count();
    let s = if lines == 1 { "" } else { "s" };
    format!("{MARK}{number}: {lines} line{s}, {}]", size(text.len()))
}

fn number(mark: &str) -> Option<usize> {
    let digits = mark.strip_prefix(MARK)?;
    digits.get(..digits.find(|c: char| !c.is_ascii_digit())?)?.parse().ok()
}

fn size(bytes: usize) -> String {
    crate::text::size::of(u64::try_from(bytes).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_paste_stays_what_it_is_and_a_long_one_comes_back_whole() {
        let pastes = Pastes::default();
        assert_eq!(pastes.take_in("a\r\nb\rc").unwrap(), "a\nb\nc");
        let long = "line\n".repeat(30);
        let place = pastes.take_in(&long).unwrap();
        assert_eq!(place, "[Pasted text #1: 30 lines, 150 B]");
        assert_eq!(pastes.take_in(&long).unwrap(), place, "the same text again is the same paste");
        assert_eq!(pastes.expanded(&format!("look: {place}, {place}!")), format!("look: {long}, {long}!"));
    }

    #[test]
    fn bytes_that_a_line_would_change_are_put_away() {
        let pastes = Pastes::default();
        for text in ["#define A \\\n  1", "\u{1b}[31m", "nul\0", &"x".repeat(1001)] {
            let place = pastes.take_in(text).unwrap();
            assert!(place.starts_with(MARK), "{text:?}");
            assert_eq!(pastes.expanded(&place), text);
        }
    }

    #[test]
    fn words_that_only_look_like_a_paste_stay() {
        let pastes = Pastes::default();
        let place = pastes.take_in(&"x\n".repeat(20)).unwrap();
        for line in [
            "[Pasted text #1]",
            "[Pasted text #2: 20 lines, 40 B]",
            "[Pasted text #",
            "[Pasted text #99999999999999999999:",
        ] {
            assert_eq!(pastes.expanded(line), line);
        }
        // What is in a paste is not looked at again.
        let twice = pastes.take_in(&format!("{place}\n").repeat(12)).unwrap();
        assert_eq!(pastes.expanded(&twice), format!("{place}\n").repeat(12));
    }

    #[test]
    fn the_history_keeps_what_is_not_too_long() {
        let pastes = Pastes::default();
        let short = pastes.take_in(&"x\n".repeat(20)).unwrap();
        let long = pastes.take_in(&"y".repeat(300 * 1024)).unwrap();
        assert_eq!(pastes.for_history(&short), "x\n".repeat(20));
        assert_eq!(
            pastes.for_history(&format!("see {long}")),
            "see [a paste that the history does not keep: #2: 1 line, 307.2 kB]"
        );
    }
}
