//! The visible rows: they follow the cursor, and rows that were drawn count as seen.

use crate::review::picture::paint::{DrawContext, ReviewPainter};
use crate::review::picture::rows::ReviewRow;
use crate::review::state::Review;
use std::ops::Range;

/// Rows that stay between the cursor and the edge of the screen.
const MARGIN: usize = 2;

impl Review {
    /// Scrolls until the cursor is on the screen. Call it after every change, before drawing.
    pub fn scroll_to_cursor(&mut self, scene: &DrawContext<'_>) {
        let places = self.places();
        self.clamp();
        let review = &*self;
        let painter = ReviewPainter::new(review, scene, places.columns);
        let height = |row: usize| painter.height(row);
        let margin = MARGIN.min(places.rows.saturating_sub(1) / 2);
        let mut top = review.window.top;
        if review.window.cursor < top.0 + margin {
            top = (review.window.cursor.saturating_sub(margin), 0);
        }
        // A hunk that fits is shown whole.
        let hunk = review.row().and_then(|row| row.hunk());
        let of_hunk = |row: &&ReviewRow| hunk.is_some() && row.hunk() == hunk;
        let rest =
            review.rows.list.get(review.window.cursor + 1..).unwrap_or_default().iter().take(places.rows);
        let reach = match rest.take_while(of_hunk).count() {
            long if long + 2 * margin >= places.rows => review.window.cursor,
            rest => review.window.cursor + rest,
        };
        // Screen rows from the top to below the cursor; the count stops where it does not matter any more.
        let mut used = 0usize;
        let mut row = top.0;
        while row <= reach && used <= places.rows * 2 + top.1 {
            used += height(row);
            row += 1;
        }
        if row <= reach || used.saturating_sub(top.1) + margin > places.rows {
            let (mut first, mut room) = (reach, places.rows.saturating_sub(margin));
            let mut own = height(first);
            if own >= room {
                // A row taller than the screen is shown from its beginning; `scroll_in_row` scrolls inside it.
                top = if top.0 == first { top } else { (first, 0) };
            } else {
                while own < room && first > 0 {
                    room -= own;
                    own = height(first - 1);
                    if own > room {
                        break;
                    }
                    first -= 1;
                }
                top = (first.min(review.window.cursor), 0);
            }
        }
        self.window.top = top;
        self.record_seen(scene);
    }

    /// Goes down or up inside a row that is taller than the screen; false when the cursor should move instead.
    pub fn scroll_in_row(&mut self, down: bool, scene: &DrawContext<'_>) -> bool {
        let places = self.places();
        let painter = ReviewPainter::new(self, scene, places.columns);
        let height = painter.height(self.window.cursor);
        if height <= places.rows || self.window.top.0 != self.window.cursor {
            return false;
        }
        let last = height - places.rows / 2;
        let step = (places.rows / 2).max(1);
        match down {
            true if self.window.top.1 + places.rows < height => {
                self.window.top.1 = (self.window.top.1 + step).min(last)
            }
            false if self.window.top.1 > 0 => self.window.top.1 = self.window.top.1.saturating_sub(step),
            _ => return false,
        }
        self.record_seen(scene);
        true
    }

    /// Records what the screen is about to show.
    fn record_seen(&mut self, scene: &DrawContext<'_>) {
        let places = self.places();
        if !self.shows_lines(places) {
            return;
        }
        let painter = ReviewPainter::new(self, scene, places.columns);
        let mut drawn: Vec<(ReviewRow, usize, Range<usize>)> = Vec::new();
        let (mut y, mut at, mut skip) = (0, self.window.top.0, self.window.top.1);
        while let Some(row) = self.rows.list.get(at).copied().filter(|_| y < places.rows) {
            let height = painter.height(at);
            let end = height.min(skip + places.rows - y).max(skip);
            y += end - skip;
            if self.look.wrap || !matches!(row, ReviewRow::Line { .. } | ReviewRow::Pair { .. }) {
                drawn.push((row, height, skip..end));
            } else {
                let (wide, room) = (painter.extent(row), painter.text_columns(row));
                // The last column shows that the line continues.
                let right = if wide > self.window.left + room {
                    self.window.left + room.saturating_sub(1)
                } else {
                    wide
                };
                drawn.push((row, wide, self.window.left.min(right)..right));
            }
            (at, skip) = (at + 1, 0);
        }
        for (row, of, range) in drawn {
            for unit in self.units_in(row) {
                self.seen.take(unit, of, &range);
            }
        }
    }
}
