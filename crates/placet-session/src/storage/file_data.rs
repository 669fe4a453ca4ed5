//! A text file in the format of deepagents' backends: its lines and its two times.

use super::{FileStore, StoreError, StoreFileMeta};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileData {
    /// Lines of the text content, without their ends.
    pub content: Vec<String>,
    /// ISO 8601, UTC.
    pub created_at: String,
    pub modified_at: String,
}

impl FileData {
    /// Reads a file of a store in this format. Bytes that are not UTF-8 become U+FFFD: the format is only for display,
    /// and nothing is ever written back from it.
    pub fn of(store: &dyn FileStore, path: &str) -> Result<FileData, StoreError> {
        let StoreFileMeta { created, modified, .. } = store.meta(path)?;
        let bytes = store.read(path)?;
        let content = String::from_utf8_lossy(&bytes).split('\n').map(String::from).collect();
        Ok(FileData { content, created_at: created.to_string(), modified_at: modified.to_string() })
    }
}
