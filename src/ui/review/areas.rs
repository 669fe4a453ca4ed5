//! Where the files and the lines are on a screen.

use super::overlay::ReviewOverlay;
use super::state::{Review, ReviewFocus};

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
        let (columns, rows) = (usize::from(self.size.0), usize::from(self.size.1));
        let rows = rows.saturating_sub(2).max(1);
        let tree = match self.shows_tree() {
            false => 0,
            // Where the lines would have no room, the files have all of it.
            true if columns < 60 => {
                if self.focus == ReviewFocus::Tree {
                    columns
                } else {
                    0
                }
            }
            true => (columns / 4).clamp(22, 40),
        };
        ReviewAreas { tree, columns: columns.saturating_sub(tree).max(1), rows }
    }

    /// Whether the files are shown: as the person chose, else where there is room next to the lines.
    pub fn shows_tree(&self) -> bool {
        self.look.tree.unwrap_or(self.size.0 >= 96)
    }

    /// Whether the lines are in view: neither under the keys or the summary, nor under the files.
    pub(super) fn shows_lines(&self, places: ReviewAreas) -> bool {
        let is_covered = matches!(self.overlay, ReviewOverlay::Help { .. } | ReviewOverlay::Summary { .. });
        !is_covered && places.tree < usize::from(self.size.0)
    }
}
