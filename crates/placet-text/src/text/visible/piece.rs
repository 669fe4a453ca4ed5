//! A piece of a rendering, with its original bytes.

use std::ops::Range;

/// The kind of a piece of a rendering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisiblePieceKind {
    /// The text itself, unchanged.
    Plain,
    /// Replaces something that cannot be shown; user interfaces with styles draw it in a style of its own.
    Sign,
    /// Replaces a tab, spaces at the end of a line, or a carriage return.
    Blank,
}

/// A piece of a rendering and its original bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisiblePiece {
    pub bytes: Range<usize>,
    pub text: String,
    pub kind: VisiblePieceKind,
}

pub(super) fn joined(pieces: &[VisiblePiece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}
