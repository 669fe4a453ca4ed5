//! What changes in the view while a background command runs reaches that command ([`super::pass`]): its server sees
//! later edits, and its watchers get their events.
//!
//! The layers below a mounted overlay must not change, and no event comes from them. So a change is written as a program
//! of the command would write it, in the view that the command sees. It gets into the command's own layer, and its state
//! is recorded: it is what the command received there.

use super::passed::PassedStates;
use crate::view::command::command_dir::OverlayMount;
use crate::view::layers::layer::Layer;
#[cfg(target_os = "linux")]
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, StatxAttributes, StatxFlags};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fmt;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Opens the root directories of a command's processes; one may be starting, or have ended.
type OpenRoots = Box<dyn Fn() -> Vec<OwnedFd> + Send + Sync>;
type IsHidden = Box<dyn Fn(&Path) -> bool + Send + Sync>;

/// The way of later changes to one running command.
pub(in crate::view) struct JobUpdates {
    open_roots: OpenRoots,
    pub(super) is_hidden: IsHidden,
    pub(super) roots: Vec<UpdatedRoot>,
    /// See [`staged_name`].
    pub(super) staged: OsString,
    /// `None` when the command has ended. Locked while something is passed on.
    pub(super) progress: Mutex<Option<UpdateProgress>>,
}

/// One root of the view, as the command sees it.
pub(super) struct UpdatedRoot {
    target: PathBuf,
    /// The command's own layer: only whether it has anything at a path.
    pub(super) upper: Layer,
    /// What was pending when the command began.
    pub(super) frozen: Vec<Layer>,
}

pub(super) struct UpdateProgress {
    /// The command's overlays, by root.
    pub(super) open: HashMap<usize, OwnedFd>,
    pub(super) passed: PassedStates,
}

impl fmt::Debug for JobUpdates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JobUpdates").field("staged", &self.staged).finish_non_exhaustive()
    }
}

/// A name for what is on its way into a command's view. Each command has its own, which is recorded next to its layer: after a
/// kill, what has this name is no change.
pub(in crate::view) fn staged_name() -> OsString {
    let half = || RandomState::new().build_hasher().finish();
    OsString::from(format!(".placet-{:016x}{:016x}.tmp", half(), half()))
}

impl JobUpdates {
    /// `mounts` are the command's, one for each root of the view, and `frozen` the directories of the layers below each.
    pub(in crate::view) fn new(
        open_roots: OpenRoots,
        is_hidden: IsHidden,
        (mounts, frozen): (&[OverlayMount], Vec<Vec<Layer>>),
        (staged, passed): (OsString, PassedStates),
    ) -> JobUpdates {
        let root = |(mount, frozen): (&OverlayMount, Vec<Layer>)| UpdatedRoot {
            target: mount.target.clone(),
            upper: Layer::at(mount.upper.clone()),
            frozen,
        };
        let roots = mounts.iter().zip(frozen).map(root).collect();
        let progress = Mutex::new(Some(UpdateProgress { open: HashMap::new(), passed }));
        JobUpdates { open_roots, is_hidden, roots, staged, progress }
    }

    /// Waits until nothing is being passed on. From now on nothing is.
    pub(in crate::view) fn end(&self) -> Option<PassedStates> {
        let progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner).take();
        progress.map(|progress| progress.passed)
    }

    /// The command's overlay of a root. `None` where no process shows it: then the command is starting or has ended, and the
    /// root directory of its process may be that of the machine.
    #[cfg(target_os = "linux")]
    pub(super) fn open(&self, progress: &mut UpdateProgress, index: usize) -> io::Result<Option<OwnedFd>> {
        if let Some(open) = progress.open.get(&index) {
            return Ok(Some(open.try_clone()?));
        }
        let Some(root) = self.roots.get(index) else { return Ok(None) };
        let own = rustix::fs::stat(&root.target)?.st_dev;
        let Ok(inside) = root.target.strip_prefix("/") else { return Ok(None) };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let overlay = |top: OwnedFd| {
            let dir = rustix::fs::openat2(&top, inside, flags, Mode::empty(), resolve).ok()?;
            let is_other = rustix::fs::fstat(&dir).ok()?.st_dev != own;
            let is_overlay = rustix::fs::fstatfs(&dir).ok()?.f_type == libc::OVERLAYFS_SUPER_MAGIC;
            let stat = rustix::fs::statx(&dir, "", AtFlags::EMPTY_PATH, StatxFlags::empty()).ok()?;
            // Not a directory of the command's own that has the same path below a root of its own.
            let is_top = stat.stx_attributes.contains(StatxAttributes::MOUNT_ROOT);
            (is_other && is_overlay && is_top).then_some(dir)
        };
        let Some(found) = (self.open_roots)().into_iter().find_map(overlay) else { return Ok(None) };
        progress.open.insert(index, found.try_clone()?);
        Ok(Some(found))
    }

    #[cfg(not(target_os = "linux"))]
    pub(super) fn open(&self, _: &mut UpdateProgress, _: usize) -> io::Result<Option<OwnedFd>> {
        let _ = (&self.open_roots, self.roots.first().map(|root| &root.target));
        Ok(None)
    }
}
