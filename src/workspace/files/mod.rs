//! Files as placet opens, reads, writes and walks them.

pub(super) mod atomic_write;
pub(super) mod attributes;
mod exchange;
pub(super) mod file_window;
pub(super) mod ignore_rules;
pub(super) mod kept_file;
pub(super) mod known_lines;
pub(super) mod lease;
pub(super) mod ledger;
pub(super) mod line_index;
pub(super) mod line_pattern;
pub(super) mod lines_by_turn;
pub(super) mod open;
mod open_anyway;
pub(super) mod open_at;
pub(super) mod path_state;
pub(super) mod pseudo_fs;
pub(super) mod relative_path;
pub(super) mod resolve;
pub(super) mod shared_state;
pub(super) mod sparse;
pub(super) mod stat_fields;
mod symlinks;
mod temp_name;
pub(super) mod text_file;
pub(super) mod walk;
mod xattr;
