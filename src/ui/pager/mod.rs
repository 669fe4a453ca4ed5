//! One scrolling text for every screen that shows more than fits: a cursor, a viewport, wrapping, searching.
//!
//! The text comes in blocks, which are made when they come into view, and a line is wrapped when it does: a text of a
//! million lines opens at once. It knows no files and no conversations; what a key means beyond moving and searching
//! is the screen's business.

mod draw;
mod keys;
mod layout;
mod scroll;
mod search;

#[cfg(test)]
mod tests;

pub use draw::{bar, help_page};
pub use keys::{KEYS, PagerAction, PagerRequest};
pub use layout::PagerPosition;
pub use scroll::{PagerViewport, WrapMode};
pub use search::{PagerPromptResult, PagerSearch};

use ratatui::style::Style;
use ratatui::text::Line;
use std::rc::Rc;

/// What is scrolled: blocks of logical lines, every line safe for the terminal ([`crate::text::sanitize`]).
pub trait PagerSource {
    /// Blocks known so far; there may be more of them later.
    fn blocks(&self) -> usize;

    /// The lines of a block as they are shown now. Called often for what is on the screen: keep them.
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

    /// What stands there: at the first row of a line or at one that goes on.
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
