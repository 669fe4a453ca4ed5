//! A command in the view: its own layer, and how that becomes pending.

pub(super) mod collect;
pub(super) mod collect_check;
pub(super) mod collected_index;
pub(super) mod command_dir;
mod command_file;
pub(super) mod command_view;
pub(super) mod run_clock;
