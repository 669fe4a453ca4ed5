//! Text as such: how wide it is on a screen, what in it must never reach a terminal, what was meant by it.

pub mod sanitize;
pub mod suggest;
pub mod width;
