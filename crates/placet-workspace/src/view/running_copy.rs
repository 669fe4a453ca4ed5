//! What changes in the view while a background command runs reaches that command: its server sees later edits, and its
//! watchers get their events.
//!
//! The layers below a mounted overlay must not change, and no event comes from them. So a change is written as a program
//! of the command would write it: in the overlay that the command sees, through the root directory of one of its
//! processes. It lands in the command's own layer, and a copy of it is kept beside the copies of the layers
//! ([`super::layer_snapshot::LayerSnapshot::passed`]). When the command has ended, what still equals that copy was not its doing; what differs
//! was changed by the command after it had got it.
//!
//! A path that the command has changed itself is left to the merge at its end. Of a repository nothing is passed on: a part
//! of it is worse than all of it as it was.

use super::View;
use super::layer::{
    self, Layer, LayerLookup, copy_one, entry, is_dir, is_opaque, is_whiteout, list, open_dir,
};
use super::layer_snapshot::RunningCopy;
use super::stack::{ContentLocation, LayerStack};
use crate::files::atomic_write::fresh_name;
use crate::files::path_state::{PathState, WritableDirGuard};
#[cfg(target_os = "linux")]
use rustix::fs::ResolveFlags;
use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, Weak};

/// The most paths of one change that are passed on, and the largest file in bytes: for more, the command is started again.
const MOST_PATHS: usize = 1000;
const LARGEST: u64 = 16 << 20;

/// What became of one path.
enum PassOutcome {
    Passed,
    /// The command has changed the path itself, or is about to.
    ItsOwn,
}

impl View {
    /// This command gets what changes from now on.
    pub(super) fn add_follower(&self, running: &Arc<RunningCopy>) {
        self.running().push(Arc::downgrade(running));
    }

    fn running(&self) -> std::sync::MutexGuard<'_, Vec<Weak<RunningCopy>>> {
        self.0.commands.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether any background command gets what changes.
    pub(super) fn has_followers(&self) -> bool {
        self.running().iter().any(|one| one.strong_count() > 0)
    }

    /// Passes the present state of these paths on to the background commands that run. A path that cannot be passed on is
    /// logged: the command sees it as before, and the merge at its end is right all the same.
    pub(super) fn pass_on<'a>(&self, paths: impl IntoIterator<Item = &'a Path>) {
        let running: Vec<Arc<RunningCopy>> = {
            let mut running = self.running();
            running.retain(|one| one.strong_count() > 0);
            running.iter().filter_map(Weak::upgrade).collect()
        };
        if running.is_empty() {
            return;
        }
        let paths: Vec<&Path> = paths.into_iter().take(MOST_PATHS + 1).collect();
        if paths.len() > MOST_PATHS {
            tracing::warn!("a change of more than {MOST_PATHS} paths does not reach the background commands");
            return;
        }
        for one in running {
            let is_over = one.is_over.lock().unwrap_or_else(PoisonError::into_inner);
            if *is_over {
                continue;
            }
            let open: Vec<Option<OwnedFd>> = (0..one.mounts.len()).map(|index| one.open(index)).collect();
            for path in &paths {
                let Some((index, rel)) = self.locate(path) else { continue };
                let Some(Some(root)) = open.get(index) else { continue };
                if rel.iter().any(|name| name == ".git") {
                    continue;
                }
                if let Err(e) = one.pass(self, root, (index, &rel)) {
                    tracing::warn!("`{}` does not reach a background command: {e}", path.display());
                }
            }
        }
    }
}

