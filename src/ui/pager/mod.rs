//! One scrolling text for every screen that shows more than fits: a cursor, a viewport, wrapping, searching.
//!
//! The text comes in blocks, which are made when they come into view, and a line is wrapped when it does: a text of a
//! million lines opens at once. It knows no files and no conversations; what a key means beyond moving and searching
//! is the screen's business.

mod draw;
mod keys;
mod layout;
mod scroll;
mod search;
mod source;
mod typing;

#[cfg(test)]
mod tests;

pub use draw::{bar, help_page};
pub use keys::{KEYS, PagerAction, PagerRequest};
pub use scroll::{PagerViewport, WrapMode};
pub use search::PagerSearch;
pub use source::{PagerPosition, PagerSource, RowFocus};
pub use typing::PagerPromptResult;
