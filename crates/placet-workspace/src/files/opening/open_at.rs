//! Opens an absolute path link by link, never following one.

use crate::{SpecialFile, WorkspaceError};
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::Path;

/// An open regular file.
#[derive(Debug)]
pub struct OpenedFile {
    pub file: File,
    pub size: u64,
    pub stat: Stat,
}

impl OpenedFile {
    pub fn read_all(&mut self, path: &Path, most: u64) -> Result<Vec<u8>, WorkspaceError> {
        let large = |size| WorkspaceError::TooLarge { path: path.to_path_buf(), size, most };
        if self.size > most {
            return Err(large(self.size));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(self.size).unwrap_or(0) + 1);
        // One byte more than allowed shows that a file grew, or never had the size it gave (as in /proc).
        let read = (&mut self.file).take(most + 1).read_to_end(&mut bytes);
        read.map_err(|e| WorkspaceError::from_io(path, e))?;
        if bytes.len() as u64 > most { Err(large(bytes.len() as u64)) } else { Ok(bytes) }
    }
}

/// Opens a regular file at a path without links.
pub(crate) fn open_regular(path: &Path, flags: OFlags) -> Result<OpenedFile, WorkspaceError> {
    let fd = open_plain(path, flags | OFlags::NONBLOCK | OFlags::NOCTTY)?;
    let stat = rustix::fs::fstat(&fd).map_err(|e| WorkspaceError::from_io(path, e.into()))?;
    match special(&stat) {
        FileKind::Regular => {
            Ok(OpenedFile { file: File::from(fd), size: u64::try_from(stat.st_size).unwrap_or(0), stat })
        }
        FileKind::Directory => Err(WorkspaceError::Directory(path.to_path_buf())),
        FileKind::Special(kind) => Err(WorkspaceError::Special { path: path.to_path_buf(), kind }),
    }
}

pub(crate) enum FileKind {
    Regular,
    Directory,
    Special(SpecialFile),
}

pub(crate) fn special(stat: &Stat) -> FileKind {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => FileKind::Regular,
        FileType::Directory => FileKind::Directory,
        FileType::Fifo => FileKind::Special(SpecialFile::Fifo),
        FileType::Socket => FileKind::Special(SpecialFile::Socket),
        FileType::CharacterDevice => FileKind::Special(SpecialFile::CharacterDevice),
        FileType::BlockDevice => FileKind::Special(SpecialFile::BlockDevice),
        FileType::Symlink | FileType::Unknown => FileKind::Special(SpecialFile::Unknown),
    }
}

/// What a file that is neither file, directory nor link is called.
pub(crate) fn special_words(stat: &Stat) -> &'static str {
    match special(stat) {
        FileKind::Special(kind) => kind.words(),
        _ => SpecialFile::Unknown.words(),
    }
}

pub(crate) fn dir_at(path: &Path) -> Result<OwnedFd, WorkspaceError> {
    open_plain(path, OFlags::RDONLY | OFlags::DIRECTORY)
}

/// Opens a directory to look names up in it. It need not be listable.
#[cfg(target_os = "linux")]
pub(in crate::files) const SEARCH: OFlags = OFlags::PATH;
/// Elsewhere it must be.
#[cfg(not(target_os = "linux"))]
pub(in crate::files) const SEARCH: OFlags = OFlags::RDONLY;

/// A directory in which names are looked up.
pub(crate) fn search_at(path: &Path) -> Result<OwnedFd, WorkspaceError> {
    open_plain(path, SEARCH | OFlags::DIRECTORY)
}

/// Opens a path in which nothing may be a link.
pub(in crate::files) fn open_plain(path: &Path, flags: OFlags) -> Result<OwnedFd, WorkspaceError> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    // A device is not even opened: some of them act on it.
    if !flags.contains(OFlags::DIRECTORY) {
        refuse_special(path)?;
    }
    match open_beneath_slash(path, flags) {
        Ok(fd) => Ok(fd),
        Err(Errno::LOOP | Errno::XDEV) => Err(WorkspaceError::Moved(path.to_path_buf())),
        // A directory swapped for a link shows as ENOTDIR when it is opened with O_NOFOLLOW.
        Err(Errno::NXIO) => {
            Err(WorkspaceError::Special { path: path.to_path_buf(), kind: SpecialFile::Socket })
        }
        Err(e) => Err(WorkspaceError::from_io(path, e.into())),
    }
}

pub(in crate::files) fn refuse_special(path: &Path) -> Result<(), WorkspaceError> {
    // What cannot be opened here fails in the caller, with an error of its own.
    let Ok(stat) = stat_beneath_slash(path) else { return Ok(()) };
    match special(&stat) {
        FileKind::Special(kind) if kind != SpecialFile::Unknown => {
            Err(WorkspaceError::Special { path: path.to_path_buf(), kind })
        }
        _ => Ok(()),
    }
}

#[cfg(target_os = "linux")]
fn stat_beneath_slash(path: &Path) -> rustix::io::Result<Stat> {
    rustix::fs::fstat(open_beneath_slash(path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC)?)
}

#[cfg(not(target_os = "linux"))]
fn stat_beneath_slash(path: &Path) -> rustix::io::Result<Stat> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return Err(Errno::INVAL) };
    let flags = SEARCH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::statat(walk_down(parent, flags)?, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
}

/// How often the kernel is asked; one that never becomes sure must not hold anybody up.
#[cfg(target_os = "linux")]
const TRIES: usize = 64;

#[cfg(target_os = "linux")]
pub(crate) fn open_beneath_slash(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    use rustix::fs::ResolveFlags;
    let none = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let relative = path.strip_prefix("/").unwrap_or(path);
    if relative.as_os_str().is_empty() {
        return rustix::fs::openat(CWD, "/", flags, Mode::empty());
    }
    let slash =
        rustix::fs::openat(CWD, "/", OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    for _ in 0..TRIES {
        match rustix::fs::openat2(&slash, relative, flags, Mode::empty(), none) {
            // A rename somewhere in the tree made the kernel unsure; it says to try again.
            Err(Errno::AGAIN | Errno::INTR) => {}
            // An old kernel, or a filter of system calls that does not know `openat2`.
            Err(Errno::NOSYS | Errno::PERM) => break,
            other => return other,
        }
    }
    walk_down(path, flags)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn open_beneath_slash(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    walk_down(path, flags)
}

/// The same by directory descriptors, one component at a time.
pub(in crate::files) fn walk_down(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    let step = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = rustix::fs::openat(CWD, "/", step, Mode::empty())?;
    let mut parts = path.strip_prefix("/").unwrap_or(path).components().peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        at = rustix::fs::openat(&at, part.as_os_str(), if last { flags } else { step }, Mode::empty())?;
    }
    Ok(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_openat2_the_walk_by_descriptors_refuses_links_as_well() {
        let dir = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir(real.join("d")).unwrap();
        std::fs::write(real.join("d/f"), "x").unwrap();
        std::os::unix::fs::symlink(real.join("d"), real.join("l")).unwrap();
        std::os::unix::fs::symlink("f", real.join("d/lf")).unwrap();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW;
        for open in [walk_down, open_beneath_slash] {
            assert!(open(&real.join("d/f"), flags).is_ok());
            assert!(matches!(open(&real.join("l/f"), flags), Err(Errno::NOTDIR | Errno::LOOP)));
            assert!(matches!(open(&real.join("d/lf"), flags), Err(Errno::LOOP)));
        }
    }
}
