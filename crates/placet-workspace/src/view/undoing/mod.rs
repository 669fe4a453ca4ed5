//! Undo, redo, and discarded changes that come back.

pub(super) mod discards;
pub(super) mod undo;
pub(super) mod undo_gaps;
