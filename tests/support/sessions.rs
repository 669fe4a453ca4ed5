//! Stored sessions.

use placet::session::SessionStore;
use tempfile::TempDir;

/// The store of a directory in which nothing had to be repaired.
pub fn store(dir: &TempDir) -> SessionStore {
    let (store, notes) = SessionStore::open(dir.path()).unwrap();
    assert_eq!(notes, Vec::<String>::new());
    store
}
