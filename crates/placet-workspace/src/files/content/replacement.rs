//! Replacing texts in a file: which places a text has, and what takes their place, with every other byte left as it is.
//!
//! A needle is encoded in the file's own encoding and searched for among the bytes. A caller sends plain line breaks
//! for line ends of every kind, so a line feed in the needle also matches CRLF, and inserted text gets the line ends of
//! its surroundings. If the two texts differ in nothing but their line ends, the line ends are what the caller wants to
//! change: they are put in as they are written, and a place that has them already is not a place.

use super::line_index::feeds;
use crate::{EditError, TextFile};
use memchr::memmem;
use placet_text::text::LineEnd;
use std::ops::Range;

/// A text, and the text that takes its place.
#[derive(Clone, Copy, Debug)]
pub struct Replacement<'a> {
    old: &'a str,
    new: &'a str,
    line_ends: LineEndRule,
}

/// What a line end in the texts of a replacement stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LineEndRule {
    /// A line end of any kind.
    Any,
    /// In the old text a line end of any kind, in the new text itself.
    Changed,
    /// Itself.
    Exact,
}

/// The line end around the last place, and the ends of later places that have the same one around them.
#[derive(Debug, Default)]
struct KnownLineEnd {
    places: Range<usize>,
    line_end: Option<LineEnd>,
}

/// A file with replacements made.
#[derive(Clone, Debug)]
pub struct SpliceResult {
    pub bytes: Vec<u8>,
    /// What was really replaced: byte ranges of the old content and the lengths of what took their place.
    pub changes: Vec<(Range<usize>, usize)>,
}

impl<'a> Replacement<'a> {
    pub fn of_text(old: &'a str, new: &'a str) -> Replacement<'a> {
        let is_changed = old != new && plain(old) == plain(new);
        Replacement { old, new, line_ends: if is_changed { LineEndRule::Changed } else { LineEndRule::Any } }
    }

    /// Byte for byte, as `str_replace` of PHP does it, in the encoding of the file.
    pub fn of_bytes(old: &'a str, new: &'a str) -> Replacement<'a> {
        Replacement { old, new, line_ends: LineEndRule::Exact }
    }

    /// The texts differ in nothing but their line ends.
    pub fn changes_line_ends(&self) -> bool {
        self.line_ends == LineEndRule::Changed
    }
}

fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}

/// The spans that begin after the one before them has ended.
pub fn without_overlaps(mut spans: Vec<Range<usize>>) -> Vec<Range<usize>> {
    let mut end = 0;
    spans.retain(|span| span.start >= end && std::mem::replace(&mut end, span.end) <= span.start);
    spans
}

impl TextFile {
    /// The places to replace, including overlapping ones, at most `most` of them.
    pub fn places(&self, replacement: &Replacement<'_>, most: usize) -> Result<Vec<Range<usize>>, EditError> {
        let Replacement { old, new, line_ends } = *replacement;
        if line_ends == LineEndRule::Any {
            return self.find(old, most);
        }
        let encoding = self.encoding();
        let mut spans: Vec<Range<usize>> = match (line_ends, encoding.encode(old).ok()) {
            (LineEndRule::Exact, Some(needle)) => {
                let found = memmem::find_iter(self.bytes(), &needle).filter(|at| self.at_boundary(*at));
                found.map(|at| at..at + needle.len()).collect()
            }
            (LineEndRule::Exact, None) => Vec::new(),
            _ => self.find(old, usize::MAX)?,
        };
        let made = encoding.encode(new).ok();
        spans.retain(|span| made.as_deref() != Some(self.part(span.clone())));
        spans.truncate(most);
        Ok(spans)
    }

    /// Only line ends would change, and the file already has those of the new text.
    pub fn has_line_ends_of(&self, replacement: &Replacement<'_>) -> bool {
        replacement.changes_line_ends()
            && self.places(replacement, 1).is_ok_and(|places| places.is_empty())
            && self.find(replacement.old, 1).is_ok_and(|found| !found.is_empty())
    }

