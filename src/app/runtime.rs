//! The runtime on which turns run.

use super::AppError;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};

/// A runtime with so many workers. Fails where the process may not open the files or start the threads that it needs:
/// found out later, that would be a panic.
pub fn runtime(workers: usize) -> Result<Runtime, AppError> {
    const FILES: usize = 32;
    const MORE_THREADS: usize = 8;
    const DAY: Duration = Duration::from_secs(24 * 3600);
    crate::process::check_room(FILES, workers + MORE_THREADS)?;
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
