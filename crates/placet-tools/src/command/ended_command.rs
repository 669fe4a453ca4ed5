//! A command that has ended, as far as the causes of hints look at it.

use std::path::PathBuf;

/// A command that failed.
pub(crate) struct EndedCommand<'a> {
    pub(crate) line: &'a str,
    pub(crate) output: &'a str,
    pub(crate) code: i32,
    /// Directories that are shown wherever they are.
    pub(crate) roots: &'a [PathBuf],
    /// Names what is missing from the copies of settings files.
    pub(crate) missing: &'a dyn Fn() -> Vec<String>,
}

impl EndedCommand<'_> {
    pub(super) fn prints(&self, text: &str) -> bool {
        self.output.contains(text)
    }

    pub(super) fn runs(&self, word: &str) -> bool {
        words(self.line).any(|known| known == word)
    }
}

/// The words of a line or a message, without the punctuation around them.
pub(super) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| {
        c.is_whitespace() || matches!(c, ';' | '|' | '&' | '(' | ')' | '\'' | '"' | '`' | ':' | ',' | '=')
    };
    text.split(is_end).filter(|word| !word.is_empty())
}
