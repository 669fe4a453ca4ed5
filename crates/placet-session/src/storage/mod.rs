//! Named files outside the workspace: one trait with several implementations.
//!
//! A store is small and slow compared with a directory: files are listed, read and written as a whole. Tools and
//! commands work with a [`StoreMirror`] of it, a directory like any other, so that the view, the sandbox, the journal
//! and undo work for mounted files too; applied changes are copied to the store afterwards.

mod composite;
mod error;
mod file_data;
mod local;
mod memory;
mod mirror;
mod mounts;
#[cfg(feature = "object-storage")]
mod opendal_store;
mod sqlite;

pub use composite::CompositeStore;
pub use error::StoreError;
pub use file_data::FileData;
pub use local::LocalStore;
pub use memory::MemoryStore;
pub use mirror::{StoreMirror, SyncReport};
pub use mounts::{StoreMount, StoreMounts};
#[cfg(feature = "object-storage")]
pub use opendal_store::{ObjectStoreSettings, OpendalStore};
pub use sqlite::SqliteStore;

/// A file in a store. `path` is relative, with `/` between its components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFileMeta {
    pub path: String,
    pub size: u64,
    pub created: jiff::Timestamp,
    pub modified: jiff::Timestamp,
    /// Changes whenever the content does; it has a meaning only for this store.
    pub version: String,
}

/// The state that must exist for a write or a removal to succeed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePrecondition {
    Absent,
    Version(String),
}

/// The largest file that a store can contain, in bytes: a file is in memory as a whole.
const LARGEST: u64 = 1 << 30;

/// A place for named files. Calls block until they are done; a call over a network has a deadline of its own.
pub trait FileStore: Send + Sync {
    /// Every file whose path begins with `prefix`, in the order of their paths.
    fn list(&self, prefix: &str) -> Result<Vec<StoreFileMeta>, StoreError>;

    fn read(&self, path: &str) -> Result<Vec<u8>, StoreError>;

    /// Writes a whole file and returns its new version. [`StoreError::Changed`] if `expect` does not match.
    fn write(&self, path: &str, bytes: &[u8], expect: &StorePrecondition) -> Result<String, StoreError>;

    /// Removes a file; a missing file is not an error.
    fn remove(&self, path: &str, expect: &StorePrecondition) -> Result<(), StoreError>;

    fn meta(&self, path: &str) -> Result<StoreFileMeta, StoreError> {
        let found = self.list(path)?.into_iter().find(|meta| meta.path == path);
        found.ok_or_else(|| StoreError::Missing(path.into()))
    }
}

/// Refuses a path that is not the name of a file in a store: empty, absolute, with `..`, `.` or empty components, or
/// with a NUL.
pub fn check_path(path: &str) -> Result<(), StoreError> {
    let bad = |part: &str| matches!(part, "" | "." | "..");
    match path.contains('\0') || path.len() > 1024 || path.split('/').any(bad) {
        true => Err(StoreError::Name(path.into())),
        false => Ok(()),
    }
}

/// The usual version: a hash of the content.
fn version_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
