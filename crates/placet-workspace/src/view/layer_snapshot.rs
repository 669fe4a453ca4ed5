//! A copy of the layers as a background command found them.

use super::command_view::CommandDir;
use super::layer::Layer;

/// The layers as they were when a command began. They exist as long as the command runs.
#[derive(Debug)]
pub(super) struct LayerSnapshot {
    pub(super) dir: CommandDir,
    /// For each root, the topmost first.
    pub(super) roots: Vec<Vec<Layer>>,
    /// Milliseconds since 1970.
    pub(super) at: u64,
}
