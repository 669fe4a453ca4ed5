//! A copy of the layers as a background command found them.

use super::values::{JobUpdates, PassedStates, staged_name};
use crate::view::command::command_view::CommandDir;
use crate::view::layers::layer::Layer;
use std::ffi::OsString;
use std::sync::Arc;

/// The layers as they were when a command began, and what it got since. They exist as long as the command runs.
#[derive(Debug)]
pub(in crate::view) struct LayerSnapshot {
    pub(in crate::view) dir: CommandDir,
    /// For each root, the topmost first.
    pub(in crate::view) roots: Vec<Vec<Layer>>,
    /// Milliseconds since 1970.
    pub(in crate::view) at: u64,
    /// What has this name in the command's layer is on its way there, and no change.
    pub(in crate::view) staged: OsString,
    /// How later changes reach the command.
    pub(in crate::view) updates: Option<Arc<JobUpdates>>,
    /// What it got, where nothing more will reach it.
    pub(in crate::view) passed: PassedStates,
}

impl LayerSnapshot {
    /// Of a command that begins.
    pub(in crate::view) fn new(dir: CommandDir, at: u64) -> LayerSnapshot {
        let passed = PassedStates::new(dir.path());
        LayerSnapshot { dir, roots: Vec::new(), at, staged: staged_name(), updates: None, passed }
    }

    /// From now on nothing reaches the command.
    pub(in crate::view) fn end_updates(&mut self) {
        if let Some(passed) = self.updates.take().and_then(|updates| updates.end()) {
            self.passed = passed;
        }
    }
}
