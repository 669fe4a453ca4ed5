//! One file per area; each test's name is a sentence.

mod tool_edit;
mod tool_read;
