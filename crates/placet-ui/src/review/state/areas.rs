//! Where the files and the lines are on a screen.

use super::overlay::ReviewOverlay;
use crate::review::picture::cells::{cells, wrap_words};
use crate::review::state::{Review, ReviewFocus};
use placet_text::text::width;
use ratatui::style::Style;

/// Columns that the main keys need, with what separates a message from them.
const MAIN_KEYS: usize = 42;
/// The same for the keys that decide, where a row has no room for more.
const FIRST_KEYS: usize = 24;
const MOST_MESSAGE_ROWS: usize = 3;
/// A smaller screen has room for the keys only.
const LEAST_ROWS: u16 = 8;

/// Where things are on a screen of this size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReviewAreas {
    /// Columns of the files, their border included; 0 when the files are not shown.
    pub tree: usize,
    pub columns: usize,
    /// Rows of the body.
    pub rows: usize,
}

impl Review {
    pub fn places(&self) -> ReviewAreas {
        let (columns, rows) = (self.window.columns(), usize::from(self.window.size.1));
        let rows = rows.saturating_sub(1 + self.foot_rows()).max(1);
        let tree = match self.shows_tree() {
            false => 0,
            // Where the lines would have no room, the files have all of it.
            true if columns < 60 => {
                if self.look.focus == ReviewFocus::Tree {
                    columns
                } else {
                    0
                }
            }
            true => {
                let usual = (columns / 4).clamp(22, 40);
                self.tree.wide.clamp(usual, usual.max(columns / 3))
            }
        };
        ReviewAreas { tree, columns: columns.saturating_sub(tree).max(1), rows }
    }

    /// Rows at the bottom: the keys are always there, and what is longer than the rest of their row is above them.
    fn foot_rows(&self) -> usize {
        1 + self.advice_rows().len() + self.message_rows().len()
    }

    /// The message as rows above the keys; none where it has room next to them.
    pub(in crate::review) fn message_rows(&self) -> Vec<String> {
        let Some(message) = self.footer.message.as_deref().filter(|message| !self.is_beside_keys(message))
        else {
            return Vec::new();
        };
        self.rows_above_keys(message, MOST_MESSAGE_ROWS)
    }

    pub(in crate::review) fn advice_rows(&self) -> Vec<String> {
        // All of it, also in a narrow terminal: it says what to do next.
        let most = usize::from(self.window.size.1 / 6).clamp(2, 4);
        self.footer.advice.as_deref().map_or_else(Vec::new, |advice| self.rows_above_keys(advice, most))
    }

    fn is_beside_keys(&self, message: &str) -> bool {
        // Beside the answers of the summary, it would hide what Enter does.
        if matches!(self.overlay, ReviewOverlay::Summary { .. }) {
            return false;
        }
        let columns = self.window.columns();
        let keys = if columns < 60 { FIRST_KEYS } else { MAIN_KEYS };
        width::of(message) + keys <= columns
    }

    fn rows_above_keys(&self, text: &str, most: usize) -> Vec<String> {
        let is_typing = matches!(self.overlay, ReviewOverlay::Typing { .. });
        if is_typing || self.window.size.1 < LEAST_ROWS {
            return Vec::new();
        }
        let columns = self.window.columns();
        let cells = cells(text, |_| Style::default());
        let rows = wrap_words(&cells, columns.max(2));
        let is_cut = rows.len() > most;
        let shown = rows.into_iter().take(most).enumerate().map(|(at, row)| {
            let text: String = row.iter().map(|cell| cell.text.as_str()).collect();
            match is_cut && at + 1 == most {
                true => format!("{}…", width::cut(text.trim_end(), columns.saturating_sub(1))),
                false => text,
            }
        });
        shown.collect()
    }

    /// Whether the files are shown: as the person chose, else where there is room next to the lines.
    pub fn shows_tree(&self) -> bool {
        self.look.tree.unwrap_or(self.window.size.0 >= 96)
    }

    /// Whether the lines are in view: neither under the keys or the summary, nor under the files.
    pub(in crate::review) fn shows_lines(&self, places: ReviewAreas) -> bool {
        let is_covered = matches!(self.overlay, ReviewOverlay::Help { .. } | ReviewOverlay::Summary { .. });
        !is_covered && places.tree < self.window.columns()
    }
}
