//! Named pipes that an undo makes again. A pipe has no content, so its mode and owner are all that is needed; a socket
//! belongs to the program that listens on it, and nobody else can make it again.

use super::commit::CommitTarget;
use crate::workspace::SpecialFile;
use crate::workspace::files::path_state::FileAttrs;
use rustix::io::Errno;

/// True for what [`make`] makes, in the words of a path's state.
pub(in crate::workspace) fn can_make(what: &str) -> bool {
    cfg!(target_os = "linux") && what == SpecialFile::Fifo.words()
}

/// Makes the pipe under a name that nobody can guess, and then renames it: with its own name it has its mode from the
/// beginning.
#[cfg(target_os = "linux")]
pub(super) fn make(spot: &CommitTarget<'_>, attrs: &FileAttrs) -> rustix::io::Result<()> {
    use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags};
    // A crash may have left one.
    match rustix::fs::unlinkat(&*spot.anchor, &spot.new, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(e) => return Err(e),
    }
    rustix::fs::mknodat(&*spot.anchor, &spot.new, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0)?;
    // To open only one end of a pipe waits for the other, or fails.
    let flags = OFlags::RDWR | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let made = rustix::fs::openat(&*spot.anchor, &spot.new, flags, Mode::empty())
        .and_then(|pipe| attrs.give(&std::fs::File::from(pipe)))
        .and_then(|()| {
            let free = RenameFlags::NOREPLACE;
            rustix::fs::renameat_with(&*spot.anchor, &spot.new, &*spot.dir, spot.name, free)
        });
    if made.is_err() {
        let _ = rustix::fs::unlinkat(&*spot.anchor, &spot.new, AtFlags::empty());
    }
    made
}

#[cfg(not(target_os = "linux"))]
pub(super) fn make(_: &CommitTarget<'_>, _: &FileAttrs) -> rustix::io::Result<()> {
    Err(Errno::NOTSUP)
}
