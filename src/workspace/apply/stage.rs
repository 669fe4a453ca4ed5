//! Staging: every new content next to its target, complete, synced and read back.

use super::failpoints::fault;
use super::open_dirs::OpenDirs;
use super::{
    ContentSource, MERGEABLE, SYNC_EACH, StagePlan, anchor, crash_point, sync_file_system, temp_name,
};
use crate::workspace::files::path_state::{
    PathState, WritableDirGuard, dir_anyway, file_anyway, open_anyway,
};
use crate::workspace::history::journal::{AppliedChange, JournalEntry};
use crate::workspace::history::objects::ObjectStore;
use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

pub(super) type PathError = (PathBuf, io::Error);

/// The largest new file whose content is stored next to it.
const NEW: u64 = 1 << 20;
/// A command that makes more files than this at once builds or installs something: such files are not stored twice.
const FEW: usize = 64;

/// Stages the new contents of `entry`, whose changes have a plan each. `made` are the changes of which there is one, or a part of one, also after a
/// failure.
pub(super) fn all(
    objects: &ObjectStore,
    entry: &mut JournalEntry,
    plans: &[StagePlan],
    made: &mut Vec<usize>,
) -> Result<(), PathError> {
    let each = plans.len() <= SYNC_EACH;
    let mut last = None;
    let mut dirs = OpenDirs::default();
    // Other names of a file come after the file itself.
    let in_order = [false, true].into_iter().flat_map(|is_twin| (0..plans.len()).map(move |n| (n, is_twin)));
    for (index, is_twin) in in_order {
        let (Some(change), Some(plan)) = (entry.changes.get(index), plans.get(index)) else { continue };
        if change.twin.is_some() != is_twin {
            continue;
        }
        let fail = |error: io::Error| (change.path.to_path_buf(), error);
        let most = match change.before.is_file() {
            true => MERGEABLE,
            false if plan.keep_names || plans.len() <= FEW => NEW,
            false => 0,
        };
        match keep_after(objects, change, plan, most) {
            // Without its stored content, a new file loses only its history: an unreadable new file is applied like
            // any other.
            Err(e) if change.before.is_file() => return Err(fail(e)),
            Err(_) | Ok(()) => {}
        }
        super::old_contents::make_sure(objects, &mut dirs, change).map_err(fail)?;
        if needs_content(change) {
            let place = anchor(entry, index).ok_or_else(|| fail(io::ErrorKind::NotFound.into()))?;
            let dir = dirs.at(&place).map_err(fail)?;
            let _eased = WritableDirGuard::of(&dir);
            let name = temp_name(entry, index, "new");
            made.push(index);
            let staged = fault("stage").and_then(|()| match twin(entry, change, &dir, &name)? {
                Some(file) => Ok(StagedContent { file, in_place: false }),
                None => one(objects, change, plan, &dir, &name),
            });
            if staged.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::AlreadyExists) {
                // A file that already has this name belongs to another program.
                made.pop();
            }
            let staged = staged.map_err(fail)?;
            let node = PathState::of_file(&staged.file).map_err(fail)?;
            if node.hash() != change.after.hash() {
                return Err(fail(io::Error::other("the new content differs from what was shown")));
            }
            if staged.in_place {
                keep_before(objects, change).map_err(fail)?;
            }
            if each {
                staged.file.sync_all().map_err(fail)?;
            }
            let is_as_meant = plan.fresh || staged.in_place || change.twin.is_some() || node == change.after;
            if !is_as_meant {
                return Err(fail(io::Error::other("cannot set the mode or owner")));
            }
            if let Some(change) = entry.changes.get_mut(index) {
                change.in_place = staged.in_place;
                if plan.fresh {
                    change.after = node.into();
                }
            }
            crash_point();
            last = Some(dir);
        }
    }
    let synced = objects.sync().and_then(|()| match (each, last) {
        (false, Some(dir)) => sync_file_system(&File::from(dir.try_clone()?)),
        _ => Ok(()),
    });
    synced.map_err(|e| (PathBuf::new(), e))?;
    Ok(())
}

/// The content that will be written over: it cannot be taken over afterwards, as a displaced file is.
fn keep_before(objects: &ObjectStore, change: &AppliedChange) -> io::Result<()> {
    let Some(before) = change.before.hash() else { return Ok(()) };
    objects.put_file(&mut file_anyway(&change.path)?, before, change.before.size())
}

/// The new content of a file of at most `most` bytes: for the merge that a later undo may need, and so that what the
/// person changes in it later can be distinguished from what was written here.
fn keep_after(objects: &ObjectStore, change: &AppliedChange, plan: &StagePlan, most: u64) -> io::Result<()> {
    let Some(after) = change.after.hash() else { return Ok(()) };
    if change.before.hash() != Some(after) && change.after.size() <= most && !objects.has(after) {
        match &plan.source {
            ContentSource::Bytes(bytes) => drop(objects.put(bytes)?),
            ContentSource::Layer(layer) => {
                objects.put_file(
                    &mut file_anyway(&layer.file(&change.path)?)?,
                    after,
                    change.after.size(),
                )?;
            }
            ContentSource::Stored | ContentSource::Nothing => {}
        }
    }
    Ok(())
}

