//! A store that is a directory. Links in it are neither followed nor listed.

use super::memory::expected;
use super::{FileStore, LARGEST, StoreError, StoreFileMeta, StorePrecondition, check_path, version_of};
use placet_text::text::regular_file;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug)]
pub struct LocalStore {
    dir: PathBuf,
}

impl LocalStore {
    pub fn new(dir: PathBuf) -> LocalStore {
        LocalStore { dir }
    }

    /// The path of a file of the store. Fails if a directory above it is a link: the link could lead anywhere.
    fn place(&self, path: &str) -> Result<PathBuf, StoreError> {
        check_path(path)?;
        let mut at = self.dir.clone();
        let parts: Vec<&str> = path.split('/').collect();
        for (number, part) in parts.iter().enumerate() {
            at.push(part);
            let last = number + 1 == parts.len();
            match std::fs::symlink_metadata(&at) {
                Ok(meta) if meta.file_type().is_symlink() => return Err(StoreError::Name(path.into())),
                Ok(meta) if last && meta.is_dir() => return Err(StoreError::Name(path.into())),
                _ => {}
            }
        }
        Ok(at)
    }

    fn version(&self, at: &Path) -> Result<Option<String>, StoreError> {
        match regular_file::read(at, LARGEST) {
            Ok(bytes) => Ok(Some(version_of(&bytes))),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(StoreError::io(at, e)),
        }
    }

    fn walk(&self, dir: &Path, out: &mut Vec<StoreFileMeta>) -> Result<(), StoreError> {
        let entries = match std::fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(e) => return Err(StoreError::io(dir, e)),
        };
        for entry in entries {
            let entry = entry.map_err(|e| StoreError::io(dir, e))?;
            let (path, kind) = (entry.path(), entry.file_type().map_err(|e| StoreError::io(dir, e))?);
            if kind.is_dir() {
                self.walk(&path, out)?;
            } else if kind.is_file() {
                let Some(name) = path.strip_prefix(&self.dir).ok().and_then(Path::to_str) else { continue };
                out.push(meta_of(name, &path)?);
            }
        }
        Ok(())
    }
}

fn meta_of(name: &str, path: &Path) -> Result<StoreFileMeta, StoreError> {
    let fail = |e: std::io::Error| StoreError::io(path, e);
    let bytes = regular_file::read(path, LARGEST).map_err(fail)?;
    let meta = std::fs::metadata(path).map_err(fail)?;
    let stamp = |time: std::io::Result<std::time::SystemTime>| {
        time.ok().and_then(|t| jiff::Timestamp::try_from(t).ok()).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
    };
    let modified = stamp(meta.modified());
    let created = meta.created().map_or(modified, |time| stamp(Ok(time)));
    Ok(StoreFileMeta {
        path: name.into(),
        size: bytes.len() as u64,
        created,
        modified,
        version: version_of(&bytes),
    })
}

impl FileStore for LocalStore {
    fn list(&self, prefix: &str) -> Result<Vec<StoreFileMeta>, StoreError> {
        let mut found = Vec::new();
        self.walk(&self.dir, &mut found)?;
        found.retain(|meta| meta.path.starts_with(prefix));
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        let at = self.place(path)?;
        regular_file::read(&at, LARGEST).map_err(|e| match e.kind() {
            std::io::ErrorKind::NotFound => StoreError::Missing(path.into()),
            _ => StoreError::io(&at, e),
        })
    }

    fn write(&self, path: &str, bytes: &[u8], expect: &StorePrecondition) -> Result<String, StoreError> {
        let at = self.place(path)?;
        expected(path, self.version(&at)?.as_deref(), expect)?;
        let dir = at.parent().unwrap_or(&self.dir);
        let fail = |e: std::io::Error| StoreError::io(&at, e);
        std::fs::create_dir_all(dir).map_err(fail)?;
        // Staged in the same directory, because a rename cannot cross file systems.
        let mut staged = tempfile::NamedTempFile::new_in(dir).map_err(fail)?;
        staged.write_all(bytes).and_then(|()| staged.as_file().sync_all()).map_err(fail)?;
        staged.persist(&at).map_err(|e| fail(e.error))?;
        Ok(version_of(bytes))
    }

    fn remove(&self, path: &str, expect: &StorePrecondition) -> Result<(), StoreError> {
        let at = self.place(path)?;
        let Some(version) = self.version(&at)? else { return Ok(()) };
        expected(path, Some(&version), expect)?;
        std::fs::remove_file(&at).map_err(|e| StoreError::io(&at, e))
    }
}
