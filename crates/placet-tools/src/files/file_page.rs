//! Lines with numbers: what read_file shows.
//!
//! `│` separates the number from the text. It is neither a tab nor a space, and so a reader cannot take it for a part
//! of the line's own indentation. The text after it is the exact line. A line too long for one row is split into rows
//! with its number and a count (`12`, `12.2`, `12.3`); nothing of the line is lost.

use placet_workspace::TextFile;
use std::borrow::Cow;
use std::fmt::Write;
use std::ops::Range;

/// The longest row, in characters.
pub(crate) const ROW: usize = 2000;
pub(crate) const GUTTER: char = '│';

/// Some lines of a file, rendered.
#[derive(Debug, Default)]
pub(crate) struct FilePage {
    pub(crate) text: String,
    /// The lines on the page, counted from the beginning of the file.
    pub(crate) lines: Range<usize>,
    /// How many lines were split into several rows.
    pub(crate) split: usize,
}

impl FilePage {
    /// Renders lines of `file` from its line `first` on: `limit` lines or as many as fit into `budget` bytes, but at
    /// least one. The file may be a window; `number` is the line of the whole file with which the window begins.
    pub(crate) fn render(
        file: &TextFile,
        first: usize,
        limit: usize,
        number: usize,
        budget: usize,
    ) -> FilePage {
        let lines: Vec<Range<usize>> = file.lines(first).take(limit).collect();
        let width = (number + first + lines.len()).to_string().len();
        let start = number + first;
        let mut page = FilePage { lines: start..start, ..FilePage::default() };
        for line in &lines {
            let before = page.text.len();
            let split = page.row(file.line_text(line), width);
            if page.text.len() > budget && !page.lines.is_empty() {
                page.text.truncate(before);
                break;
            }
            page.split += usize::from(split);
            page.lines.end += 1;
        }
        page
    }

    /// Adds the next line. True if the line took several rows.
    fn row(&mut self, line: Cow<'_, str>, width: usize) -> bool {
        let number = self.lines.end + 1;
        rows(&mut self.text, number, &line, width)
    }
}

/// Writes one line with its number.
pub(crate) fn rows(out: &mut String, number: usize, line: &str, width: usize) -> bool {
    let mut rest = line;
    let mut piece = 1;
    loop {
        let cut = rest.char_indices().nth(ROW).map_or(rest.len(), |(at, _)| at);
        let (row, after) = rest.split_at_checked(cut).unwrap_or((rest, ""));
        let label = if piece == 1 { number.to_string() } else { format!("{number}.{piece}") };
        let _ = writeln!(out, "{label:>width$}{GUTTER}{row}");
        if after.is_empty() {
            return piece > 1;
        }
        rest = after;
        piece += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_follows_the_gutter_is_the_line() {
        let file = TextFile::new(Arc::new(b"\ta\r\n  b \n\n\rc".to_vec())).unwrap();
        let page = FilePage::render(&file, 0, 10, 0, 1000);
        assert_eq!(page.text, "1│\ta\n2│  b \n3│\n4│\rc\n");
        assert_eq!(FilePage::render(&file, 1, 2, 98, 1000).text, "100│  b \n101│\n");
    }

    #[test]
    fn a_long_line_is_split_and_nothing_is_lost() {
        let line = "é".repeat(ROW * 2 + 5);
        let file = TextFile::new(Arc::new(line.clone().into_bytes())).unwrap();
        let page = FilePage::render(&file, 0, 1, 0, 10);
        let rows: Vec<(&str, &str)> = page.text.lines().filter_map(|r| r.split_once(GUTTER)).collect();
        assert_eq!(rows.iter().map(|r| r.0).collect::<Vec<_>>(), ["1", "1.2", "1.3"]);
        assert_eq!(rows.iter().map(|r| r.1).collect::<String>(), line);
    }
}