/// A file whose content changes, or that is new.
fn needs_content(change: &AppliedChange) -> bool {
    change.after.is_file() && !change.before.same_content(&change.after)
}

struct StagedContent {
    file: File,
    in_place: bool,
}

fn one(
    objects: &ObjectStore,
    change: &AppliedChange,
    plan: &StagePlan,
    dir: &OwnedFd,
    name: &OsStr,
) -> io::Result<StagedContent> {
    let several = plan.keep_names && change.before.is_file() && has_more_names(&change.path);
    if let (ContentSource::Layer(layer), false) = (&plan.source, several)
        && link(&layer.file(&change.path)?, dir, name)?
    {
        let file = open_named(dir, name)?;
        return Ok(StagedContent { file, in_place: false });
    }
    // The umask takes from 0o666 what new files do not get here; attributes of an old file are given
    // below.
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o666))?);
    match &plan.source {
        ContentSource::Nothing => {}
        ContentSource::Bytes(bytes) => file.write_all(bytes)?,
        ContentSource::Stored => {
            let hash = change.after.hash().ok_or(io::ErrorKind::NotFound)?;
            objects.copy_to(hash, &file)?;
        }
        ContentSource::Layer(layer) => {
            crate::workspace::files::sparse::copy(&file_anyway(&layer.file(&change.path)?)?, &file)?
        }
    }
    if plan.fresh || several {
        return Ok(StagedContent { file, in_place: several });
    }
    let given = change.after.attrs().map_or(Ok(()), |attrs| attrs.give(&file));
    match given {
        Ok(()) => Ok(StagedContent { file, in_place: false }),
        // Only the old file can have this owner or label: writing in place preserves them.
        Err(Errno::PERM | Errno::NOTSUP) if change.before.is_file() => {
            Ok(StagedContent { file, in_place: true })
        }
        Err(e) => Err(e.into()),
    }
}

fn has_more_names(path: &Path) -> bool {
    file_anyway(path).and_then(|file| file.metadata()).is_ok_and(|meta| meta.nlink() > 1)
}

/// Another name of a file that is there, or is staged, and has this very content.
fn twin(
    entry: &JournalEntry,
    change: &AppliedChange,
    dir: &OwnedFd,
    name: &OsStr,
) -> io::Result<Option<File>> {
    let Some(twin) = &change.twin else { return Ok(None) };
    let staged = entry.changes.binary_search_by(|c| c.path.cmp(twin)).ok();
    let staged = staged.and_then(|at| Some((at, entry.changes.get(at)?)));
    let (from, as_name) = match staged {
        Some((at, leader)) if leader.after != leader.before => {
            let staged = leader.after == change.after && !leader.in_place;
            let Some(place) = anchor(entry, at).filter(|_| staged) else { return Ok(None) };
            (dir_anyway(&place), temp_name(entry, at, "new"))
        }
        _ => {
            let (Some(parent), Some(as_name)) = (twin.parent(), twin.file_name()) else { return Ok(None) };
            (dir_anyway(parent), as_name.to_os_string())
        }
    };
    let Ok(from) = from else { return Ok(None) };
    if PathState::read(&from, &as_name)? != change.after {
        return Ok(None);
    }
    match rustix::fs::linkat(&from, &as_name, dir, name, AtFlags::empty()) {
        Ok(()) => Ok(Some(open_named(dir, name)?)),
        Err(Errno::XDEV | Errno::PERM | Errno::MLINK | Errno::NOTSUP | Errno::NOENT) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

fn link(from: &Path, dir: &OwnedFd, name: &OsStr) -> io::Result<bool> {
    match rustix::fs::linkat(rustix::fs::CWD, from, dir, name, AtFlags::empty()) {
        Ok(()) => Ok(true),
        // Another file system, no links there, or the kernel's `protected_hardlinks`: the content is
        // copied.
        Err(Errno::XDEV | Errno::PERM | Errno::MLINK | Errno::NOTSUP) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

fn open_named(dir: &OwnedFd, name: &OsStr) -> io::Result<File> {
    Ok(open_anyway(dir, name, OFlags::NONBLOCK)?.0)
}

/// Removes the staged contents of these changes.
pub(super) fn clear(entry: &JournalEntry, made: impl IntoIterator<Item = usize>) {
    let mut dirs = OpenDirs::default();
    for index in made {
        let Some(dir) = anchor(entry, index).and_then(|place| dirs.at(&place).ok()) else { continue };
        let _eased = WritableDirGuard::of(&dir);
        let _ = rustix::fs::unlinkat(&*dir, temp_name(entry, index, "new"), AtFlags::empty());
    }
}
