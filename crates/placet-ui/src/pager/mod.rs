//! One scrolling text for every screen that shows more than fits: a cursor, a viewport, wrapping, searching.
//!
//! The text comes in blocks, which are made when they become visible, and a line is wrapped when it becomes visible: a
//! text of a million lines opens at once. The pager knows no files and no conversations; the screen handles every key
//! that does not move or search.

mod draw;
mod keys;
mod layout;
mod scroll;
mod search;
mod source;
mod typing;

#[cfg(test)]
mod tests;

pub use draw::bar;
pub use keys::{KEYS, PagerAction, PagerRequest};
pub(crate) use scroll::MARGIN;
pub use scroll::{PagerViewport, WrapMode};
pub use search::PagerSearch;
pub use source::{PagerPosition, PagerSource, RowFocus};
pub use typing::PagerPromptResult;
