//! What a count of pending changes belongs to: it counts as long as this is the same.

use crate::files::metadata::file_stamp::FileStamp;
use serde::{Deserialize, Serialize};

/// What a count belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::view) struct CountedState {
    /// A process that claims the view writes to its lock.
    pub(super) lock: Option<FileStamp>,
    pub(super) record: Option<FileStamp>,
    /// Changes that this process has made to the layers.
    #[serde(skip)]
    pub(super) writes: u64,
}
