//! Pictures in a terminal: in its own protocol where it is known to have one, else as half blocks of colour.
//!
//! What the terminal can do is told by its environment and the settings; it is never asked, so nothing waits and no
//! answer is typed into the prompt. Half blocks are cells like all others: they go everywhere cells go, and a
//! multiplexer keeps them. It draws nothing itself: [`super::FullScreenPainter`] knows what is on the screen already.

mod blocks;
mod chip;
mod display;
mod protocol;
mod sixel;
mod terminal_picture;
mod thumbnail;

pub use blocks::half_blocks;
pub use chip::chip;
pub use display::{PictureDisplay, RenderedPicture};
pub use protocol::PictureProtocol;
pub use terminal_picture::{PlacedPicture, TerminalPicture};

#[cfg(test)]
mod tests;
