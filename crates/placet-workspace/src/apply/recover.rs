//! After a crash: an apply that had begun is finished, or removed where no target had been touched.

use super::super::view::node_at;
use super::commit::{CommitAction, acts, copy_over, late_writes, perform};
use super::old_contents::{DisplacedContents, KeptContents, keep_displaced};
use super::open_dirs::OpenDirs;
use super::repository_transaction::recover_repositories;
use super::rollback::take_one_back;
use super::{anchor, stage, temp_name};
use crate::files::metadata::path_state::{PathState, dir_anyway};
use crate::files::metadata::stat_fields::{mode_of, permissions};
use crate::history::journal::{
    AppliedRepository, AppliedRepositoryKind, Journal, JournalEntry, TransactionState,
};
use crate::history::objects::ObjectStore;
use placet_git::RecoveryGoal;
use std::collections::{BTreeSet, HashMap};
use std::io;
use std::path::PathBuf;

/// What the next start found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Transactions that were finished, by their number in the journal.
    pub finished: Vec<u64>,
    /// Transactions of which nothing had been done.
    pub cleared: Vec<u64>,
    /// Paths that another process changed before or after the crash: placet leaves them as they are.
    pub kept: Vec<PathBuf>,
    /// Files below temporary names, which have what another program wrote to a file that placet had displaced.
    pub foreign: Vec<PathBuf>,
}

impl RecoveryReport {
    pub fn is_empty(&self) -> bool {
        self.finished.is_empty() && self.cleared.is_empty()
    }

    /// One sentence for the person.
    pub fn words(&self) -> String {
        let mut words = Vec::new();
        if !self.finished.is_empty() {
            words.push("an apply that was interrupted has been completed".to_string());
        }
        if !self.cleared.is_empty() {
            words.push("an apply that was interrupted before it changed anything was removed".to_string());
        }
        let named = |paths: &[PathBuf]| {
            let names: Vec<String> = paths.iter().map(|p| p.display().to_string()).collect();
            names.join(", ")
        };
        if !self.kept.is_empty() {
            words.push(format!("not changed, because they changed in the meantime: {}", named(&self.kept)));
        }
        if !self.foreign.is_empty() {
            words.push(format!("what another program wrote in the meantime is in: {}", named(&self.foreign)));
        }
        words.join("; ")
    }
}

/// Finishes what a crash left open in this journal. While another process applies something, nothing is touched.
pub fn recover(journal: &Journal, objects: &ObjectStore) -> io::Result<RecoveryReport> {
    let recovered = RecoveryReport::default();
    if journal.open_entries()?.is_empty() {
        return Ok(recovered);
    }
    let Some(_lock) = journal.try_lock()? else { return Ok(recovered) };
    locked(journal, objects)
}

/// The same for a caller that has the lock.
pub(super) fn locked(journal: &Journal, objects: &ObjectStore) -> io::Result<RecoveryReport> {
    let mut recovered = RecoveryReport::default();
    for mut entry in journal.open_entries()? {
        match entry.state {
            TransactionState::Staging => {
                recover_repositories(journal, &entry.git, &entry.label, RecoveryGoal::Revert)?;
                let cleared = stage::clear(&entry, 0..entry.changes.len());
                restore_dir_modes(&entry);
                // Nothing was changed, so an entry that stays for its staged contents is in nobody's way.
                if cleared == 0 {
                    journal.drop_open(entry.id)?;
                    recovered.cleared.push(entry.id);
                }
            }
            TransactionState::Committing | TransactionState::Done => {
                // What is done once is not done again: the person may have worked on it since.
                let mut back = BTreeSet::new();
                if entry.state == TransactionState::Committing {
                    leave_place(&entry)?;
                    finish(objects, &entry, &mut recovered.kept)?;
                    recover_repositories(journal, &entry.git, &entry.label, RecoveryGoal::Complete)?;
                    back = late_writes_back(objects, &entry);
                }
                let KeptContents { left, foreign } =
                    keep_displaced(objects, &entry, DisplacedContents::Found);
                recovered.foreign.extend(foreign);
                restore_dir_modes(&entry);
                if !left.is_empty() {
                    entry.state = TransactionState::Done;
                    drop(journal.save(&entry));
                    return Err(io::Error::other(left.join("; ")));
                }
                if !back.is_empty() {
                    let path = |index: &usize| Some(entry.changes.get(*index)?.path.to_path_buf());
                    recovered.kept.extend(back.iter().filter_map(path));
                    entry.leave_out(&back);
                    journal.save(&entry)?;
                }
                journal.close(&mut entry)?;
                recovered.finished.push(entry.id);
            }
        }
    }
    Ok(recovered)
}

