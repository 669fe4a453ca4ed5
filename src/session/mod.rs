//! Sessions: what was said and done, kept so that nothing is lost.

mod scratchpad;

pub use scratchpad::{Entry, MAX_ENTRY, MAX_NAME, Saver, ScratchpadError, Scratchpads, check_name};
