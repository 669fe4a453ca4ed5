//! A directory that mirrors a store: updated before it is used, copied back after it changed.
//!
//! For each file the mirror stores the version in the store and the content that was copied here. This shows which side
//! changed: a file that changed on one side only is copied to the other, and a file that changed on both sides remains
//! unchanged on both and is reported.

use super::{FileStore, LARGEST, StoreError, StoreFileMeta, StorePrecondition, check_path};
use placet_text::text::regular_file;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// The most files of a mounted store.
const MOST_FILES: usize = 10_000;
const MOST_BYTES: u64 = 256 << 20;
/// How long another process may lock a mirror.
const PATIENCE: Duration = Duration::from_secs(30);

/// The last common state of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct MirrorEntry {
    version: String,
    /// Hash of the content.
    hash: String,
}

type MirrorIndex = BTreeMap<String, MirrorEntry>;

/// The result of one synchronisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SyncReport {
    pub brought: usize,
    pub carried: usize,
    /// Files that could not be copied in either direction.
    pub left: Vec<String>,
}

pub struct StoreMirror {
    store: Arc<dyn FileStore>,
    /// The files themselves.
    files: PathBuf,
    /// The index of exactly this directory: a directory that was created again after a loss has an index of its own, so
    /// that its missing files are copied again and never count as deleted.
    index: PathBuf,
    lock: PathBuf,
}

impl StoreMirror {
    /// A mirror in `dir`, which is created.
    pub fn new(store: Arc<dyn FileStore>, dir: &Path) -> Result<StoreMirror, StoreError> {
        let files = dir.join("files");
        std::fs::create_dir_all(&files).map_err(|e| StoreError::io(&files, e))?;
        let index = dir.join(format!("index-{}.json", identity(&files)?));
        Ok(StoreMirror { store, files, index, lock: dir.join("lock") })
    }

    pub fn files(&self) -> &Path {
        &self.files
    }

    /// Copies what changed in the store. A file that also changed here is not overwritten; it is reported.
    pub fn pull(&self) -> Result<SyncReport, StoreError> {
        let _lock = self.alone()?;
        let mut index = self.load();
        let listed = self.store.list("")?;
        let bytes = listed.iter().map(|meta| meta.size).sum();
        if listed.len() > MOST_FILES || bytes > MOST_BYTES {
            let (files, most_files, most_bytes) = (listed.len(), MOST_FILES, MOST_BYTES);
            return Err(StoreError::TooLarge { files, bytes, most_files, most_bytes });
        }
        let mut synced = SyncReport::default();
        for meta in &listed {
            if let Err(e) = self.download(meta, &mut index, &mut synced) {
                synced.left.push(e.to_string());
            }
        }
        let gone: Vec<String> =
            index.keys().filter(|path| listed.iter().all(|meta| meta.path != **path)).cloned().collect();
        for path in gone {
            let at = self.files.join(&path);
            let untouched = index.get(&path).is_some_and(|known| hash_of(&at).as_ref() == Some(&known.hash));
            if untouched {
                drop(std::fs::remove_file(&at));
                synced.brought += 1;
            }
            // Even if the file was changed here: from now on it is a new file for the store.
            index.remove(&path);
        }
        self.save(&index)?;
        Ok(synced)
    }

    /// Copies the changes here to the store.
    pub fn push(&self) -> Result<SyncReport, StoreError> {
        let _lock = self.alone()?;
        let mut index = self.load();
        let mut here = Vec::new();
        let mut synced = SyncReport::default();
        walk(&self.files, &self.files, &mut here, &mut synced)?;
        for path in &here {
            let at = self.files.join(path);
            let bytes = regular_file::read(&at, LARGEST).map_err(|e| StoreError::io(&at, e))?;
            let hash = blake3::hash(&bytes).to_hex().to_string();
            let known = index.get(path);
            if known.is_some_and(|known| known.hash == hash) {
                continue;
            }
            let expect = known
                .map_or(StorePrecondition::Absent, |known| StorePrecondition::Version(known.version.clone()));
            match self.store.write(path, &bytes, &expect) {
                Ok(version) => {
                    index.insert(path.clone(), MirrorEntry { version, hash });
                    synced.carried += 1;
                }
                Err(e) => synced.left.push(e.to_string()),
            }
        }
        let gone: Vec<(String, MirrorEntry)> =
            index.iter().filter(|(p, _)| !here.contains(p)).map(|(p, k)| (p.clone(), k.clone())).collect();
        for (path, known) in gone {
            match self.store.remove(&path, &StorePrecondition::Version(known.version)) {
                Ok(()) => {
                    index.remove(&path);
                    synced.carried += 1;
                }
                Err(e) => synced.left.push(e.to_string()),
            }
        }
        self.save(&index)?;
        Ok(synced)
    }