impl RunningCopy {
    /// What the command saw before it changed anything itself.
    fn with_seen<T>(&self, view: &View, index: usize, use_it: impl FnOnce(&LayerStack<'_>) -> T) -> T {
        let seen: Vec<Layer> =
            self.seen.get(index).into_iter().flatten().map(|dir| Layer::at(dir.clone())).collect();
        let layers = self.passed.get(index).into_iter().chain(&seen).collect();
        use_it(&LayerStack { layers, root: view.root(index) })
    }

    fn pass(&self, view: &View, root: &OwnedFd, (index, rel): (usize, &Path)) -> io::Result<()> {
        let (Some(mount), Some(passed)) = (self.mounts.get(index), self.passed.get(index)) else {
            return Ok(());
        };
        let now = view.stack(index, 1).node(rel)?;
        let known = self.with_seen(view, index, |seen| match seen.backing(rel)? {
            ContentLocation::Plain => Ok::<_, io::Error>(None),
            _ => seen.node(rel).map(Some),
        })?;
        let is_small = matches!(now, PathState::Absent | PathState::Link { .. }) || now.is_file();
        if known.as_ref() == Some(&now) || !is_small || now.size() > LARGEST {
            return Ok(());
        }
        let upper = Layer::at(mount.upper.clone());
        let Some(dir) = parent_inside(root, rel, now.is_absent(), &|dir| view.stack(index, 1).node(dir))?
        else {
            return Ok(());
        };
        let name = rel.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let before = PathState::read(&dir, name)?;
        if before.is_directory() || !is_untouched(&upper, passed, rel)? {
            return Ok(());
        }
        let outcome = match &now {
            PathState::Absent => self.take_away(&dir, (&upper, rel), &before)?,
            _ => {
                let from = view.stack(index, 1).real(rel)?.ok_or(io::ErrorKind::NotFound)?;
                let from_dir = open_dir(from.parent().ok_or(io::ErrorKind::NotFound)?)?;
                let staged = fresh_name();
                let put = copy_one(&from_dir, name, &dir, &staged)
                    .and_then(|()| self.is_in_layer(&upper, &rel.with_file_name(&staged)))
                    .and_then(|()| put_in_place(&dir, (&staged, name), &before));
                if !matches!(put, Ok(PassOutcome::Passed)) {
                    let _ = rustix::fs::unlinkat(&dir, &staged, AtFlags::empty());
                }
                put?
            }
        };
        match outcome {
            PassOutcome::Passed => self.remember(view, (index, rel), &now),
            PassOutcome::ItsOwn => Ok(()),
        }
    }

    /// Removes a name, if `before` is still there.
    fn take_away(
        &self,
        dir: &OwnedFd,
        (upper, rel): (&Layer, &Path),
        before: &PathState,
    ) -> io::Result<PassOutcome> {
        let name = rel.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        if before.is_absent() {
            return Ok(PassOutcome::ItsOwn);
        }
        let aside = fresh_name();
        rustix::fs::renameat_with(dir, name, dir, &aside, RenameFlags::NOREPLACE)?;
        let own = self.is_in_layer(upper, &rel.with_file_name(&aside));
        if own.is_err() || PathState::read(dir, &aside)? != *before {
            rustix::fs::renameat_with(dir, &aside, dir, name, RenameFlags::NOREPLACE)?;
            return own.map(|()| PassOutcome::ItsOwn);
        }
        rustix::fs::unlinkat(dir, &aside, AtFlags::empty())?;
        Ok(PassOutcome::Passed)
    }

    /// What was written must be in the command's own layer and nowhere else.
    fn is_in_layer(&self, upper: &Layer, rel: &Path) -> io::Result<()> {
        upper.recheck();
        match upper.find(rel)? {
            LayerLookup::Here { .. } => Ok(()),
            _ => Err(io::Error::other("the directory is not the command's own layer")),
        }
    }

    /// Keeps a copy of what the command got.
    fn remember(&self, view: &View, (index, rel): (usize, &Path), now: &PathState) -> io::Result<()> {
        let (Some(mount), Some(passed)) = (self.mounts.get(index), self.passed.get(index)) else {
            return Ok(());
        };
        let attrs = |dir: &Path| view.stack(index, 1).node(dir).ok().and_then(|node| node.attrs().cloned());
        let name = rel.file_name().ok_or(io::ErrorKind::IsADirectory)?;
        let to = passed.parent(rel, view.root(index), &attrs)?;
        Layer::clear(&to, name)?;
        if now.is_absent() {
            return match self.with_seen(view, index, |seen| seen.stat(rel))? {
                Some(_) => Layer::whiteout(&to, name),
                None => Ok(()),
            };
        }
        let from = mount.upper.join(rel);
        copy_one(&open_dir(from.parent().ok_or(io::ErrorKind::NotFound)?)?, name, &to, name)
    }
}

/// True where the command's layer has nothing at the path but what was passed on.
fn is_untouched(upper: &Layer, passed: &Layer, rel: &Path) -> io::Result<bool> {
    upper.recheck();
    Ok(match (upper.find(rel)?, passed.find(rel)?) {
        (LayerLookup::Through, _) | (LayerLookup::Gone, LayerLookup::Gone) => true,
        (LayerLookup::Here { .. }, LayerLookup::Here { .. }) => {
            super::stack::node_at(&upper.dir().join(rel))? == super::stack::node_at(&passed.dir().join(rel))?
        }
        _ => false,
    })
}

/// The directory of a path in the command's overlay, made where it is missing. `None` where it is missing and the path is
/// to go, and where the command has something else there.
fn parent_inside(
    root: &OwnedFd,
    rel: &Path,
    is_gone: bool,
    node: &dyn Fn(&Path) -> io::Result<PathState>,
) -> io::Result<Option<OwnedFd>> {
    let mut at = rustix::io::fcntl_dupfd_cloexec(root, 0)?;
    let mut path = PathBuf::new();
    for name in rel.parent().map(layer::names).unwrap_or_default() {
        path.push(name);
        at = match enter_inside(&at, name) {
            Ok(dir) => dir,
            Err(Errno::NOENT) if is_gone => return Ok(None),
            Err(Errno::NOENT) => {
                let mode = match node(&path)? {
                    PathState::Directory { attrs } => attrs.mode,
                    _ => return Ok(None),
                };
                rustix::fs::mkdirat(&at, name, Mode::from_raw_mode(0o700))?;
                let made = enter_inside(&at, name)?;
                rustix::fs::fchmod(&made, Mode::from_raw_mode(mode))?;
                made
            }
            Err(Errno::NOTDIR | Errno::LOOP | Errno::XDEV) => return Ok(None),
            Err(e) => return Err(e.into()),
        };
    }
    Ok(Some(at))
}

/// A place that is hidden from the command is another mount.
#[cfg(target_os = "linux")]
fn enter_inside(at: &OwnedFd, name: &OsStr) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    rustix::fs::openat2(at, name, flags, Mode::empty(), resolve)
}

