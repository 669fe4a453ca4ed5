//! The result of a search for a person: the text, and a way to mark in it what matched.

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use std::collections::BTreeMap;
use std::ops::Range;

/// The text may be changed before it is shown, for example where it has a secret. So it has no places of matches: they
/// are found in what is shown.
#[derive(Clone, Debug)]
pub struct MatchedText {
    pub text: String,
    rows: BTreeMap<usize, SearchedRow>,
    matcher: RegexMatcher,
}

/// A row with a line of a file that matched: the bytes of the row before that line, and those behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchedRow {
    pub(crate) before: usize,
    pub(crate) after: usize,
}

impl MatchedText {
    /// `rows` are those of `text`, by number.
    pub(crate) fn new(
        text: String,
        rows: BTreeMap<usize, SearchedRow>,
        matcher: RegexMatcher,
    ) -> MatchedText {
        MatchedText { text, rows, matcher }
    }

    /// The bytes of `shown` that match, where `shown` is the row with this number as a person sees it.
    pub fn matches_in(&self, row: usize, shown: &str) -> Vec<Range<usize>> {
        let Some(SearchedRow { before, after }) = self.rows.get(&row).copied() else { return Vec::new() };
        let line = shown.len().checked_sub(after).and_then(|end| shown.get(before..end));
        let mut found = Vec::new();
        let take = |at: grep_matcher::Match| {
            if !at.is_empty() {
                found.push(before + at.start()..before + at.end());
            }
            true
        };
        // A pattern that cannot be run here marks nothing; the search itself reports that.
        drop(self.matcher.find_iter(line.unwrap_or_default().as_bytes(), take));
        found
    }
}

/// The same text of the same rows looks the same: the pattern is in the line of the call.
impl PartialEq for MatchedText {
    fn eq(&self, other: &MatchedText) -> bool {
        self.text == other.text && self.rows == other.rows
    }
}
