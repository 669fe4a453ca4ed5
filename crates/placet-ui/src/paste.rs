//! Pastes that are too long for a line: they are stored here, with a placeholder in the line.
//!
//! A line that is taller than the screen cannot be edited. A long paste is therefore shown as `[Pasted text #1: 30
//! lines, 1.2 kB]`, and its text replaces the placeholder when the line is sent. The same holds for a paste whose bytes
//! would not survive the line: control characters, a backslash before a line end, or a row that would look like
//! placet's own. Line ends become `\n`, because a terminal sends `\r` for each. Nothing else of a paste is ever changed
//! or cut: a paste that is too long is refused.

use super::lines::margin_mark;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use thiserror::Error;

/// A paste of more lines than these gets a placeholder.
const LINES: usize = 10;
/// A paste of more bytes than these gets a placeholder.
const BYTES: usize = 1000;
/// All pastes of a session together.
const ALL: usize = 100 * 1024 * 1024;
const MARK: &str = "[Pasted text #";
const NOT_KEPT: &str = "[a paste that the history does not keep: #";

/// A paste of so many bytes is refused: with it, all pastes of the session would be larger than 100 MB.
#[derive(Debug, Error)]
#[error("{}", refused(*.bytes, "all pastes of a session together are limited to 100 MB"))]
pub struct PastesTooLarge {
    bytes: usize,
}

/// The pastes of a session. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct PasteStore(Arc<Mutex<Vec<StoredPaste>>>);

#[derive(Clone, Debug)]
struct StoredPaste {
    text: String,
    /// The text was typed, in an editor or before a restart: commands in it count.
    typed: bool,
}

impl PasteStore {
    /// The text in a line for the paste `text`.
    pub fn collapse(&self, text: &str) -> Result<String, PastesTooLarge> {
        self.take(text, false)
    }

    /// A placeholder for `text`, however short it is.
    pub fn collapse_always(&self, text: &str) -> Result<String, PastesTooLarge> {
        let known = self.take(text, false)?;
        if known.starts_with(MARK) {
            return Ok(known);
        }
        let mut kept = self.lock();
        kept.push(StoredPaste { text: known.clone(), typed: false });
        Ok(place(kept.len(), &known))
    }

    fn take(&self, text: &str, typed: bool) -> Result<String, PastesTooLarge> {
        let text = if text.contains('\r') {
            Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n"))
        } else {
            Cow::Borrowed(text)
        };
        if fits(&text) && (typed || !looks_like_command(&text) && !margin_mark::imitates(&text)) {
            return Ok(text.into_owned());
        }
        let mut kept = self.lock();
        if kept.iter().map(|paste| paste.text.len()).sum::<usize>() + text.len() > ALL {
            return Err(PastesTooLarge { bytes: text.len() });
        }
        if let Some(known) = kept.iter().position(|paste| paste.text == text && paste.typed == typed) {
            return Ok(place(known + 1, &text));
        }
        let place = place(kept.len() + 1, &text);
        kept.push(StoredPaste { text: text.into_owned(), typed });
        Ok(place)
    }

    /// A line that is there already, such as one of an earlier session, as it can be edited.
    pub fn collapsed(&self, line: String) -> String {
        let line = self.folded(line);
        if fits(&line) { line } else { self.take(&line, true).unwrap_or(line) }
    }

    /// `line` with the placeholder for every paste that is in the line whole: as the line was before it was edited.
    fn folded(&self, mut line: String) -> String {
        for (at, paste) in self.lock().iter().enumerate() {
            // An editor's last line end is its own.
            let bare = paste.text.trim_end_matches('\n');
            if line.contains(&paste.text) {
                line = line.replace(&paste.text, &place(at + 1, &paste.text));
            } else if let Some(before) = line.strip_suffix(bare).filter(|_| !bare.is_empty()) {
                line = format!("{before}{}", place(at + 1, &paste.text));
            }
        }
        line
    }

    /// `line` with typed text in place of its placeholders. A paste keeps its placeholder, because a paste is text and
    /// never a command.
    pub fn expand_typed(&self, line: &str) -> String {
        self.expand_where(line, |paste| paste.typed)
    }

    /// Why `line` cannot be sent: a placeholder of a paste was changed.
    pub fn placeholder_error(&self, line: &str) -> Option<String> {
        if line.contains(NOT_KEPT) {
            return Some("the history did not keep this paste: paste it again, or take its words out".into());
        }
        let kept = self.lock();
        let mut rest = line;
        while let Some(at) = rest.find(MARK) {
            let mark = rest.get(at..).unwrap_or("");
            let known =
                number(mark).and_then(|n| kept.get(n.checked_sub(1)?).map(|paste| place(n, &paste.text)));
            if let Some(place) = known.filter(|place| !mark.starts_with(place.as_str())) {
                return Some(format!(
                    "the placeholder of a paste was changed: restore `{place}`, or remove it"
                ));
            }
            rest = mark.get(MARK.len()..).unwrap_or("");
        }
        None
    }

