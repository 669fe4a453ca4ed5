//! The terminal: who owns it, what is written to it, and the programs beside it.

pub mod ansi;
pub mod browser;
pub mod clipboard;
pub mod editor;
pub mod full_screen;
pub(super) mod full_screen_painter;
pub(super) mod inline_painter;
pub(super) mod links;
pub(super) mod notify;
pub mod reclaim;
pub mod term;
pub mod terminal_colors;
