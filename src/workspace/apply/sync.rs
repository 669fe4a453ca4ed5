//! What makes sure that content is on the disk, and where tests let an apply crash.

use std::fs::File;

/// Makes everything on the file system of `at` last.
pub(in crate::workspace) fn sync_file_system(at: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::syncfs(at);
    #[cfg(not(target_os = "linux"))]
    drop(at.sync_all());
}

/// In a debug build the process ends here at the N-th time when `PLACET_CRASH_AT=N`: tests go through all of them.
pub(in crate::workspace) fn crash_point() {
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
