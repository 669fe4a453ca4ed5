//! The only renderer of untrusted text for a person: text from models, tools, files and servers, and file names.
//!
//! Nothing is dropped. Characters that a terminal would act on, that are invisible, or that reorder text become a
//! visible sign: a control picture (`␛`), a code point in angle brackets (`<U+200B>`), or a byte that is not UTF-8
//! (`<FF>`). A run of the same sign is counted (`<U+200B x100000>`), and so are up to four signs that repeat in turn
//! (`<(U+200B U+200C) x50000>`). A `<` of the text that would look like such a sign is itself written `<U+003C>`, and
//! so are the other signs: two different texts never have the same rendering, even without colours.
//!
//! There are two less strict modes for text that nobody approves ([`VisibleMode`]). Both still neutralise everything
//! that acts. Only placet's own painter emits ESC.

mod char_class;
mod lookalikes;
mod mode;
mod piece;
mod render;
mod repeat;
mod stream;
mod unescape;
mod writer;

pub use char_class::BLANK_SIGN;
pub(crate) use lookalikes::ascii_of as ascii_look;
pub use lookalikes::{looks_like, looks_like_own, skeleton};
pub use mode::{CONTINUED, LineBreaks, OWN, TAB, VisibleMode};
pub use piece::{VisiblePiece, VisiblePieceKind};
pub use render::{
    acts, block, decoded, guard, guard_line, line, name, output, output_line, path, path_name, pieces, prose,
    prose_line, usable_name, visible,
};
pub use stream::VisibleStream;
pub use unescape::read_back;
pub use writer::written;

#[cfg(any(test, feature = "test-support"))]
pub mod samples;
#[cfg(test)]
mod tests;
