//! The lock of a journal: transactions of one workspace come one after the other, also across processes. The process that
//! has it is named in its file, so that the one that waits can say for whom.

use super::Journal;
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::time::Duration;

/// How often a lock of another process is tried.
const AGAIN: Duration = Duration::from_millis(20);

/// Locked while files change.
#[derive(Debug)]
pub(crate) struct JournalLock(#[allow(dead_code, reason = "held, not read")] File);

impl Journal {
    /// `None` where another process has the lock.
    pub(crate) fn try_lock(&self) -> io::Result<Option<JournalLock>> {
        let file = self.lock_file()?;
        Ok(take(&file)?.then(|| JournalLock(file)))
    }

    /// Waits until no other process has the lock. Until then `waits` gets the number of that process again and again, 0
    /// where it is not known; where it returns false, this fails with [`io::ErrorKind::Interrupted`].
    pub(crate) fn lock(&self, mut waits: impl FnMut(usize) -> bool) -> io::Result<JournalLock> {
        let file = self.lock_file()?;
        while !take(&file)? {
            let mut named = [0; 11];
            let length = file.read_at(&mut named, 0)?;
            let holder = String::from_utf8_lossy(named.get(..length).unwrap_or_default());
            if !waits(holder.trim().parse().unwrap_or(0)) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            std::thread::sleep(AGAIN);
        }
        Ok(JournalLock(file))
    }

    fn lock_file(&self) -> io::Result<File> {
        let path = self.dir.join("lock");
        let failed = |e: io::Error| io::Error::new(e.kind(), format!("`{}`: {e}", path.display()));
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir).map_err(failed)?;
        let options =
            fs::OpenOptions::new().create(true).truncate(false).read(true).write(true).mode(0o600).clone();
        options.open(&path).map_err(failed)
    }
}

/// Takes the lock and names this process in it; false where another one has it.
fn take(file: &File) -> io::Result<bool> {
    match flock(file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {
            // Always as long, over what is there. On a full disk it names nobody.
            drop(file.write_all_at(format!("{:>10}\n", std::process::id()).as_bytes(), 0));
            Ok(true)
        }
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_waits_knows_for_whom_and_can_be_stopped() {
        let dir = tempfile::tempdir().unwrap();
        let journal = Journal::at(dir.path().join("journal"));
        let mut held = Some(journal.try_lock().unwrap().unwrap());
        assert!(journal.try_lock().unwrap().is_none());
        let mut named = Vec::new();
        let stopped = journal.lock(|process| {
            named.push(process);
            named.len() < 3
        });
        assert_eq!(stopped.unwrap_err().kind(), io::ErrorKind::Interrupted);
        assert_eq!(named, [std::process::id() as usize; 3]);
        // The other one ends while this one waits.
        let lock = journal.lock(|_| {
            drop(held.take());
            true
        });
        assert!(lock.is_ok() && journal.try_lock().unwrap().is_none());
        drop(lock);
        // Another test may start a program now: until it runs, its process has the lock as well.
        assert!(journal.lock(|_| true).is_ok());
    }
}
