//! Where named files live outside the workspace: one trait, several places behind it.
//!
//! A store is small and slow compared with a directory: it is listed, read and written by whole files. What tools and
//! commands work with is a [`StoreMirror`] of it, a directory like any other, so that the view, the sandbox, the journal and
//! undo hold for mounted files too; what was applied there is copied to the store afterwards.

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

/// A file in a store. `path` is relative, with `/` between its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoreFileMeta {
    pub path: String,
    pub size: u64,
    pub created: jiff::Timestamp,
    pub modified: jiff::Timestamp,
    /// Changes whenever the content does; means something to this store only.
    pub version: String,
}

/// What must be there for a write or a removal to go ahead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorePrecondition {
    Absent,
    Version(String),
}

/// A place for named files. Calls wait for as long as they take; each has its own deadline where a network is between.
/// The largest file that goes into a store or comes out of one: it is in memory as a whole.
const LARGEST: u64 = 1 << 30;

pub trait FileStore: Send + Sync {
    /// Every file whose path begins with `prefix`, in the order of their paths.
    fn list(&self, prefix: &str) -> Result<Vec<StoreFileMeta>, StoreError>;

    fn read(&self, path: &str) -> Result<Vec<u8>, StoreError>;

    /// Writes a whole file and gives its new version. [`StoreError::Changed`] where `expect` does not hold.
    fn write(&self, path: &str, bytes: &[u8], expect: &StorePrecondition) -> Result<String, StoreError>;

    /// Removes a file; one that is gone already is no error.
    fn remove(&self, path: &str, expect: &StorePrecondition) -> Result<(), StoreError>;

    fn meta(&self, path: &str) -> Result<StoreFileMeta, StoreError> {
        let found = self.list(path)?.into_iter().find(|meta| meta.path == path);
        found.ok_or_else(|| StoreError::Missing(path.into()))
    }
}

/// Refuses what is no name of a file in a store: empty, absolute, with `..`, `.` or empty parts, or with a NUL.
pub fn check_path(path: &str) -> Result<(), StoreError> {
    let bad = |part: &str| matches!(part, "" | "." | "..");
    match path.contains('\0') || path.len() > 1024 || path.split('/').any(bad) {
        true => Err(StoreError::Name(path.into())),
        false => Ok(()),
    }
}

/// The usual version: what the content is.
fn version_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}
