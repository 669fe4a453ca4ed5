//! Pictures in a terminal: in its own protocol where it is known to have one, else as half blocks of colour.
//!
//! The environment and the settings name what the terminal can do. placet never asks the terminal: nothing waits, and
//! no answer is typed into the prompt. Half blocks are ordinary cells, and a multiplexer preserves them. The module
//! draws nothing itself: [`super::FullScreenPainter`] knows what is on the screen already.

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
