//! The lines of a patch, one after the other, without a Markdown fence around them.

use super::error::{MOST_LINES, PatchError};
use super::line::bare;

/// Lines with their ends, and the next one's index.
#[derive(Debug)]
pub(super) struct PatchCursor<'a> {
    lines: Vec<&'a [u8]>,
    /// The line number in the input (from 1) of each line: fence lines are removed.
    numbers: Vec<u32>,
    pub(super) at: usize,
}

impl<'a> PatchCursor<'a> {
    pub(super) fn new(input: &'a [u8]) -> Result<PatchCursor<'a>, PatchError> {
        let mut lines: Vec<&[u8]> = Vec::new();
        for line in input.split_inclusive(|b| *b == b'\n') {
            if lines.len() == MOST_LINES {
                return Err(PatchError::TooManyLines);
            }
            lines.push(line);
        }
        let (lines, numbers) = unfenced(lines);
        Ok(PatchCursor { lines, numbers, at: 0 })
    }

    /// The line `ahead` of the next one, with its end.
    pub(super) fn raw(&self, ahead: usize) -> Option<&'a [u8]> {
        self.lines.get(self.at + ahead).copied()
    }

    /// The same line without its end.
    pub(super) fn head(&self, ahead: usize) -> Option<&'a [u8]> {
        self.raw(ahead).map(bare)
    }

    pub(super) fn starts(&self, ahead: usize, with: &[u8]) -> bool {
        self.raw(ahead).is_some_and(|line| line.starts_with(with))
    }

    pub(super) fn done(&self) -> bool {
        self.at >= self.lines.len()
    }

    /// The next line's number in the input, from 1.
    pub(super) fn number(&self) -> usize {
        let number = self.numbers.get(self.at).or(self.numbers.last());
        number.map_or(1, |n| usize::try_from(*n).unwrap_or(usize::MAX))
    }

    pub(super) fn left(&self) -> usize {
        self.lines.len().saturating_sub(self.at)
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at + 1).unwrap_or(u32::MAX)
}

type NumberedLines<'a> = (Vec<&'a [u8]>, Vec<u32>);

/// The lines between fences, if a fence opens before the patch does; otherwise all lines.
fn unfenced(lines: Vec<&[u8]>) -> NumberedLines<'_> {
    let begins = |line: &&[u8]| {
        [&b"diff "[..], b"--- ", b"+++ ", b"@@", b"*** "].iter().any(|mark| line.starts_with(mark))
    };
    let first = lines.iter().position(|line| fence(line).is_some() || begins(line));
    let fenced = first.and_then(|at| lines.get(at)).is_some_and(|line| fence(line).is_some());
    if !fenced {
        let numbers = (0..lines.len()).map(number).collect();
        return (lines, numbers);
    }
    let (out, numbers) = inside_fences(&lines);
    match out.iter().any(begins) {
        true => (out, numbers),
        // A fence around something else.
        false => {
            let numbers = (0..lines.len()).map(number).collect();
            (lines, numbers)
        }
    }
}

fn inside_fences<'a>(lines: &[&'a [u8]]) -> NumberedLines<'a> {
    let mut open: Option<MarkdownFence> = None;
    let (mut out, mut numbers) = (Vec::new(), Vec::new());
    for (at, line) in lines.iter().enumerate() {
        match (&open, fence(line)) {
            (Some(of), Some(this)) if this.mark == of.mark && this.length >= of.length && this.plain => {
                open = None
            }
            (None, this) => open = this,
            (Some(of), _) => {
                out.push(dedented(line, of.indent));
                numbers.push(number(at));
            }
        }
    }
    (out, numbers)
}

struct MarkdownFence {
    mark: u8,
    length: usize,
    indent: usize,
    /// Only the fence marks: the line can close the fence.
    plain: bool,
}

fn fence(line: &[u8]) -> Option<MarkdownFence> {
    let line = bare(line);
    let indent = line.iter().take_while(|b| **b == b' ').count();
    let rest = line.get(indent..)?;
    let mark = *rest.first().filter(|b| matches!(b, b'`' | b'~'))?;
    let length = rest.iter().take_while(|b| **b == mark).count();
    let plain = rest.get(length..)?.iter().all(|b| *b == b' ');
    (length >= 3 && indent <= 8).then_some(MarkdownFence { mark, length, indent, plain })
}

/// The line without up to `indent` leading spaces: the indentation of the fence itself.
fn dedented(line: &[u8], indent: usize) -> &[u8] {
    let blanks = line.iter().take(indent).take_while(|b| **b == b' ').count();
    line.get(blanks..).unwrap_or(line)
}
