//! The review as rows of the screen.

pub(super) mod cells;
pub(super) mod difference;
pub(super) mod draw;
pub(super) mod paint;
pub(super) mod paint_line;
pub(super) mod rows;
pub(super) mod tree;
