//! Named pipes that an undo makes again. A pipe has no content, so its mode and owner are all that is needed; a socket
//! belongs to the program that listens on it, and nobody else can make it again.

use crate::SpecialFile;
use crate::files::metadata::path_state::FileAttrs;
use rustix::io::Errno;
use std::ffi::OsStr;
use std::os::fd::OwnedFd;

/// True for what [`make`] makes, in the words of a path's state.
pub(crate) fn can_make(what: &str) -> bool {
    cfg!(target_os = "linux") && what == SpecialFile::Fifo.words()
}

/// Makes the pipe under the name `new`, which nobody can guess, and then renames it: with its own name it has its mode from the
/// beginning.
#[cfg(target_os = "linux")]
pub(super) fn make(
    (anchor, new): (&OwnedFd, &OsStr),
    (dir, name): (&OwnedFd, &OsStr),
    attrs: &FileAttrs,
) -> rustix::io::Result<()> {
    use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
    // A crash may have left one.
    match rustix::fs::unlinkat(anchor, new, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(e) => return Err(e),
    }
    rustix::fs::mknodat(anchor, new, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    // To open only one end of a pipe waits for the other, or fails.
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(anchor, new, flags, Mode::empty())
        .and_then(|pipe| attrs.give(&std::fs::File::from(pipe)))
        .and_then(|()| {
            let free = RenameFlags::NOREPLACE;
            rustix::fs::renameat_with(anchor, new, dir, name, free)
        });
    if made.is_err() {
        let _ = rustix::fs::unlinkat(anchor, new, AtFlags::empty());
    }
    made
}

#[cfg(not(target_os = "linux"))]
pub(super) fn make(_: (&OwnedFd, &OsStr), _: (&OwnedFd, &OsStr), _: &FileAttrs) -> rustix::io::Result<()> {
    Err(Errno::NOTSUP)
}
