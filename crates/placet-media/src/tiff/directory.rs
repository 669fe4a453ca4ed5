//! The first directory of a TIFF: its fields as numbers, and where they are in the file.
//!
//! The decoder has a reader of its own. This reader exists because the decoder stops at the first field that it does
//! not accept, and placet must know the requirements of every file.

use std::collections::HashSet;

/// The most values of one field that are read: a strip for each row of the tallest picture, for four channels.
const MOST_VALUES: usize = 1 << 18;
/// The most directories that are counted.
const MOST_PAGES: usize = 10_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct TiffField {
    tag: u16,
    kind: u16,
    count: usize,
    /// Where the values begin in the file.
    pub(super) at: usize,
}

impl TiffField {
    /// Bytes of one value.
    pub(super) fn width(self) -> usize {
        match self.kind {
            3 | 8 => 2,
            4 | 9 | 11 | 13 => 4,
            5 | 10 | 12 | 16..=18 => 8,
            _ => 1,
        }
    }
}

pub(super) struct TiffDirectory<'a> {
    reader: TiffReader<'a>,
    fields: Vec<TiffField>,
    first: u64,
}

/// The file with its byte order and the width of its offsets.
#[derive(Clone, Copy)]
struct TiffReader<'a> {
    bytes: &'a [u8],
    little: bool,
    big_tiff: bool,
}

impl<'a> TiffDirectory<'a> {
    /// `None` if the directory is incomplete.
    pub(super) fn read(bytes: &'a [u8]) -> Option<TiffDirectory<'a>> {
        let little = bytes.starts_with(b"II");
        let big_tiff = matches!(bytes, [_, _, 43, 0, ..] | [_, _, 0, 43, ..]);
        let reader = TiffReader { bytes, little, big_tiff };
        let first = reader.number(if big_tiff { 8 } else { 4 }, reader.offset_width())?;
        let (at, count) = reader.entries(first)?;
        let fields =
            (0..count).map(|n| reader.field(at + n * reader.entry_width())).collect::<Option<_>>()?;
        Some(TiffDirectory { reader, fields, first })
    }

    pub(super) fn field(&self, tag: u16) -> Option<TiffField> {
        self.fields.iter().find(|field| field.tag == tag).copied()
    }

    /// All values of a field; `None` if it is absent or not in the file.
    pub(super) fn numbers(&self, tag: u16) -> Option<Vec<u64>> {
        let field = self.field(tag)?;
        let width = field.width();
        let value = |n: usize| self.reader.number(field.at.checked_add(n * width)?, width);
        (0..field.count.min(MOST_VALUES)).map(value).collect()
    }

    pub(super) fn number(&self, tag: u16) -> Option<u64> {
        self.numbers(tag)?.first().copied()
    }

    /// Values of a field of fractions or floating-point numbers.
    pub(super) fn fractions(&self, tag: u16) -> Option<Vec<f64>> {
        let field = self.field(tag)?;
        let value = |n: usize| match field.kind {
            5 => {
                let part = |at: usize| self.reader.number(field.at.checked_add(at)?, 4).map(|n| n as f64);
                Some(part(n * 8)? / part(n * 8 + 4)?)
            }
            _ => None,
        };
        (0..field.count.min(16)).map(value).collect()
    }

    /// `value` encoded as the bytes that replace the field's only value in the file.
    pub(super) fn replacement(&self, tag: u16, value: u32) -> Option<(usize, Vec<u8>)> {
        let field = self.field(tag).filter(|field| field.count == 1)?;
        let wide = u64::from(value).to_le_bytes();
        let mut bytes = wide.get(..field.width())?.to_vec();
        if !self.reader.little {
            bytes.reverse();
        }
        Some((field.at, bytes))
    }

    /// The position of the offset of the next directory, and bytes that mark the end of the list.
    pub(super) fn last(&self) -> Option<(usize, Vec<u8>)> {
        let (at, count) = self.reader.entries(self.first)?;
        Some((at + count * self.reader.entry_width(), vec![0; self.reader.offset_width()]))
    }

    /// How many pictures the file has.
    pub(super) fn pages(&self) -> usize {
        let (mut seen, mut at) = (HashSet::new(), self.first);
        while at != 0 && seen.len() < MOST_PAGES && seen.insert(at) {
            let Some((entries, count)) = self.reader.entries(at) else { break };
            let next = entries + count * self.reader.entry_width();
            at = self.reader.number(next, self.reader.offset_width()).unwrap_or(0);
        }
        seen.len()
    }
}

impl TiffReader<'_> {
    fn offset_width(self) -> usize {
        if self.big_tiff { 8 } else { 4 }
    }

    fn entry_width(self) -> usize {
        if self.big_tiff { 20 } else { 12 }
    }

    /// A number of up to eight bytes.
    fn number(self, at: usize, width: usize) -> Option<u64> {
        let bytes = self.bytes.get(at..at.checked_add(width)?)?;
        let add = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if self.little { bytes.iter().rev().fold(0, add) } else { bytes.iter().fold(0, add) })
    }

    /// Where the entries of a directory begin, and how many there are.
    fn entries(self, directory: u64) -> Option<(usize, usize)> {
        let at = usize::try_from(directory).ok()?;
        let width = if self.big_tiff { 8 } else { 2 };
        let count = usize::try_from(self.number(at, width)?).ok().filter(|count| *count <= 4096)?;
        Some((at.checked_add(width)?, count))
    }

    fn field(self, at: usize) -> Option<TiffField> {
        let tag = u16::try_from(self.number(at, 2)?).ok()?;
        let kind = u16::try_from(self.number(at + 2, 2)?).ok()?;
        let count = usize::try_from(self.number(at + 4, self.offset_width())?).ok()?;
        let value = at + 4 + self.offset_width();
        let mut field = TiffField { tag, kind, count, at: value };
        // Values that do not fit into the entry are elsewhere.
        if count.checked_mul(field.width()).is_none_or(|bytes| bytes > self.offset_width()) {
            field.at = usize::try_from(self.number(value, self.offset_width())?).ok()?;
        }
        Some(field)
    }
}
