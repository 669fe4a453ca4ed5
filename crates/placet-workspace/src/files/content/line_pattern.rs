//! Looking for a text among the bytes of a file: its lines exactly, its line ends of either kind.

use super::line_index::feeds;
use crate::{EditError, TextFile};
use memchr::memmem;
use placet_text::text::{TextEncoding, UnencodableChar};
use std::borrow::Cow;
use std::ops::Range;

/// A text to look for, line by line in the file's encoding.
pub(crate) struct LinePattern {
    segments: Vec<Vec<u8>>,
    /// The longest segment: the one worth searching for.
    anchor: usize,
}

impl LinePattern {
    pub(crate) fn new(old: &str, encoding: TextEncoding) -> Result<LinePattern, UnencodableChar> {
        let segments: Result<Vec<Vec<u8>>, UnencodableChar> =
            old.split('\n').map(|s| encoding.encode(s).map(Cow::into_owned)).collect();
        let segments = segments?;
        let longest = segments.iter().enumerate().max_by_key(|(at, s)| (s.len(), std::cmp::Reverse(*at)));
        let anchor = longest.map_or(0, |(at, _)| at);
        Ok(LinePattern { segments, anchor })
    }

    pub(crate) fn find(&self, file: &TextFile, most: usize) -> Vec<Range<usize>> {
        let empty = Vec::new();
        let anchor = self.segments.get(self.anchor).unwrap_or(&empty);
        let mut found = Vec::new();
        if anchor.is_empty() {
            self.find_empty_lines(file, most, &mut found);
            return found;
        }
        let finder = memmem::Finder::new(anchor);
        let mut from = 0;
        while let Some(at) = finder.find(file.part(from..file.bytes().len())) {
            let at = from + at;
            from = at + 1;
            if file.at_boundary(at)
                && let Some(span) = self.around(file, at)
            {
                found.push(span);
                if found.len() >= most {
                    break;
                }
            }
        }
        found
    }

    /// A needle of line feeds alone: it begins at each line end that is followed by enough others.
    fn find_empty_lines(&self, file: &TextFile, most: usize, found: &mut Vec<Range<usize>>) {
        if self.segments.len() < 2 {
            return;
        }
        let unit = file.encoding().unit();
        for feed in feeds(file.bytes(), file.encoding(), 0) {
            let returned =
                feed.checked_sub(unit).filter(|at| file.part(*at..feed) == file.encoding().carriage_return());
            let start = returned.unwrap_or(feed);
            if let Some(end) = self.forward(file, start, 0) {
                found.push(start..end);
                if found.len() >= most {
                    return;
                }
            }
        }
    }

    /// The whole span, given that the anchor begins at `at`.
    fn around(&self, file: &TextFile, at: usize) -> Option<Range<usize>> {
        let end = self.forward(file, at, self.anchor)?;
        let mut starts = vec![at];
        for segment in self.segments.iter().take(self.anchor).rev() {
            starts = starts.iter().flat_map(|start| before(file, *start, segment)).collect();
        }
        starts.first().map(|start| *start..end)
    }

    /// The end of the span, given that segment `from` begins at `at`.
    fn forward(&self, file: &TextFile, mut at: usize, from: usize) -> Option<usize> {
        for (number, segment) in self.segments.iter().enumerate().skip(from) {
            if number > from {
                at = file.after_line_end(at)?;
            }
            let rest = file.part(at..file.bytes().len());
            if !rest.starts_with(segment) {
                return None;
            }
            at += segment.len();
        }
        Some(at)
    }
}

/// Where `segment` begins, if it and a line end are directly before `at`: with CRLF first, then with LF alone, for a
/// segment whose own last character is a carriage return.
fn before(file: &TextFile, at: usize, segment: &[u8]) -> Vec<usize> {
    let encoding = file.encoding();
    let Some(head) = file.part(0..at).strip_suffix(encoding.line_feed()) else { return Vec::new() };
    let returned = head.strip_suffix(encoding.carriage_return());
    let ends = returned.into_iter().chain(std::iter::once(head));
    let starts = ends.filter_map(|h| h.strip_suffix(segment)).map(<[u8]>::len);
    let mut starts: Vec<usize> = starts.filter(|s| file.at_boundary(*s)).collect();
    starts.dedup();
    starts
}

impl TextFile {
    /// The positions of `old`, including overlapping ones, at most `most` of them.
    pub fn find(&self, old: &str, most: usize) -> Result<Vec<Range<usize>>, EditError> {
        let old = old.replace("\r\n", "\n");
        let Ok(needle) = LinePattern::new(&old, self.encoding()) else { return Ok(Vec::new()) };
        let found = needle.find(self, most);
        if found.is_empty() && self.detected.stray && old.contains('\u{FFFD}') {
            let text = self.text().replace("\r\n", "\n");
            if let Some(at) = text.find(&old) {
                let before = text.get(..at).unwrap_or_default();
                let line = before.matches('\n').count() + 1;
                return Err(EditError::Undecodable { encoding: self.encoding(), line });
            }
        }
        Ok(found)
    }
}
