//! The cursor and the viewport over a text.

use super::layout::PagerLayout;
use super::search::PagerSearch;
use super::source::{PagerPosition, PagerSource};
use crate::keymap::Move;

/// What happens to a line that is wider than the screen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrapMode {
    Rows,
    Cut,
}

/// Rows that stay visible above and below the cursor, and columns that one step to the side moves.
pub(crate) const MARGIN: usize = 2;
const STEP: usize = 8;

pub struct PagerViewport {
    pub(super) top: PagerPosition,
    pub(super) cursor: PagerPosition,
    pub(super) columns: usize,
    pub(super) rows: usize,
    pub(super) wrap: WrapMode,
    pub(super) left: usize,
    pub search: PagerSearch,
}

impl PagerViewport {
    pub fn new(wrap: WrapMode) -> PagerViewport {
        PagerViewport {
            top: PagerPosition::default(),
            cursor: PagerPosition::default(),
            columns: 80,
            rows: 24,
            wrap,
            left: 0,
            search: PagerSearch::default(),
        }
    }

    pub fn cursor(&self) -> PagerPosition {
        self.cursor
    }

    pub fn top(&self) -> PagerPosition {
        self.top
    }

    pub fn wrap(&self) -> WrapMode {
        self.wrap
    }

    /// The blocks and lines that are on the screen now, from the top.
    pub fn rows(&self) -> usize {
        self.rows
    }

    pub(super) fn layout<'s, S: PagerSource + ?Sized>(&self, source: &'s S) -> PagerLayout<'s, S> {
        let columns = match self.wrap {
            WrapMode::Rows => Some(self.columns.max(1)),
            WrapMode::Cut => None,
        };
        PagerLayout { source, columns }
    }

    /// The text has this much room now, gutter left out.
    pub fn resize<S: PagerSource + ?Sized>(&mut self, source: &S, columns: u16, rows: u16) {
        (self.columns, self.rows) = (usize::from(columns).max(1), usize::from(rows).max(1));
        // Rows mean something else at another width: the line stays.
        self.top.row = 0;
        self.cursor.row = 0;
        self.fit(source);
    }

    pub fn go<S: PagerSource + ?Sized>(&mut self, source: &S, step: Move) {
        let layout = self.layout(source);
        let page = self.rows.saturating_sub(1).max(1);
        let half = (self.rows / 2).max(1);
        match step {
            Move::Up => self.cursor = layout.up_by(self.cursor, 1),
            Move::Down => self.cursor = layout.down_by(self.cursor, 1),
            Move::HalfUp => self.both(source, |layout, at| layout.up_by(at, half)),
            Move::HalfDown => self.both(source, |layout, at| layout.down_by(at, half)),
            Move::PageUp => self.both(source, |layout, at| layout.up_by(at, page)),
            Move::PageDown => self.both(source, |layout, at| layout.down_by(at, page)),
            Move::Top => (self.cursor, self.top) = (layout.first(), layout.first()),
            Move::Bottom => self.cursor = layout.last(),
            Move::Left => self.left = self.left.saturating_sub(STEP),
            Move::Right if self.wrap == WrapMode::Cut => self.left = (self.left + STEP).min(1 << 20),
            Move::Right => {}
        }
        self.fit(source);
    }

    fn both<S: PagerSource + ?Sized>(
        &mut self,
        source: &S,
        step: impl Fn(&PagerLayout<'_, S>, PagerPosition) -> PagerPosition,
    ) {
        let layout = self.layout(source);
        (self.top, self.cursor) = (step(&layout, self.top), step(&layout, self.cursor));
    }

    /// Goes to a place; a place that was off the screen comes to a third of it.
    pub fn to<S: PagerSource + ?Sized>(&mut self, source: &S, at: PagerPosition) {
        let layout = self.layout(source);
        let at = layout.clamp(at);
        if !layout.within(self.top, at, self.rows.saturating_sub(MARGIN).max(1)) {
            self.top = layout.up_by(at, self.rows / 3);
        }
        self.cursor = at;
        self.fit(source);
    }

    /// The same with the place at the very top.
    pub fn to_top<S: PagerSource + ?Sized>(&mut self, source: &S, at: PagerPosition) {
        let layout = self.layout(source);
        self.cursor = layout.clamp(at);
        self.top = self.cursor;
        self.fit(source);
    }

    pub fn toggle_wrap<S: PagerSource + ?Sized>(&mut self, source: &S) {
        self.wrap = match self.wrap {
            WrapMode::Rows => WrapMode::Cut,
            WrapMode::Cut => WrapMode::Rows,
        };
        (self.left, self.top.row, self.cursor.row) = (0, 0, 0);
        self.fit(source);
    }

    /// Makes cursor and viewport fit to what is there: after a move, or when the text itself changed.
    pub fn fit<S: PagerSource + ?Sized>(&mut self, source: &S) {
        let layout = self.layout(source);
        self.cursor = layout.clamp(self.cursor);
        self.top = layout.clamp(self.top);
        let margin = MARGIN.min(self.rows.saturating_sub(1) / 2);
        let highest = layout.up_by(self.cursor, self.rows.saturating_sub(1 + margin));
        let lowest = layout.up_by(self.cursor, margin);
        self.top = self.top.clamp(highest.min(lowest), lowest);
        // No empty rows below the end while there is something above.
        let end = layout.up_by(layout.last(), self.rows.saturating_sub(1));
        self.top = self.top.min(end.max(layout.first()));
    }
}
