//! The process that called: its memory, its directories and its rights.
//!
//! Its root and its mounts are those of process 1, because no process of a view can change either. It is named by a number:
//! what is read here counts only if the call still waits afterwards.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat, openat2, statat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;

/// `PATH_MAX`.
const LONGEST_PATH: usize = 4096;

const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// A name in an open directory.
pub(super) struct NamedEntry {
    pub(super) dir: OwnedFd,
    pub(super) name: Vec<u8>,
}

pub(super) struct Caller {
    /// Its directory in `/proc`.
    proc: String,
    memory: OwnedFd,
}

/// Users, groups and capabilities, as the kernel prints them.
#[derive(PartialEq, Eq)]
pub(super) struct Rights(Vec<String>);

impl Rights {
    /// Of a process with this directory in `/proc`.
    pub(super) fn of(proc: &str) -> rustix::io::Result<Rights> {
        let status = std::fs::read_to_string(format!("{proc}/status"))
            .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        let counts =
            |row: &&str| ["Uid:", "Gid:", "Groups:", "CapEff:"].iter().any(|key| row.starts_with(key));
        Ok(Rights(status.lines().filter(counts).map(str::to_string).collect()))
    }
}

impl Caller {
    /// Fails for a process whose memory this one may not read.
    pub(super) fn open(pid: u32) -> rustix::io::Result<Caller> {
        let proc = format!("/proc/{pid}");
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let memory = openat(CWD, format!("{proc}/mem"), flags, Mode::empty())?;
        Ok(Caller { proc, memory })
    }

    /// The path at this address, without slashes at its end. Another thread may change it at the same time; what is read
    /// here is what is renamed.
    pub(super) fn path(&self, address: u64) -> rustix::io::Result<Vec<u8>> {
        let mut text = vec![0; LONGEST_PATH];
        let length = rustix::io::pread(&self.memory, text.as_mut_slice(), address)?;
        let text = text.get(..length).unwrap_or_default();
        let end = memchr::memchr(0, text).ok_or(Errno::NAMETOOLONG)?;
        let path = text.get(..end).unwrap_or_default();
        let length = path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1);
        Ok(path.get(..length).unwrap_or_default().to_vec())
    }

    pub(super) fn is_directory(&self, dir: i32, path: &[u8]) -> rustix::io::Result<bool> {
        let start = if path.starts_with(b"/") { String::new() } else { self.start(dir) + "/" };
        let found = statat(CWD, [start.as_bytes(), path].concat(), AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(FileType::from_raw_mode(found.st_mode) == FileType::Directory)
    }

    /// The directory and the last name of `path`. Links on the way are followed, except those that mean something else
    /// for each process (`/proc/self/cwd`).
    pub(super) fn entry(&self, dir: i32, path: &[u8]) -> rustix::io::Result<NamedEntry> {
        let (parent, name) = match memchr::memrchr(b'/', path) {
            Some(0) => (&b"/"[..], path.get(1..).unwrap_or_default()),
            Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..).unwrap_or_default()),
            None => (&b"."[..], path),
        };
        if matches!(name, b"" | b"." | b"..") {
            return Err(Errno::INVAL);
        }
        let open = |at: BorrowedFd<'_>| {
            openat2(at, OsStr::from_bytes(parent), DIRECTORY, Mode::empty(), ResolveFlags::NO_MAGICLINKS)
        };
        let dir = match path.starts_with(b"/") {
            true => open(CWD)?,
            false => open(openat(CWD, self.start(dir), DIRECTORY, Mode::empty())?.as_fd())?,
        };
        Ok(NamedEntry { dir, name: name.to_vec() })
    }

    /// Where a relative path begins.
    fn start(&self, dir: i32) -> String {
        let proc = &self.proc;
        if dir == libc::AT_FDCWD { format!("{proc}/cwd") } else { format!("{proc}/fd/{dir}") }
    }
}
