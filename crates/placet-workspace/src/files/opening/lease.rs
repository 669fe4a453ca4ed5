//! Whether another process has a file open for writing: the kernel grants a read lease only when no process has.

#![allow(unsafe_code, reason = "leases have no safe wrapper")]

use std::fs::File;

/// Whether a process has a file open for writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OtherWriters {
    None,
    Some,
    /// The file system has no leases, or this process may take none.
    Unknown,
}

/// True when some process could still write to this open file. False where placet cannot find out.
pub(crate) fn written_elsewhere(file: &File) -> bool {
    other_writers(file) == OtherWriters::Some
}

#[cfg(target_os = "linux")]
pub(crate) fn other_writers(file: &File) -> OtherWriters {
    use std::os::fd::AsRawFd;
    /// `F_SETSIG`, which the C library's bindings leave out.
    const SET_SIGNAL: libc::c_int = 10;
    let fd = file.as_raw_fd();
    // Breaking a lease sends SIGIO, which ends a process that does not expect it; this one is ignored by default.
    // SAFETY: plain requests on a descriptor that is open for as long as `file` is borrowed.
    let chosen = unsafe { libc::fcntl(fd, SET_SIGNAL, libc::SIGURG) };
    if chosen == -1 {
        return OtherWriters::Unknown;
    }
    // SAFETY: as above.
    let taken = unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::F_RDLCK) };
    if taken == 0 {
        // SAFETY: as above.
        unsafe { libc::fcntl(fd, libc::F_SETLEASE, libc::F_UNLCK) };
        return OtherWriters::None;
    }
    match std::io::Error::last_os_error().kind() {
        std::io::ErrorKind::WouldBlock => OtherWriters::Some,
        _ => OtherWriters::Unknown,
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn other_writers(_file: &File) -> OtherWriters {
    OtherWriters::Unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_writer_is_seen_as_long_as_it_has_the_file_open() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        let writer = File::create(&path).unwrap();
        let file = File::open(&path).unwrap();
        assert_eq!(written_elsewhere(&file), cfg!(target_os = "linux"));
        drop(writer);
        assert!(!written_elsewhere(&file));
        let _reader = File::open(&path).unwrap();
        assert!(!written_elsewhere(&file));
    }
}