#[cfg(not(target_os = "linux"))]
fn enter_inside(_: &OwnedFd, _: &OsStr) -> rustix::io::Result<OwnedFd> {
    Err(Errno::NOSYS)
}

/// Gives the staged file its name, if `before` is still there.
fn put_in_place(
    dir: &OwnedFd,
    (staged, name): (&OsStr, &OsStr),
    before: &PathState,
) -> io::Result<PassOutcome> {
    if before.is_absent() {
        return match rustix::fs::renameat_with(dir, staged, dir, name, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(PassOutcome::Passed),
            Err(Errno::EXIST) => Ok(PassOutcome::ItsOwn),
            Err(e) => Err(e.into()),
        };
    }
    rustix::fs::renameat_with(dir, staged, dir, name, RenameFlags::EXCHANGE)?;
    // The command may have written between the look and the exchange: then it gets its own file back.
    if PathState::read(dir, staged)? != *before {
        rustix::fs::renameat_with(dir, staged, dir, name, RenameFlags::EXCHANGE)?;
        return Ok(PassOutcome::ItsOwn);
    }
    rustix::fs::unlinkat(dir, staged, AtFlags::empty())?;
    Ok(PassOutcome::Passed)
}

/// Takes out of an ended command's layer what others passed on and the command left as it was.
pub(super) fn drop_passed(passed: &OwnedFd, upper: &OwnedFd) -> io::Result<()> {
    for name in list(passed)? {
        let (Some(got), Some(has)) = (entry(passed, &name)?, entry(upper, &name)?) else { continue };
        if is_whiteout(&got) || is_whiteout(&has) {
            if is_whiteout(&got) && is_whiteout(&has) {
                Layer::clear(upper, &name)?;
            }
        } else if is_dir(&got) {
            if is_dir(&has) {
                let (got_dir, has_dir) = (enter(passed, &name)?, enter(upper, &name)?);
                drop_passed(&got_dir, &has_dir)?;
                if got.st_mode == has.st_mode && !is_opaque(&has_dir)? && list(&has_dir)?.is_empty() {
                    let _eased = WritableDirGuard::of(upper);
                    rustix::fs::unlinkat(upper, &name, AtFlags::REMOVEDIR)?;
                }
            }
        } else if PathState::read(passed, &name)? == PathState::read(upper, &name)? {
            Layer::clear(upper, &name)?;
        }
    }
    Ok(())
}

fn enter(dir: &OwnedFd, name: &OsStr) -> io::Result<OwnedFd> {
    let (file, _) = crate::files::path_state::open_anyway(dir, name, OFlags::DIRECTORY)?;
    Ok(OwnedFd::from(file))
}
