//! The tools that run commands, in the sandbox and in the background.

mod command_effects;
pub(super) mod jobs;
pub(super) mod run;
pub(super) mod sandboxed;
