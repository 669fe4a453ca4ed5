//! The last rows that the program wrote on the main screen. The screen is scrolled away before the question, and a person who
//! decides about the changes wants to see how the program ended.

use super::screen_model::ScreenModel;
use crate::sandbox::TerminalSize;
use crate::text::placet_mark::MarkEscaper;
use crate::text::visible;
use crate::ui::term;

/// How much of the output is read for them: several pictures of a program that draws its rows again and again.
const READ: usize = 32 << 10;

/// The most rows. A small window has room for fewer above a question.
const MOST: usize = 5;
const PART_OF_WINDOW: usize = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct LastOutput {
    bytes: Vec<u8>,
    /// What was before `bytes` is gone: they may begin inside a sequence.
    is_cut: bool,
}

impl LastOutput {
    pub(super) fn clear(&mut self) {
        *self = LastOutput::default();
    }

    pub(super) fn push(&mut self, output: &[u8]) {
        self.bytes.extend_from_slice(output.get(output.len().saturating_sub(READ)..).unwrap_or_default());
        self.is_cut |= output.len() > READ;
        // Not at each call: a program may write byte by byte.
        if self.bytes.len() > 2 * READ {
            self.bytes.drain(..self.bytes.len() - READ);
            self.is_cut = true;
        }
    }

    /// Writes them to the terminal as text: no sequence acts, and no row begins like one of placet's own.
    pub(super) fn show(&self, size: TerminalSize) {
        let rows = self.rows(size);
        if !rows.is_empty() && !term::is_dumb() {
            let text = visible::block(&rows.join("\n")).into_owned();
            let text = MarkEscaper::new(usize::from(size.columns)).feed(&text);
            term::write_all(format!("{text}\n").as_bytes());
        }
    }

    fn rows(&self, size: TerminalSize) -> Vec<String> {
        let first = if self.is_cut { memchr::memchr(b'\n', &self.bytes).map_or(0, |at| at + 1) } else { 0 };
        let mut model = ScreenModel::start(size.rows, size.columns);
        // From the last row on, where most programs begin: rows above it are reached.
        model.feed("\n".repeat(usize::from(size.rows)).as_bytes());
        model.feed(self.bytes.get(first..).unwrap_or_default());
        let mut rows = model.rows().unwrap_or_default();
        let is_blank = |row: &String| row.trim().is_empty();
        let end = rows.iter().rposition(|row| !is_blank(row)).map_or(0, |at| at + 1);
        rows.truncate(end);
        let most = MOST.min(usize::from(size.rows) / PART_OF_WINDOW);
        rows.drain(..end.saturating_sub(most));
        let blank = rows.iter().take_while(|row| is_blank(row)).count();
        rows.drain(..blank);
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(pieces: &[&str]) -> Vec<String> {
        let mut last = LastOutput::default();
        pieces.iter().for_each(|piece| last.push(piece.as_bytes()));
        last.rows(TerminalSize { rows: 24, columns: 20, ..TerminalSize::default() })
    }

    #[test]
    fn the_last_rows_are_those_that_the_terminal_would_show() {
        for (pieces, shown) in [
            (&[""][..], &[][..]),
            (&["\r\n\r\n"], &[]),
            (&["one\r\n"], &["one"]),
            (&["1\r\n2\r\n3\r\n4\r\n5\r\n6\r\n7"], &["3", "4", "5", "6", "7"]),
            (&["1\r\n\r\n2\r\n3\r\n\r\n4\r\n\r\n\r\n"], &["2", "3", "", "4"]),
            (&["\x1b[31mred\x1b[0m\r\n\x1b]0;title\x07text"], &["red", "text"]),
            // Drawn again, in pieces that cut a sequence.
            (&["old\r\nold\x1b[", "1A\r\x1b[Jnew\r\nnew two"], &["new", "new two"]),
            (&["one\r\n\x1b[2Atwo"], &["two", "one"]),
            (&["a line that is longer than the window\r\n"], &["a line that is longe", "r than the window"]),
        ] {
            assert_eq!(rows(pieces), shown, "{pieces:?}");
        }
        let long: String = (0..20_000).map(|n| format!("{n:05}\r\n")).collect();
        let all = ["19995", "19996", "19997", "19998", "19999"];
        assert_eq!(rows(&[&long]), all);
        let lines: Vec<&str> = long.split_inclusive('\n').collect();
        assert_eq!(rows(&lines), all);
    }
}
