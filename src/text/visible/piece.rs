//! A part of a rendering, with the bytes that it stands for.

use std::ops::Range;

/// What a piece of a rendering is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VisiblePieceKind {
    /// The text itself, unchanged.
    Plain,
    /// It stands for something that cannot be shown; surfaces with styles draw it in one of their own.
    Sign,
    /// It stands for a tab, for blanks at the end of a line, or for a carriage return.
    Blank,
}

/// A part of a rendering and the bytes that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VisiblePiece {
    pub bytes: Range<usize>,
    pub text: String,
    pub kind: VisiblePieceKind,
}

pub(super) fn joined(pieces: &[VisiblePiece]) -> String {
    pieces.iter().map(|piece| piece.text.as_str()).collect()
}
