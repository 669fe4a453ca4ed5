//! The screen: who owns it, and how things look on it.

pub mod ansi;
mod canvas;
pub mod cell;
pub mod clipboard;
mod code_blocks;
mod composer;
pub mod editor;
pub mod full;
pub mod keymap;
mod keys;
mod links;
pub mod live;
pub mod markdown;
mod notify;
pub mod pager;
mod painter;
pub mod picker;
pub mod picture;
pub mod reading;
pub mod review;
mod stream;
pub mod syntax;
pub mod term;
mod theme;
pub mod tint;
pub mod transcript;
pub mod viewer;
pub mod wrap;

pub use canvas::Canvas;
pub use code_blocks::code_blocks;
pub use links::{Links, are_supported as links_are_supported};
pub use notify::{Notifier, Way};
pub use painter::{Painter, Sink};
pub use stream::Stream;
pub use theme::{LABELS, Theme, ThemeError};
pub use tint::{DocId, Tint};