    /// The first letter of a placeholder, which nothing else in it is.
    pub const BEGINS: char = '[';

    /// True where `text` ends with a whole placeholder.
    pub fn ends_with_placeholder(&self, text: &str) -> bool {
        let placed = |mark: &str| {
            let number = number(mark)?;
            Some(mark == place(number, &self.lock().get(number.checked_sub(1)?)?.text))
        };
        text.rfind(MARK).and_then(|at| placed(text.get(at..)?)).unwrap_or(false)
    }

    /// `line` with every paste in place of its placeholder. A placeholder that names no paste stays.
    pub fn expanded<'a>(&self, line: &'a str) -> Cow<'a, str> {
        if line.contains(MARK) { Cow::Owned(self.expand_where(line, |_| true)) } else { Cow::Borrowed(line) }
    }

    fn expand_where(&self, line: &str, wanted: impl Fn(&StoredPaste) -> bool) -> String {
        let kept = self.lock();
        let mut out = String::new();
        let mut rest = line;
        while let Some(at) = rest.find(MARK) {
            let (before, mark) = rest.split_at(at);
            out.push_str(before);
            let paste =
                number(mark).and_then(|n| kept.get(n.checked_sub(1)?).map(|p| (place(n, &p.text), p)));
            match paste {
                Some((place, paste)) if mark.starts_with(&place) && wanted(paste) => {
                    out.push_str(&paste.text);
                    rest = mark.get(place.len()..).unwrap_or("");
                }
                _ => {
                    out.push_str(MARK);
                    rest = mark.get(MARK.len()..).unwrap_or("");
                }
            }
        }
        out.push_str(rest);
        out
    }

    /// `line` for a history that outlives the session: a very long paste is named and not stored.
    pub fn for_history(&self, line: &str) -> String {
        const MOST: usize = 256 * 1024;
        let whole = self.expanded(line);
        if whole.len() <= MOST {
            return whole.into_owned();
        }
        line.replace(MARK, NOT_KEPT)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<StoredPaste>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why the reader of the terminal dropped a paste.
pub const TOO_LONG: &str = "it is longer than 10 MB";

/// Says why a paste of `bytes` was not taken, and what to do instead.
pub fn refused(bytes: usize, limit: &str) -> String {
    format!("a paste of {} was not accepted: {limit}; save it to a file and attach it with @", size(bytes))
}

/// Several lines that begin like a command, or name files: a paste of them is text and must not be read as typed.
fn looks_like_command(text: &str) -> bool {
    let names = |at: usize| at == 0 || text.get(..at).is_some_and(|b| b.ends_with(char::is_whitespace));
    text.trim().contains('\n')
        && (text.trim_start().starts_with(['!', '/']) || text.match_indices('@').any(|(at, _)| names(at)))
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
    placet_text::text::human_size::of(u64::try_from(bytes).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_paste_stays_what_it_is_and_a_long_one_comes_back_whole() {
        let pastes = PasteStore::default();
        assert_eq!(pastes.collapse("a\r\nb\rc").unwrap(), "a\nb\nc");
        let long = "line\n".repeat(30);
        let place = pastes.collapse(&long).unwrap();
        assert_eq!(place, "[Pasted text #1: 30 lines, 150 B]");
        assert_eq!(pastes.collapse(&long).unwrap(), place, "the same text again is the same paste");
        assert_eq!(pastes.expanded(&format!("look: {place}, {place}!")), format!("look: {long}, {long}!"));
    }

    #[test]
    fn bytes_that_a_line_would_change_are_put_away() {
        let pastes = PasteStore::default();
        for text in ["#define A \\\n  1", "\u{1b}[31m", "nul\0", &"x".repeat(1001)] {
            let place = pastes.collapse(text).unwrap();
            assert!(place.starts_with(MARK), "{text:?}");
            assert_eq!(pastes.expanded(&place), text);
        }
    }

    #[test]
    fn words_that_only_look_like_a_paste_stay() {
        let pastes = PasteStore::default();
        let place = pastes.collapse(&"x\n".repeat(20)).unwrap();
        for line in [
            "[Pasted text #1]",
            "[Pasted text #2: 20 lines, 40 B]",
            "[Pasted text #",
            "[Pasted text #99999999999999999999:",
        ] {
            assert_eq!(pastes.expanded(line), line);
        }
        // What is in a paste is not looked at again.
        let twice = pastes.collapse(&format!("{place}\n").repeat(12)).unwrap();
        assert_eq!(pastes.expanded(&twice), format!("{place}\n").repeat(12));
    }

    #[test]
    fn the_history_keeps_what_is_not_too_long() {
        let pastes = PasteStore::default();
        let short = pastes.collapse(&"x\n".repeat(20)).unwrap();
        let long = pastes.collapse(&"y".repeat(300 * 1024)).unwrap();
        assert_eq!(pastes.for_history(&short), "x\n".repeat(20));
        assert_eq!(
            pastes.for_history(&format!("see {long}")),
            "see [a paste that the history does not keep: #2: 1 line, 307.2 kB]"
        );
    }
}