    /// Makes a replacement at `spans`, which are places of it that do not overlap.
    pub fn splice(
        &self,
        spans: &[Range<usize>],
        replacement: &Replacement<'_>,
    ) -> Result<SpliceResult, EditError> {
        let Replacement { old, new, line_ends } = *replacement;
        if self.detected.stray && new.matches('\u{FFFD}').count() > old.matches('\u{FFFD}').count() {
            return Err(EditError::Placeholder(self.encoding()));
        }
        let own_end = if new.contains("\r\n") { LineEnd::CrLf } else { LineEnd::Lf };
        let (plain_old, plain_new) = (plain(old), plain(new));
        let mut changes = Vec::new();
        let mut bytes = Vec::with_capacity(self.bytes().len() + new.len());
        let (mut kept, mut known) = (0, KnownLineEnd::default());
        for span in spans {
            let (range, put) = match line_ends {
                LineEndRule::Any => self.one_change(span, (&plain_old, &plain_new), own_end, &mut known)?,
                LineEndRule::Changed | LineEndRule::Exact => {
                    let put = self.encoding().encode(new).map_err(EditError::Unencodable)?;
                    (span.clone(), put.into_owned())
                }
            };
            self.refuse_guess(&self.encoding().decode(&put))?;
            bytes.extend_from_slice(self.part(kept..range.start));
            bytes.extend_from_slice(&put);
            kept = range.end;
            changes.push((range, put.len()));
        }
        bytes.extend_from_slice(self.part(kept..self.bytes().len()));
        Ok(SpliceResult { bytes, changes })
    }

    /// The smallest run of lines in `span` that differs between `old` and `new`, and the bytes that take its place.
    fn one_change(
        &self,
        span: &Range<usize>,
        (old, new): (&str, &str),
        own_end: LineEnd,
        known: &mut KnownLineEnd,
    ) -> Result<(Range<usize>, Vec<u8>), EditError> {
        let encoding = self.encoding();
        let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
        let shared = old.len().min(new.len()) - 1;
        let head = old.iter().zip(&new).take(shared).take_while(|(a, b)| a == b).count();
        let tails = old.iter().rev().zip(new.iter().rev());
        let tail = tails.take(shared - head).take_while(|(a, b)| a == b).count();
        let places = self.segments(span, &old)?;
        let last = old.len() - 1 - tail;
        let start = places.get(head).map_or(span.start, |p| p.start);
        let end = places.get(last).map_or(span.end, |p| p.end);
        let ends: Vec<LineEnd> = (head..last)
            .filter_map(|at| Some(self.end_between(places.get(at)?.end, places.get(at + 1)?.start)))
            .collect();
        // Most replacements bring no line end, and to look for one may mean to read the whole file.
        let usual = match new.len() - tail > head + 1 {
            true => ends.last().copied().or_else(|| self.end_around(start, end, known)).unwrap_or(own_end),
            false => own_end,
        };
        let mut put = Vec::new();
        for (at, segment) in new.get(head..new.len() - tail).unwrap_or_default().iter().enumerate() {
            if at > 0 {
                let line_end = ends.get(at - 1).copied().unwrap_or(usual);
                put.extend_from_slice(&encoding.encode(line_end.as_str()).map_err(EditError::Unencodable)?);
            }
            put.extend_from_slice(&encoding.encode(segment).map_err(EditError::Unencodable)?);
        }
        Ok((start..end, put))
    }

    /// The position of each line of `old` in `span`.
    fn segments(&self, span: &Range<usize>, old: &[&str]) -> Result<Vec<Range<usize>>, EditError> {
        let mut at = span.start;
        let mut places = Vec::with_capacity(old.len());
        for segment in old {
            let end = at + self.encoding().encode(segment).map_err(EditError::Unencodable)?.len();
            places.push(at..end);
            at = self.after_line_end(end).unwrap_or(end);
        }
        Ok(places)
    }

    fn end_between(&self, from: usize, to: usize) -> LineEnd {
        if to - from > self.encoding().unit() { LineEnd::CrLf } else { LineEnd::Lf }
    }

    /// The line end for a change: that of its own last line, else of the line before, else of the first line of the
    /// file.
    fn end_around(&self, start: usize, end: usize, known: &mut KnownLineEnd) -> Option<LineEnd> {
        if known.places.contains(&end) {
            return known.line_end;
        }
        let encoding = self.encoding();
        let feed_at = |range: Range<usize>, rev: bool| {
            let (bytes, base) = (self.part(range.clone()), range.start);
            let mut all = feeds(bytes, encoding, base);
            if rev { all.next_back() } else { all.next() }.map(|at| at + base)
        };
        let line_end = |feed: usize| {
            let before = feed.checked_sub(encoding.unit()).map_or(&[][..], |at| self.part(at..feed));
            if before == encoding.carriage_return() { LineEnd::CrLf } else { LineEnd::Lf }
        };
        let length = self.bytes().len();
        let next = feed_at(end..length, false);
        let line_end = next.or_else(|| feed_at(0..start, true)).map(line_end);
        *known = KnownLineEnd { places: end..next.unwrap_or(length) + 1, line_end };
        line_end
    }
}

#[cfg(test)]
#[path = "replacement_tests.rs"]
mod tests;
