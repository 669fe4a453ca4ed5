//! The earlier name of [`super::visible`], the one renderer of text for the terminal.

pub use super::visible::{VisibleStream, block, line, name};
