//! What is scrolled: a text in blocks of lines, and the places in it.

use ratatui::style::Style;
use ratatui::text::Line;
use std::rc::Rc;

/// A row of the text: the block, the line in it, the row of that line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PagerPosition {
    pub block: usize,
    pub line: usize,
    pub row: usize,
}

impl PagerPosition {
    pub fn of(block: usize, line: usize) -> PagerPosition {
        PagerPosition { block, line, row: 0 }
    }
}

/// What is scrolled: blocks of logical lines, every line safe for the terminal ([`placet_text::text::sanitize`]).
pub trait PagerSource {
    /// Blocks known so far; there may be more of them later.
    fn blocks(&self) -> usize;

    /// The lines of a block as they are shown now. Called often for what is on the screen: store them.
    fn lines(&self, block: usize) -> Rc<Vec<Line<'static>>>;

    /// The same as plain text with nothing folded away, for searching; colours and folds are not needed there.
    fn plain(&self, block: usize) -> Vec<String> {
        self.lines(block).iter().map(ToString::to_string).collect()
    }

    /// Shows what a search found in a block, where that is folded away.
    fn reveal(&self, _block: usize) {}

    /// Columns to the left of the text that are not part of it.
    fn gutter_width(&self) -> u16 {
        0
    }

    /// The gutter's text: at the first row of a line, or at a row that continues a line.
    fn gutter(&self, _at: PagerPosition, _under_cursor: RowFocus) -> Line<'static> {
        Line::default()
    }

    /// How the whole row is underlaid, if at all.
    fn row_style(&self, _block: usize) -> Style {
        Style::default()
    }
}

/// Whether a row is the one that keys act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowFocus {
    Here,
    Elsewhere,
}
