//! Applying: many paths change, or none.
//!
//! Every new content is stored next to its target and synced. Then targets and new contents are exchanged one by one,
//! and each exchange is checked by the displaced content. Displaced contents stay until all is done: a failure restores
//! everything. The journal's open entry names the planned changes: after a crash the next start completes them, or
//! removes the staged contents when no target had been touched.

mod commit;
mod failpoints;
mod halves;
mod old_contents;
mod open_dirs;
mod pipe;
mod progress;
mod raced;
mod recover;
mod repository_transaction;
mod rollback;
mod stage;
mod step;
mod sync;
mod verify;

pub(super) use step::{ApplyStep, ContentSource};
use step::{MERGEABLE, SYNC_EACH, StagePlan, anchor, temp_name};

pub(super) use sync::{confirm, crash_point, sync_file_system};

pub(super) use failpoints::fault;
#[cfg(test)]
pub(super) use failpoints::{fail_at, run_at};
pub(super) use halves::in_halves;
use old_contents::DisplacedContents;
pub(super) use open_dirs::OpenDirs;
pub(super) use pipe::can_make;
pub use progress::{ApplyPhase, ApplyProgress};
pub use recover::{RecoveryReport, recover};
use repository_transaction::RepositoryFailure;
pub(super) use repository_transaction::{AskedRepository, RepositoryTransaction, RepositoryWork, kept_in};

use super::changes::classify::LargeLoss;
use super::history::damage::DamagedRecord;
use super::history::file_rename::FileRename;
use super::history::journal::{
    AppliedChange, Journal, JournalEntry, JournaledRepository, RestrictedDir, TransactionKind,
    TransactionLabel, TransactionState,
};
use super::history::log_marks::LogMarks;
use super::history::objects::ObjectStore;
use super::history::origin::{OriginMarks, OriginTable};
use super::repository::RepositorySet;
use super::view::node_at;
use crate::files::metadata::path_state::PathState;
use placet_text::text::count;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum ApplyError {
    /// These paths are not what they were when the change was made. Nothing was changed.
    #[error("{} changed in the meantime", list(.0))]
    Changed(Vec<PathBuf>),
    /// What had been done was rolled back.
    #[error("`{}`: {error}; nothing was changed{}", .path.display(), remains(*.left))]
    Failed { path: PathBuf, error: io::Error, left: usize },
    #[error("stopped; nothing was changed{}", remains(*.left))]
    Cancelled { left: usize },
    /// What had been done was rolled back, except at `stays`: these paths changed meanwhile or cannot be changed. The journal
    /// has them as applied. `foreign` are temporary names with what another program wrote.
    #[error("`{}`: {error}; the rest was taken back, but {} changed meanwhile or cannot be changed, and stays applied{}", .path.display(), list(.stays), written(.foreign))]
    Partly { path: PathBuf, error: io::Error, stays: Vec<PathBuf>, foreign: Vec<PathBuf> },
    /// Taking it back failed as well; the journal will finish at the next start.
    #[error("`{}`: {error}; some files were changed already, and the next start of placet completes or reverts them", .path.display())]
    Half { path: PathBuf, error: io::Error },
    #[error("`{}` is {what}, which cannot be applied", .path.display())]
    Special { path: PathBuf, what: String },
    /// The path needs its own approval and has none. Nothing was changed.
    #[error("`{}` needs its own approval: {why}", .path.display())]
    Protected { path: PathBuf, why: String },
    /// The large loss is not approved. Nothing was changed.
    #[error("it {}, which needs its own approval", .0.words(&|path| path.into()))]
    Loss(LargeLoss),
    /// A record of placet's own cannot be read, so that the journal cannot be continued. Nothing was changed.
    #[error("{0}")]
    Damage(DamagedRecord),
    #[error("a repository cannot be applied: {0}")]
    Repository(String),
    /// Nothing was changed, but the journal says that it is being done.
    #[error(
        "the journal cannot be written: {0}; no file was changed yet, but the next start of placet applies it"
    )]
    Open(io::Error),
    #[error("the journal cannot be written: {0}")]
    Journal(io::Error),
    /// Another placet works with the same changes. Nothing was changed.
    #[error("{0}")]
    Busy(io::Error),
}

impl ApplyError {
    fn of_repository(failure: RepositoryFailure) -> ApplyError {
        ApplyError::Repository(failure.0)
    }

    /// Why the changes could not be claimed.
    pub(crate) fn of_claim(error: io::Error) -> ApplyError {
        match error.kind() {
            io::ErrorKind::ResourceBusy => ApplyError::Busy(error),
            _ => ApplyError::Journal(error),
        }
    }
}

