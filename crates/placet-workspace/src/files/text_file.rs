//! A text file as its bytes: lines, matches and replacements, with every byte outside a replacement left as it is.
//!
//! placet never decodes a whole file in order to change a part of it. A needle is encoded in the file's own encoding
//! and searched for among the bytes; a line feed in it also matches CRLF; inserted text gets the line ends of its
//! surroundings.

use super::line_index::{LineIndex, feeds, line_feeds};
use placet_text::text::{DetectedEncoding, LineEnd, LineEndCounts, NotText, TextEncoding, UnencodableChar};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

#[derive(Clone, Debug)]
pub struct TextFile {
    bytes: Arc<Vec<u8>>,
    pub(super) detected: DetectedEncoding,
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EditError {
    #[error(
        "the text contains bytes that are not valid {encoding} (line {line}, shown as U+FFFD): replacing them would corrupt the file"
    )]
    Undecodable { encoding: TextEncoding, line: usize },
    #[error("`{}` (U+{:04X}) does not exist in {}, the file's encoding", .0.character, u32::from(.0.character), .0.encoding)]
    Unencodable(UnencodableChar),
    #[error(
        "the new text contains U+FFFD, which stands for bytes of the file that are not valid {0}: writing it would lose them"
    )]
    Placeholder(TextEncoding),
    #[error(
        "the file has bytes that are not valid UTF-8, and its encoding is not recognised: only ASCII can be put in, and the text has `{0}` (U+{code:04X})", code = u32::from(*.0)
    )]
    Unrecognised(char),
}

/// A file with replacements made.
#[derive(Clone, Debug)]
pub struct SpliceResult {
    pub bytes: Vec<u8>,
    /// What was really replaced: byte ranges of the old content and the lengths of what took their place.
    pub changes: Vec<(Range<usize>, usize)>,
}

impl TextFile {
    pub fn new(bytes: Arc<Vec<u8>>) -> Result<TextFile, NotText> {
        let detected = DetectedEncoding::of(&bytes)?;
        Ok(TextFile { bytes, detected })
    }

    pub fn empty() -> TextFile {
        TextFile { bytes: Arc::default(), detected: DetectedEncoding::UTF8 }
    }

    pub fn bytes(&self) -> &Arc<Vec<u8>> {
        &self.bytes
    }

    pub fn detected(&self) -> DetectedEncoding {
        self.detected
    }

    pub fn encoding(&self) -> TextEncoding {
        self.detected.encoding
    }

