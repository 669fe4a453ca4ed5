//! Where lines begin, in every encoding.

use placet_text::text::{DetectedEncoding, TextEncoding};
use std::ops::Range;

/// The beginnings of a file's lines.
#[derive(Clone, Debug)]
pub struct LineIndex {
    /// Has one more entry than there are lines when the last line has its end: the position after that end.
    starts: Vec<usize>,
    end: usize,
}

impl LineIndex {
    pub(crate) fn of(bytes: &[u8], detected: DetectedEncoding) -> LineIndex {
        let unit = detected.encoding.unit();
        let after = feeds(bytes, detected.encoding, 0).map(|at| at + unit);
        LineIndex { starts: std::iter::once(detected.mark).chain(after).collect(), end: bytes.len() }
    }

    /// How many lines there are.
    pub fn len(&self) -> usize {
        let open = self.starts.last().is_some_and(|start| *start < self.end);
        self.starts.len() - usize::from(!open)
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The line that holds the byte at `offset`. The end of a file is in the line after its last line end, be
    /// there one or not.
    pub fn line_of(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }

    /// The bytes of some lines.
    pub fn bytes_of(&self, lines: &Range<usize>) -> Range<usize> {
        let at = |line: usize| self.starts.get(line).copied().unwrap_or(self.end);
        at(lines.start)..at(lines.end).max(at(lines.start))
    }

    /// The lines that a range of bytes touches.
    pub fn lines_of(&self, span: &Range<usize>) -> Range<usize> {
        let last = self.line_of(span.end.max(span.start + 1) - 1);
        self.line_of(span.start)..last + 1
    }
}

/// Positions of line feeds in a part of a file that begins at byte `base` of it.
pub(crate) fn feeds(
    bytes: &[u8],
    encoding: TextEncoding,
    base: usize,
) -> impl DoubleEndedIterator<Item = usize> {
    let (unit, feed) = (encoding.unit(), encoding.line_feed());
    // In UTF-16BE the byte 0x0A is the second one of its character.
    let shift = if encoding == TextEncoding::Utf16Be { 1 } else { 0 };
    memchr::memchr_iter(b'\n', bytes).filter_map(move |at| {
        let at = at.checked_sub(shift)?;
        let whole = unit == 1 || (base + at).is_multiple_of(unit) && bytes.get(at..at + unit) == Some(feed);
        whole.then_some(at)
    })
}

pub(crate) fn line_feeds(bytes: &[u8], encoding: TextEncoding, base: usize) -> usize {
    match encoding.unit() {
        1 => memchr::memchr_iter(b'\n', bytes).count(),
        _ => feeds(bytes, encoding, base).count(),
    }
}
