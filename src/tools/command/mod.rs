//! The tools that run commands, in the sandbox and in the background.

pub(super) mod jobs;
pub(super) mod run;
pub(super) mod sandboxed;
