//! What the tools of Triggerfish share.

use std::path::PathBuf;
use std::sync::Mutex;

/// What the tools share.
#[derive(Debug, Default)]
pub(super) struct TriggerfishState {
    /// Texts that no command may contain.
    pub(super) denied: Vec<String>,
    /// The directory to which relative paths are relative: a command that starts with `cd` changes it.
    pub(super) base: Mutex<PathBuf>,
    pub(super) plan: Mutex<TriggerfishPlan>,
}

/// The parts of the plan that are known until now.
#[derive(Clone, Debug, Default)]
pub(super) struct TriggerfishPlan {
    pub(super) goal: String,
    pub(super) scope: Option<String>,
    pub(super) text: String,
}