/// Takes back the changes of files that another program wrote to after placet had displaced them, or still can: what it
/// wrote is at its path again. Gives the changes, by index.
fn late_writes_back(objects: &ObjectStore, entry: &JournalEntry) -> BTreeSet<usize> {
    let quiet = HashMap::new();
    let late: Vec<usize> = late_writes(entry, &quiet, 0..entry.changes.len()).collect();
    late.into_iter().filter(|&index| take_one_back(objects, entry, index)).collect()
}

/// A repository that goes is out of the way before the directory around it goes.
fn leave_place(entry: &JournalEntry) -> io::Result<()> {
    let goes = |one: &&AppliedRepository| one.kind == AppliedRepositoryKind::Removed && !one.staged.exists();
    let gone = entry.git.iter().filter(goes).filter(|one| one.path.exists());
    gone.into_iter().try_for_each(|one| std::fs::rename(&one.path, &one.staged))
}

/// A directory that was open for the moment of the crash gets its own mode again, unless it was to have another one.
fn restore_dir_modes(entry: &JournalEntry) {
    for shut in &entry.shut {
        let dressed =
            entry.changes.iter().any(|c| *c.path == *shut.path && entry.state != TransactionState::Staging);
        let Some(dir) = dir_anyway(&shut.path).ok().filter(|_| !dressed) else { continue };
        let mode = rustix::fs::fstat(&dir).map_or(0, |stat| permissions(&stat));
        // Exactly the mode that placet gave the directory: any other mode was set by somebody else.
        if mode == shut.mode | 0o300 {
            let _ = rustix::fs::fchmod(&dir, mode_of(shut.mode));
        }
    }
}

fn finish(objects: &ObjectStore, entry: &JournalEntry, kept: &mut Vec<PathBuf>) -> io::Result<()> {
    for (index, act) in acts(entry) {
        let Some(change) = entry.changes.get(index) else { continue };
        let now = node_at(&change.path)?;
        let displaced = || {
            let dir = anchor(entry, index).and_then(|place| dir_anyway(&place).ok());
            dir.is_some_and(|dir| {
                PathState::read(&dir, &temp_name(entry, index, "old")).is_ok_and(|node| node == change.before)
            })
        };
        let to_do = match act {
            CommitAction::Displace => now == change.before,
            CommitAction::RemoveDir => now.is_directory(),
            CommitAction::MakeDir => now.is_absent(),
            CommitAction::Place => now.is_absent(),
            CommitAction::Exchange => now.same_content(&change.before),
            CommitAction::Overwrite => !now.same_content(&change.after),
            CommitAction::Dress => now.same_content(&change.after) && now != change.after,
        };
        let as_meant = match act {
            CommitAction::Displace => now.same_content(&change.after) || displaced(),
            CommitAction::RemoveDir => !now.is_directory(),
            CommitAction::MakeDir => now.is_directory(),
            CommitAction::Place | CommitAction::Exchange | CommitAction::Overwrite => {
                now.same_content(&change.after)
            }
            CommitAction::Dress => now.same_content(&change.after),
        };
        let done = match (to_do, act) {
            (true, CommitAction::Overwrite) => rewrite_in_place(objects, entry, index, &change.path),
            (true, _) => perform(&mut OpenDirs::default(), entry, index, change, act),
            (false, _) => Ok(()),
        };
        if done.is_err() || !to_do && !as_meant {
            kept.push(change.path.to_path_buf());
        }
    }
    kept.dedup();
    Ok(())
}

/// Writes again a file that was being overwritten when the crash came. The file may have only half of the new content,
/// and its present content is stored first.
fn rewrite_in_place(
    objects: &ObjectStore,
    entry: &JournalEntry,
    index: usize,
    path: &std::path::Path,
) -> io::Result<()> {
    let mut target = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
    if let PathState::File { hash, size, .. } = PathState::of_file(&target)? {
        objects.put_file(&mut target, hash, size)?;
    }
    let place = anchor(entry, index).ok_or(io::ErrorKind::NotFound)?;
    let mut staged = std::fs::File::open(place.join(temp_name(entry, index, "new")))?;
    copy_over(&mut staged, &mut target)
}
