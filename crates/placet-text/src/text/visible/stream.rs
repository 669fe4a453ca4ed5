//! Text that arrives in pieces: the rendering does not depend on where it was cut.

use super::piece::joined;
use super::writer::VisibleWriter;
use super::{LineBreaks, VisibleMode};

/// Renders an answer, or the output of a command, while it arrives.
#[derive(Debug)]
pub struct VisibleStream(VisibleWriter);

impl Default for VisibleStream {
    /// For an answer.
    fn default() -> VisibleStream {
        VisibleStream::new(VisibleMode::Prose)
    }
}

impl VisibleStream {
    pub fn new(manner: VisibleMode) -> VisibleStream {
        VisibleStream(VisibleWriter::new(manner, LineBreaks::Kept))
    }

    /// Returns the part of the text that can be shown now.
    pub fn feed(&mut self, piece: &str) -> String {
        self.feed_bytes(piece.as_bytes())
    }

    /// The same for bytes; a character may be cut anywhere.
    pub fn feed_bytes(&mut self, piece: &[u8]) -> String {
        let mut out = Vec::new();
        self.0.bytes(piece, &mut out);
        joined(&out)
    }

    /// Ends the text: returns what was waiting for more.
    #[must_use]
    pub fn finish(&mut self) -> String {
        let mut out = Vec::new();
        self.0.end(&mut out);
        joined(&out)
    }
}