/// What an apply that failed could not remove.
fn remains(left: usize) -> String {
    match left {
        0 => String::new(),
        left => {
            let files = count::of(left, "temporary file");
            format!(", but {files} (`.placet-*`) could not be removed: the next start of placet removes them")
        }
    }
}

/// Where the work of another program is.
fn written(foreign: &[PathBuf]) -> String {
    if foreign.is_empty() {
        String::new()
    } else {
        format!("; what another program wrote is in {}", list(foreign))
    }
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().take(5).map(|p| format!("`{}`", p.display())).collect();
    let more = paths.len().saturating_sub(shown.len());
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// After so many steps the memory that they took is given back.
pub(super) const GIVE_BACK: usize = 1 << 16;

/// Makes all of `steps`, or none. What is there now is compared with each step's `before` first.
pub(super) fn commit_steps(
    journal: &Journal,
    objects: &ObjectStore,
    (label, kind, log_marks): (TransactionLabel, TransactionKind, Option<&LogMarks>),
    mut steps: Vec<ApplyStep>,
    renames: Vec<FileRename>,
    (repositories, git): (&RepositorySet, RepositoryTransaction),
    progress: &ApplyProgress,
) -> Result<JournalEntry, ApplyError> {
    // Entries are searched by path, in the journal as well: a crash may come before anything else.
    steps.sort_by(|a, b| a.path.cmp(&b.path));
    // Before the lock, which such a journal may not have either.
    journal.last_number().map_err(ApplyError::Damage)?;
    let _lock = journal
        .lock(|process| {
            progress.enter(ApplyPhase::Waiting, 0);
            progress.waits_for(process);
            !progress.is_cancelled()
        })
        .map_err(|e| match e.kind() {
            io::ErrorKind::Interrupted => ApplyError::Cancelled { left: 0 },
            _ => ApplyError::Journal(e),
        })?;
    for step in &steps {
        if let PathState::Special { what, .. } = &*step.after
            && !(kind.restores() && pipe::can_make(what))
        {
            return Err(ApplyError::Special { path: step.path.to_path_buf(), what: what.clone() });
        }
    }
    // What an apply before left undone is not overtaken.
    let before = recover::locked(journal, objects);
    before
        .map_err(|e| ApplyError::Journal(io::Error::other(format!("an earlier apply is incomplete: {e}"))))?;
    let shut = shut_dirs(steps.iter().map(|step| &*step.path));
    let is_file = |step: &&ApplyStep| step.before.counts_as_file() || step.after.counts_as_file();
    let files = steps.iter().filter(is_file).count();
    progress.enter(ApplyPhase::Checking, files);
    let verified = verify::all(&steps, &shut, progress);
    if progress.is_cancelled() {
        return Err(ApplyError::Cancelled { left: 0 });
    }
    let mut names = verified.map_err(ApplyError::Changed)?;
    let (mut changes, mut plans) = (Vec::with_capacity(steps.len()), Vec::with_capacity(steps.len()));
    let (mut origins, mut marks) = (OriginTable::default(), OriginMarks::default());
    // Each step becomes an entry and a plan, and its own memory is given back: there may be hundreds of thousands.
    steps.reverse();
    while let Some(step) = steps.pop() {
        if steps.len().is_multiple_of(GIVE_BACK) {
            steps.shrink_to_fit();
        }
        marks = OriginMarks::like(&marks, origins.marks(&step.history));
        let ApplyStep { path, before, after, source, twin, was_twin, keep_names, fresh, .. } = step;
        let was_twin = names.first_name(changes.len(), &path).or(was_twin);
        let marks = marks.clone();
        changes.push(AppliedChange { path, before, after, in_place: false, twin, was_twin, marks });
        plans.push(StagePlan { source, keep_names, fresh });
    }
    let mut entry =
        journal.begin(label, kind, (changes, origins.into_vec()), shut).map_err(ApplyError::Journal)?;
    if let Some(marks) = log_marks {
        marks.begin(journal, entry.id);
    }
    crash_point();
    progress.enter(ApplyPhase::Staging, files);
    // Named in the entry before git takes its locks: the next start has to know of them.
    entry.git = git.applied();
    let (staged, made) = staged(journal, objects, &mut entry, (&plans, progress));
    crash_point();
    entry.renames = renames;
    entry.repositories = touched_repositories(&entry, repositories);
    let staged = staged.and_then(|()| {
        recorded(journal, objects, (&mut entry, &made)).map_err(|error| (PathBuf::new(), error))
    });
    let record = match staged {
        Ok(record) => record,
        Err((path, error)) => {
            let left = clear(journal, &entry, made);
            return Err(match error.kind() {
                _ if stage::is_stop(&error) => ApplyError::Cancelled { left },
                io::ErrorKind::ResourceBusy => ApplyError::Changed(vec![path]),
                _ => ApplyError::Failed { path, error, left },
            });
        }
    };
    drop(plans);
    // The last moment in which nothing has changed.
    if !progress.begin_commit() {
        return Err(ApplyError::Cancelled { left: clear(journal, &entry, made) });
    }
    progress.enter(ApplyPhase::Committing, files);
    let done = commit_staged((journal, record), objects, entry, made, (git, files, progress));
    progress.end_commit();
    done
}

/// Everything is staged: one sync stores it, and the record that it is to be done. A repository is prepared after that and
/// before its record, so that its record is written later.
fn recorded(
    journal: &Journal,
    objects: &ObjectStore,
    (entry, made): (&mut JournalEntry, &[usize]),
) -> io::Result<Option<NamedTempFile>> {
    let mut record = None;
    if entry.git.is_empty() {
        entry.state = TransactionState::Committing;
        record = Some(journal.write(entry)?);
    }
    stage::sync(objects, entry, made, record.as_ref().map(NamedTempFile::as_file))?;
    Ok(record)
}

/// From here on it is all done, or rolled back.
fn commit_staged(
    (journal, record): (&Journal, Option<NamedTempFile>),
    objects: &ObjectStore,
    mut entry: JournalEntry,
    made: Vec<usize>,
    (mut git, files, progress): (RepositoryTransaction, usize, &ApplyProgress),
) -> Result<JournalEntry, ApplyError> {
    let noted = match record {
        Some(record) => journal.put(entry.id, record),
        None => {
            let prepared = journal.save(&entry).map_err(ApplyError::Journal);
            let prepared = prepared.and_then(|()| git.prepare(journal).map_err(ApplyError::of_repository));
            if let Err(error) = prepared {
                abandon(journal, &mut entry, made)?;
                return Err(error);
            }
            crash_point();
            entry.state = TransactionState::Committing;
            journal.save(&entry)
        }
    };
    if let Err(e) = noted {
        git.abort(journal);
        abandon(journal, &mut entry, made)?;
        return Err(ApplyError::Journal(e));
    }
    crash_point();
    let committed = match git.before_files() {
        Ok(()) => commit::all(&entry, progress).map_err(|trouble| (trouble, None)),
        Err(failure) => Err((commit::CommitFailure::of_repository(Vec::new()), Some(failure))),
    };
    let committed = committed.and_then(|unconfirmed| match git.commit(journal) {
        Ok(()) => Ok(unconfirmed),
        Err(failure) => Err((commit::CommitFailure::of_repository(commit::acts(&entry)), Some(failure))),
    });
    let unconfirmed = match committed {
        Ok(unconfirmed) => unconfirmed,
        Err((trouble, failure)) => {
            let stays = rollback::take_back(objects, &entry, &trouble);
            git.abort(journal);
            if !stays.is_empty() {
                return Err(close_partly(journal, objects, entry, made, (stays, trouble)));
            }
            let left = abandon(journal, &mut entry, made)?;
            if let Some(failure) = failure {
                return Err(ApplyError::of_repository(failure));
            }
            return Err(match trouble.raced {
                true => ApplyError::Changed(vec![trouble.path]),
                false => ApplyError::Failed { path: trouble.path, error: trouble.error, left },
            });
        }
    };
    crash_point();
    progress.enter(ApplyPhase::Storing, files);
    let which = DisplacedContents::Verified(progress);
    let kept = old_contents::keep_displaced(objects, &entry, which);
    crash_point();
    close(journal, &mut entry, kept.left);
    if let Some(e) = unconfirmed {
        let words = "the disk did not confirm that the files are stored, so a power failure may lose them";
        entry.shortfalls.push(format!("{words}: {e}"));
    }
    crash_point();
    Ok(entry)
}

/// Records as applied what a failed transaction could not take back, so that its old contents are not lost and undo knows of
/// it. A crash meanwhile lets the next start complete the transaction.
fn close_partly(
    journal: &Journal,
    objects: &ObjectStore,
    mut entry: JournalEntry,
    mut made: Vec<usize>,
    (stays, trouble): (BTreeSet<usize>, commit::CommitFailure),
) -> ApplyError {
    let half = |trouble: commit::CommitFailure| ApplyError::Half { path: trouble.path, error: trouble.error };
    let which = DisplacedContents::FoundOf(&stays);
    let old_contents::KeptContents { left, foreign } = old_contents::keep_displaced(objects, &entry, which);
    if !left.is_empty() {
        return half(trouble);
    }
    made.retain(|index| !stays.contains(index));
    let whole = entry.clone();
    // Of a repository everything was taken back, and most of a redo.
    entry.git.clear();
    if matches!(entry.kind, TransactionKind::Redo { .. }) {
        entry.kind = TransactionKind::Apply;
    }
    entry.leave_out(&(0..entry.changes.len()).filter(|index| !stays.contains(index)).collect());
    entry.state = TransactionState::Done;
    if journal.save(&entry).is_err() {
        return half(trouble);
    }
    stage::clear(&whole, made);
    close(journal, &mut entry, Vec::new());
    let stays = entry.changes.iter().map(|change| change.path.to_path_buf()).collect();
    ApplyError::Partly { path: trouble.path, error: trouble.error, stays, foreign }
}

/// Stages everything, under other names where somebody has a file of such a name. Also gives the changes of which there
/// is a staged content now.
fn staged(
    journal: &Journal,
    objects: &ObjectStore,
    entry: &mut JournalEntry,
    (plans, progress): (&[StagePlan], &ApplyProgress),
) -> (Result<(), stage::PathError>, Vec<usize>) {
    const TRIES: usize = 4;
    let mut tries = 1;
    loop {
        let mut made = Vec::new();
        match stage::all(objects, entry, (plans, progress), &mut made) {
            Err((path, error)) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {
                if stage::clear(entry, made.iter().copied()) > 0 {
                    return (Err((path, error)), made);
                }
                entry.rename();
                if let Err(error) = journal.save(entry) {
                    return (Err((PathBuf::new(), error)), Vec::new());
                }
                tries += 1;
            }
            other => return (other, made),
        }
    }
}

/// Nothing is changed, or not any more: staged contents and the open entry go. While the entry says that targets are
/// being changed, the next start would do so, and needs what is staged. Returns how many staged contents remain.
fn abandon(journal: &Journal, entry: &mut JournalEntry, made: Vec<usize>) -> Result<usize, ApplyError> {
    entry.state = TransactionState::Staging;
    if journal.save(entry).is_ok() {
        return Ok(clear(journal, entry, made));
    }
    journal.drop_open(entry.id).map_err(ApplyError::Open)?;
    Ok(stage::clear(entry, made))
}

/// Removes the staged contents of an apply that has not begun, and then its entry. An entry that stays says that nothing
/// was begun: the next start removes what remains. Returns how many that are.
fn clear(journal: &Journal, entry: &JournalEntry, made: Vec<usize>) -> usize {
    let left = stage::clear(entry, made);
    if left == 0 {
        drop(journal.drop_open(entry.id));
    }
    left
}

/// Every change is done, and an error from here on does not revert it. `left` are temporary files that the next start
/// has to remove: while there are any, the entry stays open.
fn close(journal: &Journal, entry: &mut JournalEntry, left: Vec<String>) {
    entry.state = TransactionState::Done;
    let noted = match left.is_empty() {
        true => journal.close(entry),
        false => journal.save(entry),
    };
    entry.shortfalls = left;
    if let Err(e) = noted {
        entry.shortfalls.push(format!("the journal cannot be written: {e}"));
    }
    if !entry.shortfalls.is_empty() {
        entry.shortfalls.push("undo is not possible before placet has completed the record; fix the cause and start placet again".into());
        tracing::warn!("applied, but: {}", entry.shortfalls.join("; "));
    }
}

/// Directories whose own mode keeps us from changing what is in them.
pub(crate) fn shut_dirs<'a>(paths: impl Iterator<Item = &'a Path>) -> Vec<RestrictedDir> {
    // No mode keeps root out.
    if rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    // Also those further up: each of them is opened for the moment in which a name is looked up in it.
    let mut above: BTreeSet<&Path> = BTreeSet::new();
    for dir in paths.filter_map(Path::parent) {
        // Where a directory is known, all above it are.
        above.extend(dir.ancestors().take_while(|dir| !above.contains(dir)).collect::<Vec<_>>());
    }
    let mode = |dir: &Path| {
        let stat = super::view::stat_at(dir).ok()??;
        let is_dir = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory;
        is_dir.then(|| crate::files::metadata::stat_fields::permissions(&stat))
    };
    let shut = |dir: &Path| {
        // Write and search: both are needed to change a name in a directory.
        let mode = mode(dir).filter(|mode| mode & 0o300 != 0o300)?;
        Some(RestrictedDir { path: dir.to_path_buf(), mode })
    };
    above.into_iter().filter_map(shut).collect()
}

/// The repositories whose own files `entry` changes as files.
fn touched_repositories(entry: &JournalEntry, all: &RepositorySet) -> Vec<JournaledRepository> {
    // `collect` would first make a list with a path for each change.
    let mut touched: BTreeSet<&Path> = BTreeSet::new();
    touched.extend(entry.changes.iter().filter_map(|c| all.of(&c.path)));
    let without_state = |path: &Path| JournaledRepository { path: path.to_path_buf(), state: String::new() };
    touched.into_iter().map(without_state).collect()
}
