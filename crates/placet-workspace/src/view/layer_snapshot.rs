//! A copy of the layers as a background command found them.

use super::command_view::CommandDir;
use super::layer::Layer;
use super::running_copy::RunningCopy;
use std::path::PathBuf;
use std::sync::Arc;

/// The layers as they were when a command began. They exist as long as the command runs.
#[derive(Debug)]
pub(super) struct LayerSnapshot {
    pub(super) dir: CommandDir,
    /// For each root, the topmost first.
    pub(super) roots: Vec<Vec<Layer>>,
    /// Milliseconds since 1970.
    pub(super) at: u64,
    /// Through which the command gets what changes meanwhile.
    pub(super) running: Option<Arc<RunningCopy>>,
}

impl LayerSnapshot {
    pub(super) fn new(dir: CommandDir, roots: Vec<Vec<Layer>>, at: u64) -> LayerSnapshot {
        LayerSnapshot { dir, roots, at, running: None }
    }

    /// The place of the copy of a layer: the topmost has the number 1.
    pub(super) fn copy(&self, index: usize, number: usize) -> PathBuf {
        self.dir.path().join(format!("{index}-{number}"))
    }

    /// What was passed on to the command in a root, as a layer above the others: it is made with the first change.
    pub(super) fn passed(&self, index: usize) -> Layer {
        Layer::at(self.copy(index, 0))
    }
}
