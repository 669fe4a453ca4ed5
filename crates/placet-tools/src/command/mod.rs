//! The tools that run commands, in the sandbox and in the background.

pub(super) mod check_board;
pub(super) mod check_run;
pub(super) mod command_effects;
pub(super) mod command_hint;
pub(super) mod ended_command;
pub(super) mod git_runner;
pub(super) mod jobs;
pub(super) mod network_summary;
pub(super) mod passed_checks;
pub(super) mod program_view;
pub(super) mod run;
pub(super) mod sandboxed;
mod session_tmp;
pub(super) mod signature_client;
mod signature_server;
pub(super) mod terminal;
mod to_background;
mod unknown_group;
