//! What can go wrong with a store.

use std::path::PathBuf;
use std::sync::Arc;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum StoreError {
    #[error("`{0}` is not in the store")]
    Missing(String),
    #[error("`{0}` changed in the store in the meantime")]
    Changed(String),
    #[error("`{0}` cannot be the name of a file in a store")]
    Name(String),
    #[error("the store is read-only")]
    ReadOnly,
    #[error(
        "the store is too large to mount: {files} files, {bytes} bytes (at most {most_files} and {most_bytes})"
    )]
    TooLarge { files: usize, bytes: u64, most_files: usize, most_bytes: u64 },
    #[error("`{}`: {error}", .path.display())]
    Io { path: PathBuf, error: std::io::Error },
    #[error("the store cannot be reached, or refuses the request: {0}")]
    Backend(String),
    /// The store behind a mount; the mount stores its first failure.
    #[error("the store cannot be reached, or refuses the request: {0}")]
    Mount(Arc<StoreError>),
    #[error(
        "`{0}` is not a store: use memory, sqlite:NAME, dir:PATH, scratchpads, s3://BUCKET/PREFIX or fs:PATH"
    )]
    Address(String),
    #[error("placet was built without object stores: build it with --features object-storage")]
    NotBuilt,
}

impl StoreError {
    pub(super) fn io(path: &std::path::Path, error: std::io::Error) -> StoreError {
        StoreError::Io { path: path.to_path_buf(), error }
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> StoreError {
        StoreError::Backend(error.to_string())
    }
}
