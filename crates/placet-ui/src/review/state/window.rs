//! The part of the rows that is on the screen, with the cursor and the selection.

pub struct ReviewWindow {
    /// Columns and rows of the screen.
    pub size: (u16, u16),
    /// The row the cursor is on.
    pub cursor: usize,
    /// The first row on the screen, and how many of its screen rows are above it.
    pub top: (usize, usize),
    /// Columns scrolled to the right when lines are not wrapped.
    pub left: usize,
    /// Where a selection began.
    pub anchor: Option<usize>,
}

impl ReviewWindow {
    pub(in crate::review) fn at(cursor: usize) -> ReviewWindow {
        ReviewWindow { size: (80, 24), cursor, top: (0, 0), left: 0, anchor: None }
    }

    pub(in crate::review) fn columns(&self) -> usize {
        usize::from(self.size.0)
    }

    /// The rows selected: the cursor's own when nothing is.
    pub(in crate::review) fn selection(&self) -> std::ops::RangeInclusive<usize> {
        let anchor = self.anchor.unwrap_or(self.cursor);
        anchor.min(self.cursor)..=anchor.max(self.cursor)
    }

    /// There are rows up to `last` only.
    pub(in crate::review) fn clamp(&mut self, last: usize) {
        self.cursor = self.cursor.min(last);
        if self.top.0 > last {
            self.top = (last, 0);
        }
    }
}
