//! Lines with numbers: what read_file shows.
//!
//! `│` separates the number from the text. It is neither a tab nor a space, and so a reader cannot take it for a part
//! of the line's own indentation. The text after it is the exact line. A line too long for one row is split into rows
//! with its number and a count (`12`, `12.2`, `12.3`); nothing of the line is lost. A line too long for a page is shown in
//! parts, from a column on.

use placet_workspace::TextFile;
use std::fmt::Write;
use std::ops::Range;

/// The longest row, in characters.
pub(crate) const ROW: usize = 2000;
pub(crate) const GUTTER: char = '│';

/// Some lines of a file, rendered.
#[derive(Debug, Default)]
pub(crate) struct FilePage {
    pub(crate) text: String,
    /// The lines on the page, counted from the beginning of the file; a line that is there in part is one of them.
    pub(crate) lines: Range<usize>,
    /// How many lines were split into several rows.
    pub(crate) split: usize,
    /// The part of the first line, if the page does not have all of it.
    pub(crate) part: Option<LinePart>,
}

/// A part of a line that is too long for a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LinePart {
    /// In characters of the line.
    pub(crate) columns: Range<usize>,
    /// How many characters the line has.
    pub(crate) of: usize,
    /// The same part in bytes of the file, with the line end if the part reaches it. Absent where the bytes of the line
    /// are not those that its encoding has for its text.
    pub(crate) bytes: Option<Range<usize>>,
}

impl LinePart {
    pub(crate) fn is_last(&self) -> bool {
        self.columns.end == self.of
    }
}

impl FilePage {
    /// Renders lines of `file` from its line `first` on, without the first `column` characters of it: `limit` lines or as
    /// many as fit into `budget` bytes, but at least one row. The file may be a window; `number` is the line of the whole
    /// file with which the window begins.
    pub(crate) fn render(
        file: &TextFile,
        (first, column): (usize, usize),
        limit: usize,
        number: usize,
        budget: usize,
    ) -> FilePage {
        let lines: Vec<Range<usize>> = file.lines(first).take(limit).collect();
        let width = (number + first + lines.len()).to_string().len();
        let start = number + first;
        let mut page = FilePage { lines: start..start, ..FilePage::default() };
        for line in &lines {
            let (before, text) = (page.text.len(), file.line_text(line));
            let is_first = page.lines.is_empty();
            let (column, room) = if is_first { (column, budget) } else { (0, usize::MAX) };
            let columns = rows_from(&mut page.text, page.lines.end + 1, (&*text, column), (width, room));
            if page.text.len() > budget && !is_first {
                page.text.truncate(before);
                break;
            }
            page.split += usize::from(columns.start / ROW < columns.end.saturating_sub(1) / ROW);
            page.lines.end += 1;
            let of = || text.chars().count();
            if is_first && (columns.start > 0 || columns.end < of()) {
                page.part =
                    Some(LinePart { bytes: bytes_of(file, line, &text, &columns), of: of(), columns });
                if page.part.as_ref().is_some_and(|part| !part.is_last()) {
                    break;
                }
            }
        }
        page
    }

    /// The lines of which the page has all.
    pub(crate) fn whole_lines(&self) -> Range<usize> {
        self.lines.start + usize::from(self.part.is_some())..self.lines.end
    }
}

/// The bytes of some characters of a line.
fn bytes_of(
    file: &TextFile,
    line: &Range<usize>,
    text: &str,
    columns: &Range<usize>,
) -> Option<Range<usize>> {
    let at = |column: usize| {
        let head = text.char_indices().nth(column).map_or(text, |(at, _)| text.get(..at).unwrap_or(text));
        let bytes = file.encoding().encode(head).ok()?;
        file.part(line.clone()).starts_with(&bytes).then(|| line.start + bytes.len())
    };
    let end = at(columns.end)?;
    let is_end = text.chars().nth(columns.end).is_none();
    Some(at(columns.start)?..if is_end { line.end } else { end })
}

/// Writes one line with its number. True if the line took several rows.
pub(crate) fn rows(out: &mut String, number: usize, line: &str, width: usize) -> bool {
    rows_from(out, number, (line, 0), (width, usize::MAX)).end > ROW
}

/// Writes one line from a column on, in rows that end at multiples of [`ROW`]: as many as fit into `room` bytes, but at
/// least one. Returns the columns that were written.
fn rows_from(
    out: &mut String,
    number: usize,
    (line, column): (&str, usize),
    (width, room): (usize, usize),
) -> Range<usize> {
    let mut rest = line.char_indices().nth(column).map_or("", |(at, _)| line.get(at..).unwrap_or(""));
    let mut at = if rest.is_empty() { line.chars().count() } else { column };
    let start = at;
    loop {
        let most = ROW - at % ROW;
        let cut = rest.char_indices().nth(most).map_or(rest.len(), |(at, _)| at);
        let (row, after) = rest.split_at_checked(cut).unwrap_or((rest, ""));
        let before = out.len();
        let label = if at < ROW { number.to_string() } else { format!("{number}.{}", at / ROW + 1) };
        let _ = writeln!(out, "{label:>width$}{GUTTER}{row}");
        if out.len() > room && at > start {
            out.truncate(before);
            return start..at;
        }
        at += row.chars().count();
        if after.is_empty() {
            return start..at;
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use placet_text::text::{RangeSet, TextEncoding};
    use std::sync::Arc;

    #[test]
    fn what_follows_the_gutter_is_the_line() {
        let file = TextFile::new(Arc::new(b"\ta\r\n  b \n\n\rc".to_vec())).unwrap();
        let page = FilePage::render(&file, (0, 0), 10, 0, 1000);
        assert_eq!(page.text, "1│\ta\n2│  b \n3│\n4│\rc\n");
        assert_eq!(FilePage::render(&file, (1, 0), 2, 98, 1000).text, "100│  b \n101│\n");
    }

    /// Pages of any room, one after another, are the line, and their parts are its bytes.
    #[test]
    fn the_parts_of_a_long_line_join_to_the_line() {
        for (encoding, line) in [
            (TextEncoding::Utf8, "é".repeat(ROW * 2 + 5)),
            (TextEncoding::Utf8, "a".repeat(ROW)),
            (TextEncoding::Windows1252, "Käse ".repeat(ROW)),
        ] {
            let text = format!("first\n{line}\nlast");
            let file = TextFile::new(Arc::new(encoding.encode(&text).unwrap().into_owned())).unwrap();
            assert_eq!(file.encoding(), encoding);
            for room in [10, ROW * 3, ROW * 5 + 100] {
                let (mut column, mut all, mut bytes) = (0, String::new(), RangeSet::new());
                loop {
                    let page = FilePage::render(&file, (1, column), 1, 0, room);
                    let rows = page.text.lines().filter_map(|row| row.split_once(GUTTER));
                    rows.for_each(|(_, row)| all.push_str(row));
                    let Some(part) = page.part else { break };
                    bytes.insert(part.bytes.clone().unwrap());
                    assert_eq!(part.columns.start, column);
                    column = part.columns.end;
                    if part.is_last() {
                        break;
                    }
                }
                assert_eq!(all, line, "{room}");
                let whole = file.lines(1).next().unwrap();
                assert!(bytes.is_empty() || bytes == RangeSet::of(whole), "{room}");
            }
        }
    }
}
