//! Staging: every new content next to its target, complete, synced and read back.

use super::failpoints::fault;
use super::open_dirs::OpenDirs;
use super::{
    ApplyStep, ContentSource, MERGEABLE, SYNC_EACH, anchor, crash_point, sync_file_system, temp_name,
};
use crate::workspace::files::path_state::{
    PathState, WritableDirGuard, dir_anyway, file_anyway, open_anyway,
};
use crate::workspace::history::journal::JournalEntry;
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

/// Stages the new contents of `steps`. `made` are the changes of which there is one, or a part of one, also after a
/// failure.
pub(super) fn all(
    objects: &ObjectStore,
    entry: &mut JournalEntry,
    steps: &[ApplyStep],
    made: &mut Vec<usize>,
) -> Result<(), PathError> {
    let each = steps.len() <= SYNC_EACH;
    let mut last = None;
    let mut dirs = OpenDirs::default();
    // Other names of a file come after the file itself.
    let (first, then): (Vec<_>, Vec<_>) = steps.iter().enumerate().partition(|(_, s)| s.twin.is_none());
    for (index, step) in first.into_iter().chain(then) {
        let fail = |error: io::Error| (step.path.clone(), error);
        let most = match step.before.is_file() {
            true => MERGEABLE,
            false if step.keep_names || steps.len() <= FEW => NEW,
            false => 0,
        };
        match keep_after(objects, step, most) {
            // Without its stored content, a new file loses only its history: an unreadable new file is applied like
            // any other.
            Err(e) if step.before.is_file() => return Err(fail(e)),
            Err(_) | Ok(()) => {}
        }
        super::old_contents::make_sure(objects, &mut dirs, step).map_err(fail)?;
        if needs_content(step) {
            let place = anchor(entry, index).ok_or_else(|| fail(io::ErrorKind::NotFound.into()))?;
            let dir = dirs.at(&place).map_err(fail)?;
            let _eased = WritableDirGuard::of(&dir);
            let name = temp_name(entry, index, "new");
            made.push(index);
            let staged = fault("stage").and_then(|()| match twin(entry, step, &dir, &name)? {
                Some(file) => Ok(StagedContent { file, in_place: false }),
                None => one(objects, step, &dir, &name),
            });
            if staged.as_ref().is_err_and(|e| e.kind() == io::ErrorKind::AlreadyExists) {
                // A file that already has this name belongs to another program.
                made.pop();
            }
            let staged = staged.map_err(fail)?;
            let node = PathState::of_file(&staged.file).map_err(fail)?;
            if node.hash() != step.after.hash() {
                return Err(fail(io::Error::other("the new content differs from what was shown")));
            }
            if staged.in_place {
                keep_before(objects, step).map_err(fail)?;
            }
            if each {
                staged.file.sync_all().map_err(fail)?;
            }
            if let Some(change) = entry.changes.get_mut(index) {
                change.in_place = staged.in_place;
                if step.fresh {
                    change.after = node;
                } else if !staged.in_place && node != step.after && step.twin.is_none() {
                    return Err(fail(io::Error::other("cannot set the mode or owner")));
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
fn keep_before(objects: &ObjectStore, step: &ApplyStep) -> io::Result<()> {
    let Some(before) = step.before.hash() else { return Ok(()) };
    objects.put_file(&mut file_anyway(&step.path)?, before, step.before.size())
}

/// The new content of a file of at most `most` bytes: for the merge that a later undo may need, and so that what the
/// person changes in it later can be distinguished from what was written here.
fn keep_after(objects: &ObjectStore, step: &ApplyStep, most: u64) -> io::Result<()> {
    let Some(after) = step.after.hash() else { return Ok(()) };
    if step.before.hash() != Some(after) && step.after.size() <= most && !objects.has(after) {
        match &step.source {
            ContentSource::Bytes(bytes) => drop(objects.put(bytes)?),
            ContentSource::Layer(path) => {
                objects.put_file(&mut file_anyway(path)?, after, step.after.size())?;
            }
            ContentSource::Object(_) | ContentSource::Nothing => {}
        }
    }
    Ok(())
}

/// A file whose content changes, or that is new.
pub(super) fn needs_content(step: &ApplyStep) -> bool {
    step.after.is_file() && !step.before.same_content(&step.after)
}

struct StagedContent {
    file: File,
    in_place: bool,
}

fn one(objects: &ObjectStore, step: &ApplyStep, dir: &OwnedFd, name: &OsStr) -> io::Result<StagedContent> {
    let several = step.keep_names && step.before.is_file() && has_more_names(&step.path);
    if let (ContentSource::Layer(path), false) = (&step.source, several)
        && link(path, dir, name)?
    {
        let file = open_named(dir, name)?;
        return Ok(StagedContent { file, in_place: false });
    }
    // The umask takes from 0o666 what new files do not get here; attributes of an old file are given
    // below.
    let flags = OFlags::CREATE | OFlags::EXCL | OFlags::RDWR | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    let mut file = File::from(rustix::fs::openat(dir, name, flags, Mode::from_raw_mode(0o666))?);
    match &step.source {
        ContentSource::Nothing => {}
        ContentSource::Bytes(bytes) => file.write_all(bytes)?,
        ContentSource::Object(hash) => objects.copy_to(*hash, &file)?,
        ContentSource::Layer(path) => crate::workspace::files::sparse::copy(&file_anyway(path)?, &file)?,
    }
    if step.fresh || several {
        return Ok(StagedContent { file, in_place: several });
    }
    let given = step.after.attrs().map_or(Ok(()), |attrs| attrs.give(&file));
    match given {
        Ok(()) => Ok(StagedContent { file, in_place: false }),
        // Only the old file can have this owner or label: writing in place preserves them.
        Err(Errno::PERM | Errno::NOTSUP) if step.before.is_file() => {
            Ok(StagedContent { file, in_place: true })
        }
        Err(e) => Err(e.into()),
    }
}

fn has_more_names(path: &Path) -> bool {
    file_anyway(path).and_then(|file| file.metadata()).is_ok_and(|meta| meta.nlink() > 1)
}

/// Another name of a file that is there, or is staged, and has this very content.
fn twin(entry: &JournalEntry, step: &ApplyStep, dir: &OwnedFd, name: &OsStr) -> io::Result<Option<File>> {
    let Some(twin) = &step.twin else { return Ok(None) };
    let staged = entry.changes.binary_search_by(|c| c.path.cmp(twin)).ok();
    let staged = staged.and_then(|at| Some((at, entry.changes.get(at)?)));
    let (from, as_name) = match staged {
        Some((at, leader)) if leader.after != leader.before => {
            let staged = leader.after == step.after && !leader.in_place;
            let Some(place) = anchor(entry, at).filter(|_| staged) else { return Ok(None) };
            (dir_anyway(&place), temp_name(entry, at, "new"))
        }
        _ => {
            let (Some(parent), Some(as_name)) = (twin.parent(), twin.file_name()) else { return Ok(None) };
            (dir_anyway(parent), as_name.to_os_string())
        }
    };
    let Ok(from) = from else { return Ok(None) };
    if PathState::read(&from, &as_name)? != step.after {
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
