//! Functions that make sure that content is on the disk, and points where tests let an apply crash.

use rustix::io::Errno;
use std::fs::File;
use std::io;

/// Stores everything on the file system of `at` durably.
pub(crate) fn sync_file_system(at: &File) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    let synced = rustix::fs::syncfs(at);
    #[cfg(not(target_os = "linux"))]
    let synced = rustix::fs::fsync(at);
    confirm(synced)
}

/// The result of a sync: an error only where the disk lost something. A directory that cannot be synced at all, as on
/// some network file systems, is as safe as the file system makes it.
pub(crate) fn confirm(synced: rustix::io::Result<()>) -> io::Result<()> {
    match synced {
        Err(e @ (Errno::IO | Errno::NOSPC | Errno::DQUOT)) => Err(e.into()),
        _ => Ok(()),
    }
}

/// In a debug build the process ends here at the N-th time when `PLACET_CRASH_AT=N`: tests go through all of them.
pub(crate) fn crash_point() {
    #[cfg(debug_assertions)]
    {
        use std::sync::LazyLock;
        use std::sync::atomic::{AtomicI64, Ordering};
        static LEFT: LazyLock<Option<AtomicI64>> = LazyLock::new(|| {
            let at = std::env::var("PLACET_CRASH_AT").ok()?;
            Some(AtomicI64::new(at.parse().ok()?))
        });
        if let Some(left) = LEFT.as_ref()
            && left.fetch_sub(1, Ordering::SeqCst) == 1
        {
            std::process::abort();
        }
    }
}
