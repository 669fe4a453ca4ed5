//! Text as such: how wide it is on a screen, and what in it must never reach a terminal.

pub mod sanitize;
pub mod width;
