//! The tools that read, write, edit, list, find and search files.

pub(super) mod content_type;
mod dotted_glob;
pub(super) mod edit;
pub(super) mod edit_errors;
pub(super) mod edit_spans;
pub(super) mod file_page;
pub(super) mod find;
pub(super) mod list;
pub(super) mod lookup;
pub(super) mod pattern;
pub(super) mod read;
pub(super) mod read_window;
pub(super) mod search;
pub(super) mod search_results;
pub(super) mod staged_files;
pub(super) mod staged_plan;
pub(super) mod suggestions;
pub(super) mod write;
