//! A text file as its bytes: its lines, and what may be put into it.
//!
//! placet never decodes a whole file in order to change a part of it: see `replacement.rs`.

use super::line_index::{LineIndex, feeds, line_feeds};
use placet_text::text::{DetectedEncoding, LineEndCounts, NotText, TextEncoding, UnencodableChar};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use thiserror::Error;

#[derive(Clone, Debug)]
pub struct TextFile {
    bytes: Arc<Vec<u8>>,
    pub(in crate::files) detected: DetectedEncoding,
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

impl TextFile {
    pub fn new(bytes: Arc<Vec<u8>>) -> Result<TextFile, NotText> {
        let detected = DetectedEncoding::of(&bytes)?;
        Ok(TextFile { bytes, detected })
    }

    /// Any content, also one that is not text, for replacements of bytes.
    pub fn of_bytes(bytes: Arc<Vec<u8>>) -> TextFile {
        TextFile::new(bytes.clone()).unwrap_or(TextFile { bytes, detected: DetectedEncoding::UTF8 })
    }

    pub fn of_text(text: &str) -> TextFile {
        TextFile { bytes: Arc::new(text.as_bytes().to_vec()), detected: DetectedEncoding::UTF8 }
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
