//! Decisions that the audit log has no entry of yet.
//!
//! The entry of an apply or an undo says what was done, so it comes after it. A process that is killed in between leaves
//! a mark next to the journal entry, and the next start adds the entry. A mark is locked by its process: what another
//! placet is doing at the moment is nobody else's to log.

use super::journal::{Journal, JournalEntry};
use rustix::fs::{FlockOperation, flock};
use std::fs::{File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// How the name of a mark ends, after the number of its transaction.
const ENDING: &str = ".unlogged";

/// The marks of this process. All views and the audit log of a program share one value.
#[derive(Clone, Debug, Default)]
pub struct LogMarks(Arc<Mutex<Vec<LogMark>>>);

/// A transaction without an entry in the audit log. The lock ends with the process.
#[derive(Debug)]
struct LogMark {
    path: PathBuf,
    /// As [`Journal::transaction_name`] gives it.
    transaction: String,
    _lock: File,
}

impl LogMarks {
    /// The transaction `id` of `journal` begins. A mark that cannot be made is no reason against it: the entry is then
    /// missing only if the process is killed as well.
    pub(crate) fn begin(&self, journal: &Journal, id: u64) {
        let path = journal.file(id, ENDING);
        let options = OpenOptions::new().create(true).append(true).mode(0o600).clone();
        let Ok(file) = options.open(&path) else { return };
        if flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
            let mark = LogMark { path, transaction: journal.transaction_name(id), _lock: file };
            self.0.lock().unwrap_or_else(PoisonError::into_inner).push(mark);
        }
    }

    /// Nothing was done: there is nothing to log.
    pub(crate) fn end(&self) {
        for mark in self.0.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            drop(std::fs::remove_file(&mark.path));
        }
    }

    /// Calls `append` to write the entry, with the names of the transactions that it is about. Where that fails, they stay
    /// marked.
    pub fn logged<T, E>(&self, append: impl FnOnce(Vec<String>) -> Result<T, E>) -> Result<T, E> {
        let all = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let marks = std::mem::take(&mut *all());
        let done = append(marks.iter().map(|mark| mark.transaction.clone()).collect());
        match done {
            Ok(_) => marks.iter().for_each(|mark| drop(std::fs::remove_file(&mark.path))),
            Err(_) => all().extend(marks),
        }
        done
    }
}

impl Journal {
    /// What the audit log calls a transaction: the number alone is in the journal of each workspace.
    fn transaction_name(&self, id: u64) -> String {
        let dir = self.dir().file_name().unwrap_or_default();
        format!("{}/{id}", dir.to_string_lossy())
    }

    /// Calls `log` with each completed transaction that a process left marked, and with its name: the process may have been
    /// killed before or after it wrote the entry in the audit log. The mark is removed where `log` gives true. While another
    /// process applies something, nothing is done.
    pub fn log_unlogged(&self, mut log: impl FnMut(&JournalEntry, String) -> bool) {
        let Ok(ids) = self.ids(ENDING) else { return };
        if ids.is_empty() {
            return;
        }
        let Ok(Some(_lock)) = self.try_lock() else { return };
        for id in ids {
            let path = self.file(id, ENDING);
            let Some(_mark) = left_mark(&path) else { continue };
            let is_settled = match self.entry(id) {
                Ok(Some(entry)) => log(&entry, self.transaction_name(id)),
                // It was removed before it changed anything. An entry that is still open is completed first.
                Ok(None) => !self.file(id, ".open.json").exists(),
                // `Journal::damage` has it.
                Err(_) => true,
            };
            if is_settled {
                drop(std::fs::remove_file(&path));
            }
        }
    }
}

/// A mark whose process has ended, locked.
fn left_mark(path: &Path) -> Option<File> {
    let file = OpenOptions::new().append(true).open(path).ok()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
    // Another start may have logged it since the directory was listed.
    let is_there = std::fs::symlink_metadata(path).ok()?.ino() == file.metadata().ok()?.ino();
    is_there.then_some(file)
}