    /// The content without its byte order mark, decoded; borrowed where it is valid UTF-8.
    pub fn text(&self) -> Cow<'_, str> {
        self.encoding().decode(self.part(self.detected.mark..self.bytes.len()))
    }

    pub fn part(&self, range: Range<usize>) -> &[u8] {
        self.bytes.get(range).unwrap_or_default()
    }

    /// How many lines: line ends, and one more if something follows the last.
    pub fn line_count(&self) -> usize {
        let ends = self.ends_before(self.bytes.len());
        ends + usize::from(!self.ends_with_newline() && self.bytes.len() > self.detected.mark)
    }

    pub fn ends_with_newline(&self) -> bool {
        self.bytes.ends_with(self.encoding().line_feed())
    }

    /// The (0-based) line that holds the byte at `offset`.
    pub fn line_of(&self, offset: usize) -> usize {
        self.ends_before(offset)
    }

    /// The lines that a range of bytes touches.
    pub fn lines_of(&self, span: &Range<usize>) -> Range<usize> {
        let first = self.line_of(span.start);
        let within = self.part(span.start..span.end.max(span.start + 1) - 1);
        first..first + line_feeds(within, self.encoding(), span.start) + 1
    }

    /// The bytes of each line, its end included, beginning with line `first`.
    pub fn lines(&self, first: usize) -> impl Iterator<Item = Range<usize>> {
        let mut at = self.start_of(first);
        std::iter::from_fn(move || {
            if at >= self.bytes.len() {
                return None;
            }
            let end = self.next_feed(at).unwrap_or(self.bytes.len());
            Some(std::mem::replace(&mut at, end)..end)
        })
    }

    /// The byte at which a line begins; the end of the file for lines past it.
    pub fn start_of(&self, line: usize) -> usize {
        let mut at = self.detected.mark;
        for _ in 0..line {
            match self.next_feed(at) {
                Some(next) => at = next,
                None => return self.bytes.len(),
            }
        }
        at
    }

    /// A line as text, without its end.
    pub fn line_text(&self, line: &Range<usize>) -> Cow<'_, str> {
        let encoding = self.encoding();
        let bytes = self.part(line.clone());
        let bytes = bytes
            .strip_suffix(encoding.line_feed())
            .map_or(bytes, |b| b.strip_suffix(encoding.carriage_return()).unwrap_or(b));
        encoding.decode(bytes)
    }

    /// Lines `range` as text, ends included.
    pub fn text_of_lines(&self, range: &Range<usize>) -> Cow<'_, str> {
        let start = self.start_of(range.start);
        let end = self.lines(range.start).take(range.len()).last().map_or(start, |l| l.end);
        self.encoding().decode(self.part(start..end))
    }

    /// Where every line begins, for many questions about lines.
    pub fn index(&self) -> LineIndex {
        LineIndex::of(&self.bytes, self.detected)
    }

    pub fn line_ends(&self) -> LineEndCounts {
        match self.encoding().unit() {
            1 => LineEndCounts::count(&self.bytes),
            _ => LineEndCounts::count(self.text().as_bytes()),
        }
    }

    /// Replaces the text at `spans`, which are occurrences of `old` that do not overlap, by `new`.
    pub fn splice(&self, spans: &[Range<usize>], old: &str, new: &str) -> Result<SpliceResult, EditError> {
        if self.detected.stray && new.matches('\u{FFFD}').count() > old.matches('\u{FFFD}').count() {
            return Err(EditError::Placeholder(self.encoding()));
        }
        let own_end = if new.contains("\r\n") { LineEnd::CrLf } else { LineEnd::Lf };
        let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
        let mut changes = Vec::new();
        let mut bytes = Vec::with_capacity(self.bytes.len() + new.len());
        let mut kept = 0;
        for span in spans {
            let (range, put) = self.one_change(span, &old, &new, own_end)?;
            self.refuse_guess(&self.encoding().decode(&put))?;
            bytes.extend_from_slice(self.part(kept..range.start));
            bytes.extend_from_slice(&put);
            kept = range.end;
            changes.push((range, put.len()));
        }
        bytes.extend_from_slice(self.part(kept..self.bytes.len()));
        Ok(SpliceResult { bytes, changes })
    }

    /// Refuses a text that takes the place of the whole file and has U+FFFD where the file has bytes that cannot be
    /// decoded.
    pub fn refuse_placeholders(&self, new: &str) -> Result<(), EditError> {
        const SHOWN: &str = "\u{FFFD}";
        let own = || match self.encoding().encode(SHOWN) {
            Ok(bytes) => memchr::memmem::find_iter(&self.bytes, &bytes).count(),
            Err(_) => 0,
        };
        match self.detected.stray && new.contains(SHOWN) && new.matches(SHOWN).count() > own() {
            true => Err(EditError::Placeholder(self.encoding())),
            false => Ok(()),
        }
    }

    /// Refuses to put a text into the file whose bytes would depend on an encoding that is not known.
    pub fn refuse_guess(&self, put: &str) -> Result<(), EditError> {
        if self.detected.stray && put.contains('\u{FFFD}') {
            return Err(EditError::Placeholder(self.encoding()));
        }
        match put.chars().find(|c| !c.is_ascii()).filter(|_| self.detected.unrecognised) {
            Some(character) => Err(EditError::Unrecognised(character)),
            None => Ok(()),
        }
    }

    /// The smallest run of lines in `span` that differs between `old` and `new`, and the bytes that take its place.
    fn one_change(
        &self,
        span: &Range<usize>,
        old: &str,
        new: &str,
        own_end: LineEnd,
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
        let usual = ends.last().copied().or_else(|| self.end_around(start, end)).unwrap_or(own_end);
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
    fn end_around(&self, start: usize, end: usize) -> Option<LineEnd> {
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
        feed_at(end..self.bytes.len(), false).or_else(|| feed_at(0..start, true)).map(line_end)
    }

    /// The position after the line end at `at`, if one is there.
    pub(crate) fn after_line_end(&self, at: usize) -> Option<usize> {
        let encoding = self.encoding();
        let rest = self.part(at..self.bytes.len());
        let after =
            rest.strip_prefix(encoding.carriage_return()).and_then(|r| r.strip_prefix(encoding.line_feed()));
        let after = after.or_else(|| rest.strip_prefix(encoding.line_feed()))?;
        Some(self.bytes.len() - after.len())
    }

    fn ends_before(&self, offset: usize) -> usize {
        line_feeds(self.part(0..offset.min(self.bytes.len())), self.encoding(), 0)
    }

    fn next_feed(&self, from: usize) -> Option<usize> {
        let encoding = self.encoding();
        let next = feeds(self.part(from..self.bytes.len()), encoding, from).next();
        next.map(|at| from + at + encoding.unit())
    }

    /// True when no character begins before `at` and ends after it.
    pub(crate) fn at_boundary(&self, at: usize) -> bool {
        let encoding = self.encoding();
        if !at.is_multiple_of(encoding.unit()) {
            return false;
        }
        if encoding.ambiguous_step(b"a") == 0 {
            return true;
        }
        let line = memchr::memrchr(b'\n', self.part(0..at)).map_or(0, |feed| feed + 1);
        let mut here = line;
        while here < at {
            here += encoding.ambiguous_step(self.part(here..self.bytes.len()));
        }
        here == at
    }
}

#[cfg(test)]
#[path = "text_file_tests.rs"]
mod tests;