    fn download(
        &self,
        meta: &StoreFileMeta,
        index: &mut MirrorIndex,
        synced: &mut SyncReport,
    ) -> Result<(), StoreError> {
        check_path(&meta.path)?;
        let known = index.get(&meta.path);
        if known.is_some_and(|known| known.version == meta.version) {
            return Ok(());
        }
        let at = self.files.join(&meta.path);
        if self.through_link(&meta.path) {
            synced.left.push(format!("`{}` would go through a link", meta.path));
            return Ok(());
        }
        let here = hash_of(&at);
        if here.is_some() && here != known.map(|known| known.hash.clone()) {
            synced.left.push(format!("`{}` changed here and in the store", meta.path));
            return Ok(());
        }
        let bytes = self.store.read(&meta.path)?;
        put(&at, &bytes)?;
        let hash = blake3::hash(&bytes).to_hex().to_string();
        index.insert(meta.path.clone(), MirrorEntry { version: meta.version.clone(), hash });
        synced.brought += 1;
        Ok(())
    }

    /// The lock for a synchronisation by one process: others wait for it, but not for ever.
    fn alone(&self) -> Result<std::fs::File, StoreError> {
        let fail = |e: std::io::Error| StoreError::io(&self.lock, e);
        let lock = std::fs::OpenOptions::new().create(true).append(true).open(&self.lock).map_err(fail)?;
        let since = Instant::now();
        while lock.try_lock().is_err() {
            if since.elapsed() > PATIENCE {
                return Err(StoreError::Backend(
                    "another placet has been using this mount for too long".into(),
                ));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(lock)
    }

    /// True if a component of the path is a link here: the link could lead anywhere.
    fn through_link(&self, path: &str) -> bool {
        let mut at = self.files.clone();
        path.split('/').any(|part| {
            at.push(part);
            std::fs::symlink_metadata(&at).is_ok_and(|meta| meta.file_type().is_symlink())
        })
    }

    /// An index that cannot be read counts as empty: every file is compared again, and differences are reported.
    fn load(&self) -> MirrorIndex {
        let text = regular_file::read_to_string(&self.index, LARGEST).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    fn save(&self, index: &MirrorIndex) -> Result<(), StoreError> {
        let text = serde_json::to_string(index).map_err(|e| StoreError::Backend(e.to_string()))?;
        put(&self.index, text.as_bytes())
    }
}

fn put(at: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    let fail = |e: std::io::Error| StoreError::io(at, e);
    let dir = at.parent().unwrap_or(Path::new("/"));
    std::fs::create_dir_all(dir).map_err(fail)?;
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    let mut staged = tempfile::Builder::new().permissions(mode).tempfile_in(dir).map_err(fail)?;
    staged.write_all(bytes).map_err(fail)?;
    staged.persist(at).map_err(|e| fail(e.error))?;
    Ok(())
}

/// Distinguishes a directory from one of the same name that was created later.
fn identity(dir: &Path) -> Result<String, StoreError> {
    let meta = std::fs::metadata(dir).map_err(|e| StoreError::io(dir, e))?;
    let born = meta.created().ok().and_then(|t| t.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Ok(format!("{}-{}", std::os::unix::fs::MetadataExt::ino(&meta), born.as_nanos()))
}

fn hash_of(at: &Path) -> Option<String> {
    regular_file::read(at, LARGEST).ok().map(|bytes| blake3::hash(&bytes).to_hex().to_string())
}

fn walk(root: &Path, dir: &Path, out: &mut Vec<String>, synced: &mut SyncReport) -> Result<(), StoreError> {
    let fail = |e: std::io::Error| StoreError::io(dir, e);
    for entry in std::fs::read_dir(dir).map_err(fail)? {
        let entry = entry.map_err(fail)?;
        let (path, kind) = (entry.path(), entry.file_type().map_err(fail)?);
        let name = path.strip_prefix(root).ok().and_then(Path::to_str);
        match name {
            _ if kind.is_dir() => walk(root, &path, out, synced)?,
            Some(name) if kind.is_file() => out.push(name.into()),
            _ => synced.left.push(format!("`{}` cannot be saved to a store", path.display())),
        }
    }
    Ok(())
}
