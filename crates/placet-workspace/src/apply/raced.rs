//! The error for a target that has the work of another process: placet does not touch it.

use std::io;

pub(super) fn raced() -> io::Error {
    io::Error::new(io::ErrorKind::ResourceBusy, "it changed while it was being replaced")
}

/// The old content of a large file is not read before it is stored: that it is another one is noticed there.
pub(super) fn raced_if_changed(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::InvalidData { raced() } else { error }
}
