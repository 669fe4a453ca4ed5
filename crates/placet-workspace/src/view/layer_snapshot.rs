//! A copy of the layers as a background command found them.

use super::command_view::CommandDir;
use super::job::{JobUpdates, PassedStates, staged_name};
use super::layer::Layer;
use std::ffi::OsString;
use std::sync::Arc;

/// The layers as they were when a command began, and what it got since. They exist as long as the command runs.
#[derive(Debug)]
pub(super) struct LayerSnapshot {
    pub(super) dir: CommandDir,
    /// For each root, the topmost first.
    pub(super) roots: Vec<Vec<Layer>>,
    /// Milliseconds since 1970.
    pub(super) at: u64,
    /// What has this name in the command's layer is on its way there, and no change.
    pub(super) staged: OsString,
    /// How later changes reach the command.
    pub(super) updates: Option<Arc<JobUpdates>>,
    /// What it got, where nothing more will reach it.
    pub(super) passed: PassedStates,
}

impl LayerSnapshot {
    /// Of a command that begins.
    pub(super) fn new(dir: CommandDir, at: u64) -> LayerSnapshot {
        let passed = PassedStates::new(dir.path());
        LayerSnapshot { dir, roots: Vec::new(), at, staged: staged_name(), updates: None, passed }
    }

    /// From now on nothing reaches the command.
    pub(super) fn end_updates(&mut self) {
        if let Some(passed) = self.updates.take().and_then(|updates| updates.end()) {
            self.passed = passed;
        }
    }
}
