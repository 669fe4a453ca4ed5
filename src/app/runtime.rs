//! The runtime on which turns run.

use super::AppError;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// A runtime with so many workers; a single command needs one. Fails where the process may not open the files or start
/// the threads that the runtime needs: found out later, that would be a panic.
pub fn runtime(workers: usize) -> Result<Runtime, AppError> {
    const FILES: usize = 32;
    const DAY: Duration = Duration::from_secs(24 * 3600);
    // The workers, one for blocking work, and one that standard input holds where it is read. All others are started one
    // by one, and each can fail by itself. To start and end more of them here, only to see that they can be started,
    // takes a part of a millisecond.
    crate::process::check_room(FILES, workers + 2)?;
    let runtime = Builder::new_multi_thread()
        .worker_threads(workers)
        .thread_keep_alive(DAY)
        .enable_all()
        .build()
        .map_err(AppError::Threads)?;
    // One thread for blocking work stays: where no other can be started later, work waits for it instead of breaking.
    drop(runtime.spawn_blocking(|| ()));
    Ok(runtime)
}
