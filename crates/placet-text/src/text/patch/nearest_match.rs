//! The place in a file that is most similar to a hunk, and the differences there.

use super::line::bare;
use super::target::{LineEquality, PatchTarget};
use crate::text::look_alike::{code_points, looks_the_same};
use std::fmt;

/// The most lines shown, and the most characters of one line.
const MOST_ROWS: usize = 24;
const WIDE: usize = 200;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NearestMatch {
    /// The line, from 1, at which the rows begin.
    pub line: usize,
    pub differing: usize,
    pub rows: Vec<MismatchRow>,
    /// Rows that are not shown.
    pub left_out: usize,
}

/// A line of the file, and the line that the patch expects, if it differs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MismatchRow {
    pub number: usize,
    pub there: Option<String>,
    pub expected: Option<String>,
}

impl NearestMatch {
    pub(super) fn of(target: &PatchTarget<'_>, at: usize, expected: &[&[u8]]) -> NearestMatch {
        let differs = |row: &(usize, &&[u8])| {
            target
                .lines
                .get(at + row.0)
                .is_none_or(|there| LineEquality::Body.key(there) != LineEquality::Body.key(row.1))
        };
        let all = || expected.iter().enumerate();
        let differing = all().filter(differs).count();
        // Long hunks are shown from slightly above the first difference on.
        let first = all().position(|row| differs(&row)).unwrap_or(0);
        let skip = if expected.len() > MOST_ROWS { first.saturating_sub(3) } else { 0 };
        let rows = all().skip(skip).take(MOST_ROWS).map(|(n, wanted)| {
            let there = target.lines.get(at + n);
            let expected = differs(&(n, wanted)).then(|| text(wanted));
            MismatchRow { number: at + n + 1, there: there.map(|l| text(l)), expected }
        });
        let rows: Vec<MismatchRow> = rows.collect();
        NearestMatch { line: at + skip + 1, differing, left_out: expected.len() - rows.len(), rows }
    }

    /// The lines of the file that are shown, from 0.
    pub fn shown(&self) -> std::ops::Range<usize> {
        let there = self.rows.iter().take_while(|row| row.there.is_some()).count();
        self.line - 1..self.line - 1 + there
    }
}

fn text(line: &[u8]) -> String {
    let text = String::from_utf8_lossy(bare(line));
    match text.char_indices().nth(WIDE) {
        Some((at, _)) => format!("{}...", text.get(..at).unwrap_or_default()),
        None => text.into_owned(),
    }
}

/// Makes tabs and spaces visible, for two lines that differ only in them.
fn visible(text: &str) -> String {
    text.replace('\t', "→").replace(' ', "·")
}

impl fmt::Display for NearestMatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.rows.len() + self.left_out;
        if self.differing == 0 {
            return write!(f, ": its lines are at line {}, not where the header puts them", self.line);
        }
        let differ = if self.differing == 1 { "differs" } else { "differ" };
        writeln!(f, ": {} of its {total} lines {differ} at the nearest place", self.differing)?;
        let width = self.rows.last().map_or(1, |row| row.number.to_string().len()).max(5);
        for row in &self.rows {
            match (&row.there, &row.expected) {
                (Some(there), None) => writeln!(f, "  {:>width$}│{there}", row.number)?,
                (Some(there), Some(expected)) => {
                    let blanks = |s: &str| s.split_whitespace().map(String::from).collect::<Vec<_>>();
                    let same = blanks(there) == blanks(expected);
                    let is_alike = !same && looks_the_same(there, expected);
                    let shown = |s: &str| match (same, is_alike) {
                        (true, _) => visible(s),
                        (false, true) => code_points(s),
                        (false, false) => s.to_string(),
                    };
                    writeln!(f, "! {:>width$}│{}", row.number, shown(there))?;
                    writeln!(f, "  {:>width$}│{}", "patch", shown(expected))?;
                }
                (None, expected) => {
                    let expected = expected.as_deref().unwrap_or_default();
                    writeln!(
                        f,
                        "! {:>width$}│(the file ends)\n  {:>width$}│{expected}",
                        row.number, "patch"
                    )?;
                }
            }
        }
        match self.left_out {
            0 => write!(f, "`!`: the file's line, and below it what the patch expects"),
            n => write!(f, "[{n} more lines] `!`: the file's line, and below it what the patch expects"),
        }
    }
}
