//! Removes the directories of commands that have ended, while placet goes on: what a program left there may be large, and
//! to remove even an empty layer takes a millisecond.

use super::layer::remove_dir_all;
use crate::hold_point;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// The beginning of the name of a directory whose changes were collected. Nobody takes over what is left in it.
pub(in crate::view) const ENDED: &str = "ended-";

static RUNNING: Mutex<Vec<JoinHandle<()>>> = Mutex::new(Vec::new());

/// Gives the directory a name under which nothing in it counts, and removes it in the background. Returns false where it
/// is still at `path`. `lock` is the lock on it: while the removal has the lock, the next command here does not remove the
/// directory as well and wait for that.
pub(in crate::view) fn remove_later(path: &Path, lock: Option<OwnedFd>) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let ended = path.with_file_name(format!("{ENDED}{name}"));
    if std::fs::rename(path, &ended).is_err() {
        return false;
    }
    let removal = std::thread::Builder::new().name("removal".into()).spawn({
        let ended: PathBuf = ended.clone();
        // The next command here removes what stays.
        move || {
            hold_point("removing");
            drop(remove_dir_all(&ended));
            drop(lock);
        }
    });
    match removal {
        Ok(thread) => running().push(thread),
        Err(_) => drop(remove_dir_all(&ended)),
    }
    true
}

/// Waits until all that was begun is done.
pub fn wait_for_removals() {
    let threads = std::mem::take(&mut *running());
    for thread in threads {
        // A thread that panicked has removed what it could.
        drop(thread.join());
    }
}

/// The same for at most `time`. What is left is removed by the next command there.
pub fn wait_for_removals_within(time: Duration) {
    let end = Instant::now() + time;
    while running().iter().any(|thread| !thread.is_finished()) && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn running() -> MutexGuard<'static, Vec<JoinHandle<()>>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_is_gone_under_its_name_at_once_and_then_altogether() {
        let base = tempfile::tempdir().unwrap();
        let dir = base.path().join("run-1-0");
        std::fs::create_dir_all(dir.join("0/upper/many")).unwrap();
        assert!(remove_later(&dir, None));
        assert!(!dir.exists());
        assert!(!remove_later(&dir, None), "it is no longer there");
        wait_for_removals();
        assert_eq!(std::fs::read_dir(base.path()).unwrap().count(), 0);
    }
}
