//! The mounts of a session: which prefix of paths belongs to which store. Synchronises their mirrors.

use super::{StoreError, StoreMirror, SyncReport};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Paths that begin with `prefix` are in this store.
pub struct StoreMount {
    /// With a slash at both ends: `/memories/`.
    pub prefix: String,
    place: MountBacking,
    ready: OnceLock<Result<(), Arc<StoreError>>>,
    fresh: MountRefresh,
}

/// How often the store is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MountRefresh {
    Once,
    Always,
}

enum MountBacking {
    /// A directory is its own mirror.
    Directory(PathBuf),
    Mirrored(StoreMirror),
}

impl StoreMount {
    pub fn directory(prefix: &str, dir: PathBuf) -> StoreMount {
        StoreMount {
            prefix: slashed(prefix),
            place: MountBacking::Directory(dir),
            ready: OnceLock::new(),
            fresh: MountRefresh::Once,
        }
    }

    pub fn mirrored(prefix: &str, mirror: StoreMirror) -> StoreMount {
        StoreMount {
            prefix: slashed(prefix),
            place: MountBacking::Mirrored(mirror),
            ready: OnceLock::new(),
            fresh: MountRefresh::Once,
        }
    }

    /// Reads the store before every use: for a store that also changes by other means in the same session.
    #[must_use]
    pub fn always_fresh(self) -> StoreMount {
        StoreMount { fresh: MountRefresh::Always, ..self }
    }

    /// The directory of its files for tools and commands.
    pub fn dir(&self) -> &Path {
        match &self.place {
            MountBacking::Directory(dir) => dir,
            MountBacking::Mirrored(mirror) => mirror.files(),
        }
    }

    /// Copies the store's files into the mirror.
    fn ready(&self) -> Result<(), Arc<StoreError>> {
        let bring = || match &self.place {
            MountBacking::Directory(_) => Ok(()),
            MountBacking::Mirrored(mirror) => match mirror.pull() {
                Err(e) => Err(Arc::new(e)),
                Ok(synced) if synced.left.is_empty() => Ok(()),
                Ok(synced) => {
                    tracing::warn!("mount {}: {}", self.prefix, synced.left.join("; "));
                    Ok(())
                }
            },
        };
        match (self.fresh, self.ready.get()) {
            (MountRefresh::Always, Some(_)) => bring(),
            _ => self.ready.get_or_init(bring).clone(),
        }
    }
}

fn slashed(prefix: &str) -> String {
    match prefix.trim_matches('/') {
        "" => "/".into(),
        inner => format!("/{inner}/"),
    }
}

/// See the module.
#[derive(Default)]
pub struct StoreMounts(Vec<StoreMount>);

impl StoreMounts {
    /// The longest prefixes come first.
    pub fn new(mut mounts: Vec<StoreMount>) -> StoreMounts {
        mounts.sort_by_key(|mount| std::cmp::Reverse(mount.prefix.len()));
        StoreMounts(mounts)
    }

    pub fn iter(&self) -> impl Iterator<Item = &StoreMount> {
        self.0.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Ensures that the files behind `path` are in the mirror, if it is a mounted path.
    pub fn ready_for(&self, path: &str) -> Result<(), StoreError> {
        match self.0.iter().find(|mount| covers(&mount.prefix, path)) {
            Some(mount) => mount.ready().map_err(StoreError::Mount),
            None => Ok(()),
        }
    }

    /// Ensures this for all mounts: before a command, which may read anywhere.
    pub fn ready(&self) -> Result<(), StoreError> {
        self.0.iter().try_for_each(|mount| mount.ready().map_err(StoreError::Mount))
    }

    /// Copies the applied changes of the mounts that were used to their stores. A file that could not be copied remains
    /// here, is reported, and is tried again next time.
    pub fn push(&self) -> Vec<String> {
        self.upload(|mount| mount.ready.get().is_some_and(Result::is_ok))
    }

    /// The same for all mounts: after pending changes were applied, or undone, perhaps by another process.
    pub fn push_all(&self) -> Vec<String> {
        self.upload(|_| true)
    }

    fn upload(&self, wanted: impl Fn(&StoreMount) -> bool) -> Vec<String> {
        let mut told = Vec::new();
        for mount in self.0.iter().filter(|mount| wanted(mount)) {
            let MountBacking::Mirrored(mirror) = &mount.place else { continue };
            match mirror.push() {
                Ok(SyncReport { left, .. }) => {
                    told.extend(left.into_iter().map(|why| format!("{}: {why}", mount.prefix)));
                }
                Err(e) => told.push(format!("{}: {e}", mount.prefix)),
            }
        }
        told
    }
}

fn covers(prefix: &str, path: &str) -> bool {
    path.starts_with(prefix) || prefix.trim_end_matches('/') == path
}
