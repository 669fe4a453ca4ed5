//! A store that lasts as long as the process.

use super::{FileStore, StoreError, StoreFileMeta, StorePrecondition, check_path, version_of};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub struct MemoryStore(Mutex<BTreeMap<String, (StoreFileMeta, Vec<u8>)>>);

impl MemoryStore {
    fn files(&self) -> MutexGuard<'_, BTreeMap<String, (StoreFileMeta, Vec<u8>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Fails unless the present version matches `expect`; returns the present version.
pub(super) fn expected(
    path: &str,
    there: Option<&str>,
    expect: &StorePrecondition,
) -> Result<(), StoreError> {
    let holds = match (there, expect) {
        (None, StorePrecondition::Absent) => true,
        (Some(there), StorePrecondition::Version(version)) => there == version,
        _ => false,
    };
    if holds { Ok(()) } else { Err(StoreError::Changed(path.into())) }
}

impl FileStore for MemoryStore {
    fn list(&self, prefix: &str) -> Result<Vec<StoreFileMeta>, StoreError> {
        let files = self.files();
        let below = files.range(prefix.to_string()..).take_while(|(path, _)| path.starts_with(prefix));
        Ok(below.map(|(_, (meta, _))| meta.clone()).collect())
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        let files = self.files();
        files.get(path).map(|(_, bytes)| bytes.clone()).ok_or_else(|| StoreError::Missing(path.into()))
    }

    fn write(&self, path: &str, bytes: &[u8], expect: &StorePrecondition) -> Result<String, StoreError> {
        check_path(path)?;
        let mut files = self.files();
        let known = files.get(path).map(|(meta, _)| (meta.version.clone(), meta.created));
        expected(path, known.as_ref().map(|(version, _)| version.as_str()), expect)?;
        let (version, now) = (version_of(bytes), jiff::Timestamp::now());
        let created = known.map_or(now, |(_, created)| created);
        let (size, path) = (bytes.len() as u64, path.to_string());
        let meta =
            StoreFileMeta { path: path.clone(), size, created, modified: now, version: version.clone() };
        files.insert(path, (meta, bytes.to_vec()));
        Ok(version)
    }

    fn remove(&self, path: &str, expect: &StorePrecondition) -> Result<(), StoreError> {
        let mut files = self.files();
        if let Some((meta, _)) = files.get(path) {
            expected(path, Some(&meta.version), expect)?;
            files.remove(path);
        }
        Ok(())
    }
}
