//! A copy of the layers as a background command found them.

use super::command_dir::{CommandDir, OverlayMount};
use super::layer::Layer;
#[cfg(target_os = "linux")]
use rustix::fs::{Mode, OFlags, ResolveFlags};
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

/// The layers as they were when a command began. They exist as long as the command runs.
#[derive(Debug)]
pub(super) struct LayerSnapshot {
    pub(super) dir: CommandDir,
    /// For each root, the topmost first.
    pub(super) roots: Vec<Vec<Layer>>,
    /// Milliseconds since 1970.
    pub(super) at: u64,
    /// Through which the command gets what changes meanwhile.
    pub(super) running: Option<Arc<RunningCopy>>,
}

impl LayerSnapshot {
    pub(super) fn new(dir: CommandDir, roots: Vec<Vec<Layer>>, at: u64) -> LayerSnapshot {
        LayerSnapshot { dir, roots, at, running: None }
    }

    /// The place of the copy of a layer: the topmost has the number 1.
    pub(super) fn copy(&self, index: usize, number: usize) -> PathBuf {
        self.dir.path().join(format!("{index}-{number}"))
    }

    /// What was passed on to the command in a root, as a layer above the others: it is made with the first change.
    pub(super) fn passed(&self, index: usize) -> Layer {
        Layer::at(self.copy(index, 0))
    }
}

/// Opens the root directories of a command's processes; any may be gone, or be another process's by now.
type OpenRoots = Box<dyn Fn() -> Vec<OwnedFd> + Send + Sync>;

/// The overlays that a running command sees.
pub(super) struct RunningCopy {
    pub(super) roots: OpenRoots,
    pub(super) mounts: Vec<OverlayMount>,
    /// The copies of the layers that the command sees, for each root.
    pub(super) seen: Vec<Vec<PathBuf>>,
    pub(super) passed: Vec<Layer>,
    /// Nothing is passed on any more. Locked while something is.
    pub(super) is_over: Mutex<bool>,
}

impl fmt::Debug for RunningCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RunningCopy").field("mounts", &self.mounts).finish_non_exhaustive()
    }
}

impl RunningCopy {
    /// `seen` are the copies of the layers that the command sees, and `passed` those for what it gets, one for each of its
    /// mounts.
    pub(super) fn new(
        roots: impl Fn() -> Vec<OwnedFd> + Send + Sync + 'static,
        mounts: Vec<OverlayMount>,
        seen: Vec<Vec<PathBuf>>,
        passed: Vec<Layer>,
    ) -> RunningCopy {
        RunningCopy { roots: Box::new(roots), mounts, seen, passed, is_over: Mutex::new(false) }
    }

    /// Waits until nothing is being passed on. From now on nothing is.
    pub(super) fn end(&self) {
        *self.is_over.lock().unwrap_or_else(PoisonError::into_inner) = true;
    }

    /// The command's overlay of a root. `None` where no process shows it: then the command is starting or has ended, and the
    /// root directory of its process may be that of the machine.
    #[cfg(target_os = "linux")]
    pub(super) fn open(&self, index: usize) -> Option<OwnedFd> {
        let target = &self.mounts.get(index)?.target;
        let own = rustix::fs::stat(target).ok()?.st_dev;
        let inside = target.strip_prefix("/").ok()?;
        (self.roots)().into_iter().find_map(|root| {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
            let dir = rustix::fs::openat2(&root, inside, flags, Mode::empty(), resolve).ok()?;
            let is_other = rustix::fs::fstat(&dir).ok()?.st_dev != own;
            let is_overlay = rustix::fs::fstatfs(&dir).ok()?.f_type == libc::OVERLAYFS_SUPER_MAGIC;
            (is_other && is_overlay).then_some(dir)
        })
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn open(&self, _: usize) -> Option<OwnedFd> {
        None
    }
}
