//! What the tools of Triggerfish share.

use std::path::PathBuf;
use std::sync::Mutex;

/// What the tools share.
#[derive(Debug, Default)]
pub(super) struct TriggerfishState {
    /// Texts that no command may hold.
    pub(super) denied: Vec<String>,
    /// Where relative paths begin: a command that starts with `cd` moves it.
    pub(super) base: Mutex<PathBuf>,
    pub(super) plan: Mutex<TriggerfishPlan>,
}

/// What was said of the plan so far.
#[derive(Clone, Debug, Default)]
pub(super) struct TriggerfishPlan {
    pub(super) goal: String,
    pub(super) scope: Option<String>,
    pub(super) text: String,
}
