//! The earlier name of [`super::visible`]: text for the terminal passes one renderer, and this is it.

pub use super::visible::{VisibleStream, block, line, name};
