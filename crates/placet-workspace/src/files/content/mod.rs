//! What is in a file: its lines, what of them was shown, and texts that are replaced.

pub(crate) mod file_window;
pub(crate) mod known_lines;
pub(crate) mod ledger;
pub(crate) mod line_index;
pub(crate) mod line_pattern;
pub(crate) mod lines_by_turn;
pub(crate) mod replacement;
pub(crate) mod sparse;
pub(crate) mod text_file;
