//! Makes the mounts of the settings. Nothing is opened or requested before one of their paths is used.

use super::AppError;
use crate::config::{AppDirs, Config, ConfigProblem, MountSettings};
use crate::session::{ScratchpadEntry, ScratchpadError, Scratchpads};
use crate::storage::{
    FileStore, MemoryStore, SqliteStore, StoreError, StoreFileMeta, StoreMirror, StoreMount, StoreMounts,
    StorePrecondition,
};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

pub struct AppMounts {
    pub stores: Arc<StoreMounts>,
    /// The scratchpads of the conversation, where they are mounted.
    pub(super) pads: Arc<ScratchpadMount>,
}

impl AppMounts {
    /// Every `[mounts.NAME]` of the settings. One without a path or a store is reported as a mistake of the settings.
    pub(super) fn read(config: &mut Config, paths: &AppDirs) -> Result<AppMounts, AppError> {
        let (mut mounts, pads) = (Vec::new(), Arc::new(ScratchpadMount::default()));
        for (name, settings) in config.mounts() {
            let (Some(prefix), Some(address)) = (&settings.path, &settings.store) else {
                let message = format!("mounts.{name} needs both `path` and `store`; it is ignored");
                config.problems.push(ConfigProblem { place: None, message, hint: None, permission: false });
                continue;
            };
            let made = make((&name, prefix, address), &settings, paths, &pads);
            mounts.push(made.map_err(|error| AppError::Mount { name: name.clone(), error })?);
        }
        Ok(AppMounts { stores: Arc::new(StoreMounts::new(mounts)), pads })
    }
}

fn make(
    (name, prefix, address): (&str, &str, &str),
    settings: &MountSettings,
    paths: &AppDirs,
    pads: &Arc<ScratchpadMount>,
) -> Result<StoreMount, StoreError> {
    let dir = paths.data.join("mounts").join(name);
    let mirrored =
        |store: Arc<dyn FileStore>| Ok(StoreMount::mirrored(prefix, StoreMirror::new(store, &dir)?));
    match address.split_once(':') {
        Some(("dir", place)) => {
            let place = PathBuf::from(place);
            std::fs::create_dir_all(&place).map_err(|error| StoreError::Io { path: place.clone(), error })?;
            Ok(StoreMount::directory(prefix, place))
        }
        Some(("sqlite", store)) if !store.is_empty() => {
            mirrored(Arc::new(SqliteStore::open(&paths.data.join("stores.db"), store)?))
        }
        Some(("s3" | "fs", _)) => mirrored(object(address, settings)?),
        None if address == "memory" => {
            // What an earlier process left is not remembered by this store.
            drop(std::fs::remove_dir_all(&dir));
            mirrored(Arc::new(MemoryStore::default()))
        }
        None if address == "scratchpads" => {
            // An earlier conversation left the directory: its scratchpads are not those of this conversation.
            drop(std::fs::remove_dir_all(&dir));
            let mirror = StoreMirror::new(Arc::clone(pads) as Arc<dyn FileStore>, &dir)?;
            Ok(StoreMount::mirrored(prefix, mirror).always_fresh())
        }
        _ => Err(StoreError::Address(address.into())),
    }
}

/// The scratchpads of the current conversation, as a store.
#[derive(Default)]
pub(super) struct ScratchpadMount(Mutex<Option<Arc<Scratchpads>>>);

impl ScratchpadMount {
    pub(super) fn are(&self, scratchpads: &Arc<Scratchpads>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(scratchpads));
    }

    fn now(&self) -> Result<Arc<Scratchpads>, StoreError> {
        let now = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        now.ok_or_else(|| StoreError::Backend("no conversation".into()))
    }
}

fn bytes_of(entry: ScratchpadEntry) -> Vec<u8> {
    match entry {
        ScratchpadEntry::Text(text) => text.into_bytes(),
        ScratchpadEntry::Image(image) => image.bytes.to_vec(),
    }
}

fn version(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn to_store_error(error: ScratchpadError) -> StoreError {
    StoreError::Backend(error.to_string())
}

/// Scratchpads keep no times: all are of the beginning of time.
impl FileStore for ScratchpadMount {
    fn list(&self, prefix: &str) -> Result<Vec<StoreFileMeta>, StoreError> {
        let pads = self.now()?;
        let names = pads.list().into_iter().map(|(name, _)| name).filter(|name| name.starts_with(prefix));
        let meta = |name: String| {
            let bytes = bytes_of(pads.get(&name).map_err(to_store_error)?);
            let never = jiff::Timestamp::UNIX_EPOCH;
            let (size, version) = (bytes.len() as u64, version(&bytes));
            Ok(StoreFileMeta { path: name, size, created: never, modified: never, version })
        };
        names.map(meta).collect()
    }

    fn read(&self, path: &str) -> Result<Vec<u8>, StoreError> {
        self.now()?.get(path).map(bytes_of).map_err(|_| StoreError::Missing(path.into()))
    }

    fn write(&self, path: &str, bytes: &[u8], expect: &StorePrecondition) -> Result<String, StoreError> {
        let there = self.read(path).ok().map(|bytes| version(&bytes));
        let holds = match (&there, expect) {
            (None, StorePrecondition::Absent) => true,
            (Some(there), StorePrecondition::Version(wanted)) => there == wanted,
            _ => false,
        };
        if !holds {
            return Err(StoreError::Changed(path.into()));
        }
        let text = String::from_utf8(bytes.to_vec())
            .map_err(|_| StoreError::Backend(format!("`{path}` is not text: scratchpads are text files")))?;
        self.now()?.put(path, ScratchpadEntry::Text(text)).map_err(to_store_error)?;
        Ok(version(bytes))
    }

    fn remove(&self, path: &str, _: &StorePrecondition) -> Result<(), StoreError> {
        drop(self.now()?.delete(path));
        Ok(())
    }
}

#[cfg(not(feature = "object-storage"))]
fn object(_: &str, _: &MountSettings) -> Result<Arc<dyn FileStore>, StoreError> {
    Err(StoreError::NotBuilt)
}

#[cfg(feature = "object-storage")]
fn object(address: &str, settings: &MountSettings) -> Result<Arc<dyn FileStore>, StoreError> {
    use crate::storage::{ObjectStoreSettings, OpendalStore};
    if let Some(dir) = address.strip_prefix("fs:") {
        return Ok(Arc::new(OpendalStore::fs(dir)?));
    }
    let place = address.strip_prefix("s3://").ok_or_else(|| StoreError::Address(address.into()))?;
    let (bucket, prefix) = place.split_once('/').unwrap_or((place, ""));
    let settings = ObjectStoreSettings {
        bucket: bucket.into(),
        prefix: prefix.into(),
        endpoint: settings.endpoint.clone(),
        region: Some(settings.region.clone()),
        access_key: std::env::var(&settings.access_key_env).ok(),
        secret_key: std::env::var(&settings.secret_key_env).ok(),
    };
    Ok(Arc::new(OpendalStore::s3(&settings)?))
}
