//! The directory of a running command.

use super::layer::{Layer, dir_flags, remove_dir_all};
use rustix::fs::{FlockOperation, Mode};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// One overlay: topmost lower directory first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayMount {
    pub target: PathBuf,
    pub lowers: Vec<PathBuf>,
    pub upper: PathBuf,
    pub work: PathBuf,
}

/// A directory for one command, with a lock on it for as long as the command's view is there. Pids do not say whether
/// it is in use: another pid namespace counts on its own.
#[derive(Debug)]
pub(super) struct CommandDir {
    path: PathBuf,
    _lock: OwnedFd,
}

impl CommandDir {
    pub(super) fn make(base: &Path) -> io::Result<CommandDir> {
        use std::os::unix::fs::DirBuilderExt;
        static COUNT: AtomicU64 = AtomicU64::new(0);
        loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let path = base.join(format!("run-{}-{count}", std::process::id()));
            match std::fs::DirBuilder::new().mode(0o700).create(&path) {
                // Another pid namespace counts processes on its own, so the name may be taken.
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made?,
            }
            let lock = rustix::fs::open(&path, dir_flags(), Mode::empty())?;
            rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive)?;
            return Ok(CommandDir { path, _lock: lock });
        }
    }

    /// The directory of a command whose process no longer exists. `None` while a process has it.
    pub(super) fn take_over(path: PathBuf) -> Option<CommandDir> {
        let lock = rustix::fs::open(&path, dir_flags(), Mode::empty()).ok()?;
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).ok()?;
        Some(CommandDir { path, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives it a name under which it is not swept.
    pub(super) fn keep(&mut self) -> io::Result<PathBuf> {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut number = 0;
        let kept = loop {
            let kept = self.path.with_file_name(format!("kept-{name}-{number}"));
            if !kept.exists() {
                break kept;
            }
            number += 1;
        };
        std::fs::rename(&self.path, &kept)?;
        Ok(kept)
    }
}

impl Drop for CommandDir {
    fn drop(&mut self) {
        if self.path.exists() {
            drop(remove_dir_all(&self.path));
        }
    }
}

/// Only its owner may read a layer: it may contain what the workspace hides from others.
pub(super) fn private(dir: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)
}

pub(super) fn make(target: &Path, lowers: Vec<PathBuf>, place: &Path) -> io::Result<OverlayMount> {
    let (upper, work) = (place.join("upper"), place.join("work"));
    crate::private::make_dir(&work)?;
    // A command sees the topmost directory's mode.
    let layer = Layer::at(upper.clone());
    layer.open_like(lowers.first().map_or(target, PathBuf::as_path))?;
    Ok(OverlayMount { target: target.to_path_buf(), lowers, upper, work })
}
