//! What comes before every subcommand: the settings, the log, signals, and the directory that it works in.

pub(super) mod file_modes;
mod git_dirs;
pub(super) mod log_file;
pub(super) mod moved;
pub(super) mod panic_hook;
pub(super) mod resumed_directory;
pub(super) mod signals;
pub(super) mod start;
