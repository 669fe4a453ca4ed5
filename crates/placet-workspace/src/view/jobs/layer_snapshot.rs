//! A copy of the layers as a background command found them.

use crate::view::command::command_view::CommandDir;
use crate::view::layers::layer::Layer;

/// The layers as they were when a command began. They exist as long as the command runs.
#[derive(Debug)]
pub(in crate::view) struct LayerSnapshot {
    pub(in crate::view) dir: CommandDir,
    /// For each root, the topmost first.
    pub(in crate::view) roots: Vec<Vec<Layer>>,
    /// Milliseconds since 1970.
    pub(in crate::view) at: u64,
}
