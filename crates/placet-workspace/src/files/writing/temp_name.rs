//! Names of files that are not finished.

use rustix::fs::AtFlags;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) fn fresh_name() -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    OsString::from(format!(".placet-{}-{count}.tmp", std::process::id()))
}

pub(crate) fn link_fd(file: &File, dir: &OwnedFd, name: &OsStr) -> rustix::io::Result<()> {
    let own = format!("/proc/self/fd/{}", file.as_raw_fd());
    // `/proc/self/fd/N` is a link to the open file.
    rustix::fs::linkat(rustix::fs::CWD, own, dir, name, AtFlags::SYMLINK_FOLLOW)
}
