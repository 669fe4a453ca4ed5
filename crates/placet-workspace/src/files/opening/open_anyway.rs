//! Opens what its owner may not open: the mode is changed for that moment and set back.

use super::open_at::SEARCH;
use crate::WorkspaceError;
#[cfg(not(target_os = "linux"))]
use crate::files::metadata::stat_fields::identity;
use crate::files::metadata::stat_fields::{mode_of, permissions};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
#[cfg(target_os = "linux")]
use std::os::fd::AsRawFd;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

/// Opens for reading what its owner has forbidden himself to read: its mode is opened for that moment alone. With the
/// mode it had, when that was needed.
pub(crate) fn open_anyway(
    dir: impl AsFd,
    name: &OsStr,
    more: OFlags,
) -> rustix::io::Result<(File, Option<u32>)> {
    let flags = more | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match rustix::fs::openat(&dir, name, flags | OFlags::RDONLY, Mode::empty()) {
        Err(Errno::ACCESS) => {}
        other => return Ok((File::from(other?), None)),
    }
    // The directory's mode may be the obstacle.
    let _eased = WritableDirGuard::of(&dir);
    open_with_mode(&dir, name, more)
}

#[cfg(target_os = "linux")]
fn open_with_mode(dir: &impl AsFd, name: &OsStr, more: OFlags) -> rustix::io::Result<(File, Option<u32>)> {
    let flags = more | OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let held = rustix::fs::openat(dir, name, flags, Mode::empty())?;
    let mode = own_mode(&rustix::fs::fstat(&held)?)?;
    // By its descriptor: a file that has the name by now is not touched.
    let own = format!("/proc/self/fd/{}", held.as_raw_fd());
    rustix::fs::chmod(&own, mode_of(mode | 0o400))?;
    let opened = rustix::fs::open(&own, more | OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    rustix::fs::chmod(&own, mode_of(mode))?;
    Ok((File::from(opened?), Some(mode)))
}

/// By its name, as nothing here names a file without opening it.
#[cfg(not(target_os = "linux"))]
fn open_with_mode(dir: &impl AsFd, name: &OsStr, more: OFlags) -> rustix::io::Result<(File, Option<u32>)> {
    use rustix::fs::AtFlags;
    let stat = rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
    let mode = own_mode(&stat)?;
    let set = |mode| rustix::fs::chmodat(dir, name, mode_of(mode), AtFlags::SYMLINK_NOFOLLOW);
    set(mode | 0o400)?;
    let flags = more | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let opened = rustix::fs::openat(dir, name, flags, Mode::empty());
    let Ok(opened) = opened else {
        set(mode)?;
        return opened.map(|opened| (File::from(opened), None));
    };
    // Another file may have the name by now.
    if identity(&rustix::fs::fstat(&opened)?) != identity(&stat) {
        return Err(Errno::ACCESS);
    }
    rustix::fs::fchmod(&opened, mode_of(mode))?;
    Ok((File::from(opened), Some(mode)))
}

/// The mode of a file or directory of the user's own.
fn own_mode(stat: &Stat) -> rustix::io::Result<u32> {
    let kind = FileType::from_raw_mode(stat.st_mode);
    let ours = stat.st_uid == rustix::process::geteuid().as_raw();
    if !ours || !matches!(kind, FileType::RegularFile | FileType::Directory) {
        return Err(Errno::ACCESS);
    }
    Ok(permissions(stat))
}

/// Opens a directory at a path without links, whatever its mode and those of the directories above it.
pub(crate) fn dir_anyway(path: &Path) -> std::io::Result<OwnedFd> {
    match (super::open::dir_at(path), path.parent(), path.file_name()) {
        (Err(WorkspaceError::Denied(_)), Some(parent), Some(name)) => {
            let parent = search_anyway(parent).map_err(as_io)?;
            Ok(open_anyway(&parent, name, OFlags::DIRECTORY)?.0.into())
        }
        (opened, _, _) => opened.map_err(as_io),
    }
}

/// Callers tell a directory that is gone from one that cannot be opened.
fn as_io(error: WorkspaceError) -> std::io::Error {
    let kind = match error {
        WorkspaceError::Missing(_) => std::io::ErrorKind::NotFound,
        WorkspaceError::NotDirectory(_) => std::io::ErrorKind::NotADirectory,
        _ => std::io::ErrorKind::Other,
    };
    std::io::Error::new(kind, error)
}

/// Opens a directory to look names up in, at a path without links, also below directories that their owner may not
/// enter. A caller that looks up a name in such a directory must hold an [`WritableDirGuard`] for it.
pub(crate) fn search_anyway(path: &Path) -> Result<OwnedFd, WorkspaceError> {
    match (super::open::search_at(path), path.parent(), path.file_name()) {
        (Err(WorkspaceError::Denied(_)), Some(parent), Some(name)) => {
            let parent = search_anyway(parent)?;
            let _eased = WritableDirGuard::of(&parent);
            let flags = SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let opened = rustix::fs::openat(&parent, name, flags, Mode::empty());
            opened.map_err(|e| WorkspaceError::from_io(path, e.into()))
        }
        (opened, _, _) => opened,
    }
}

/// Opens a regular file at a path without links for reading, whatever its mode.
pub(crate) fn file_anyway(path: &Path) -> std::io::Result<File> {
    match (super::open::open_regular(path, OFlags::RDONLY), path.parent(), path.file_name()) {
        (Err(WorkspaceError::Denied(_)), Some(parent), Some(name)) => {
            let parent = search_anyway(parent).map_err(std::io::Error::other)?;
            let (file, _) = open_anyway(&parent, name, OFlags::NONBLOCK)?;
            if file.metadata()?.is_file() { Ok(file) } else { Err(Errno::ACCESS.into()) }
        }
        (opened, _, _) => opened.map(|opened| opened.file).map_err(std::io::Error::other),
    }
}

/// Makes a directory of placet's own writable as long as this value exists, though its mode forbids writing.
#[derive(Debug)]
pub(crate) struct WritableDirGuard(Option<(OwnedFd, u32)>);

impl WritableDirGuard {
    /// For a directory that is known to be writable.
    pub(crate) fn unneeded() -> WritableDirGuard {
        WritableDirGuard(None)
    }

    pub(crate) fn of(dir: impl AsFd) -> WritableDirGuard {
        let eased = || {
            let stat = rustix::fs::fstat(&dir).ok()?;
            // Nearly always it is writable, and this runs for each of many files.
            if stat.st_mode & 0o300 == 0o300 {
                return None;
            }
            let user = rustix::process::geteuid();
            let shut = !user.is_root() && stat.st_uid == user.as_raw();
            let shut = shut && FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
            if !shut {
                return None;
            }
            let copy = dir.as_fd().try_clone_to_owned().ok()?;
            set_mode(&copy, permissions(&stat) | 0o300).ok()?;
            Some((copy, permissions(&stat)))
        };
        WritableDirGuard(eased())
    }
}

/// Sets a mode by a descriptor, which may be one that `fchmod` refuses because it only names the file.
#[cfg(target_os = "linux")]
fn set_mode(held: &OwnedFd, mode: u32) -> rustix::io::Result<()> {
    rustix::fs::chmod(format!("/proc/self/fd/{}", held.as_raw_fd()), mode_of(mode))
}

#[cfg(not(target_os = "linux"))]
fn set_mode(held: &OwnedFd, mode: u32) -> rustix::io::Result<()> {
    rustix::fs::fchmod(held, mode_of(mode))
}

impl Drop for WritableDirGuard {
    fn drop(&mut self) {
        if let Some((dir, mode)) = &self.0 {
            let _ = set_mode(dir, *mode);
        }
    }
}
