//! A file that was renamed and changed, as change sets find it and the journal records it.

use crate::files::metadata::path_state::raw_shared;
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// A file that was renamed and changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileRename {
    #[serde(with = "raw_shared")]
    pub from: Arc<Path>,
    #[serde(with = "raw_shared")]
    pub to: Arc<Path>,
}

impl FileRename {
    pub fn new(from: impl AsRef<Path>, to: impl AsRef<Path>) -> FileRename {
        FileRename { from: from.as_ref().into(), to: to.as_ref().into() }
    }

    /// The rename that takes it back.
    #[must_use]
    pub fn reversed(&self) -> FileRename {
        FileRename { from: Arc::clone(&self.to), to: Arc::clone(&self.from) }
    }
}
