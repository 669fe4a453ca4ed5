//! One file per area; each test's name is a sentence.

mod tool_command;
mod tool_edit;
mod tool_read;
mod tool_scratchpad;
mod tool_search;
mod tool_write;
