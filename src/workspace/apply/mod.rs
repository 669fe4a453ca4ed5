//! Applying: many paths change, or none.
//!
//! Every new content is laid beside its target and synced; then targets and new contents change places one by one, each
//! exchange checked by what came out of it. What came out stays until all is done, so a failure puts everything back.
//! The journal's open entry says what was meant: after a crash the next start finishes from it, or clears it away when
//! no target had been touched.

mod commit;
mod failpoints;
mod old_contents;
mod open_dirs;
mod recover;
mod rollback;
mod stage;

#[cfg(test)]
pub(super) use failpoints::fail_at;
pub(super) use failpoints::fault;
pub use recover::{RecoveryReport, recover};

use super::Hash;
use super::changes::classify::LargeLoss;
use super::files::path_state::PathState;
use super::history::damage::DamagedRecord;
use super::history::journal::{
    AppliedChange, Journal, JournalEntry, RepositoryState, RestrictedDir, TransactionKind, TransactionLabel,
    TransactionState,
};
use super::history::objects::ObjectStore;
use super::history::origin::{OriginStep, OriginTable};
use super::repository::RepositorySet;
use super::view::node_at;
use open_dirs::OpenDirs;
use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// The largest content whose new form is kept too, so that a later undo can be merged with the person's own work.
const MERGEABLE: u64 = 8 << 20;
/// From how many files on one sync of the whole file system is cheaper than one for each.
const SYNC_EACH: usize = 16;

/// One path that is to change from exactly `before` to `after`.
#[derive(Clone, Debug)]
pub(super) struct ApplyStep {
    /// Absolute, without links.
    pub path: PathBuf,
    pub before: PathState,
    pub after: PathState,
    pub source: ContentSource,
    /// Make it another name of this file, if that has the same content.
    pub twin: Option<PathBuf>,
    /// It is another name of this file now, if nothing better is known.
    pub was_twin: Option<PathBuf>,
    /// When the file has several names, all of them change; otherwise this one becomes a file of its own.
    pub keep_names: bool,
    /// The mode and owner are whatever a new file gets here; those of `after` mean nothing.
    pub fresh: bool,
    /// The calls that made the change.
    pub history: Vec<OriginStep>,
}

/// Where the new content of a file comes from.
#[derive(Clone, Debug)]
pub(super) enum ContentSource {
    Nothing,
    Object(Hash),
    Bytes(Arc<Vec<u8>>),
    /// A file that may be given another name: it lies in a layer.
    Layer(PathBuf),
}

#[derive(Debug, Error)]
pub enum ApplyError {
    /// These paths are not what they were when the change was made. Nothing was changed.
    #[error("{} changed in the meantime", list(.0))]
    Changed(Vec<PathBuf>),
    /// What had been done was taken back.
    #[error("`{}`: {error}; nothing was changed", .path.display())]
    Failed { path: PathBuf, error: io::Error },
    /// Taking it back failed as well; the journal will finish at the next start.
    #[error("`{}`: {error}; some files were changed already, and the next start of placet completes or reverts them", .path.display())]
    Half { path: PathBuf, error: io::Error },
    #[error("`{}` is {what}, which cannot be applied", .path.display())]
    Special { path: PathBuf, what: String },
    /// It was not approved by itself. Nothing was changed.
    #[error("`{}` needs its own approval: {why}", .path.display())]
    Protected { path: PathBuf, why: String },
    /// Nobody approved what goes. Nothing was changed.
    #[error("it {}, which needs its own approval", .0.words(&|path| path.into()))]
    Loss(LargeLoss),
    /// A record of placet's own cannot be read, so that the journal cannot be continued. Nothing was changed.
    #[error("{0}")]
    Damage(DamagedRecord),
    #[error("the repository is in use or has changed in the meantime: {0}")]
    Repository(String),
    /// Nothing was changed, but the journal says that it is being done.
    #[error(
        "the journal cannot be written: {0}; no file was changed yet, but the next start of placet applies it"
    )]
    Open(io::Error),
    #[error("the journal cannot be written: {0}")]
    Journal(io::Error),
}

fn list(paths: &[PathBuf]) -> String {
    let shown: Vec<String> = paths.iter().take(5).map(|p| format!("`{}`", p.display())).collect();
    let more = paths.len().saturating_sub(shown.len());
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

/// Makes all of `steps`, or none. What is there now is compared with each step's `before` first.
pub(super) fn commit_steps(
    journal: &Journal,
    objects: &ObjectStore,
    label: TransactionLabel,
    kind: TransactionKind,
    mut steps: Vec<ApplyStep>,
    repositories: &RepositorySet,
) -> Result<JournalEntry, ApplyError> {
    // Entries are searched by path, in the journal as well: a crash may come before anything else.
    steps.sort_by(|a, b| a.path.cmp(&b.path));
    // Before the lock, which such a journal may not have either.
    journal.last_number().map_err(ApplyError::Damage)?;
    let _lock = journal.lock(true).map_err(ApplyError::Journal)?;
    for step in &steps {
        if let PathState::Special { what } = &step.after {
            return Err(ApplyError::Special { path: step.path.clone(), what: what.clone() });
        }
    }
    // What an apply before left undone is not overtaken.
    let before = recover::locked(journal, objects);
    before
        .map_err(|e| ApplyError::Journal(io::Error::other(format!("an earlier apply is incomplete: {e}"))))?;
    let mut dirs = OpenDirs::default();
    let mut changed = Vec::new();
    let mut names: HashMap<(u64, u64), PathBuf> = HashMap::new();
    let (mut changes, mut origins) = (Vec::with_capacity(steps.len()), OriginTable::default());
    for step in &steps {
        let now = dirs.node(&step.path);
        if !now.is_ok_and(|now| now == step.before) {
            changed.push(step.path.clone());
            continue;
        }
        changes.push(AppliedChange {
            path: step.path.clone(),
            before: step.before.clone(),
            after: step.after.clone(),
            in_place: false,
            twin: step.twin.clone(),
            was_twin: dirs.twin(step, &mut names).or_else(|| step.was_twin.clone()),
            marks: origins.marks(&step.history),
        });
    }
    if !changed.is_empty() {
        return Err(ApplyError::Changed(changed));
    }
    let shut = shut_dirs(&steps);
    let mut entry =
        journal.begin(label, kind, (changes, origins.into_vec()), shut).map_err(ApplyError::Journal)?;
    crash_point();
    let (staged, made) = staged(journal, objects, &mut entry, &steps);
    crash_point();
    if let Err((path, error)) = staged {
        stage::clear(&entry, made);
        drop(journal.drop_open(entry.id));
        return Err(ApplyError::Failed { path, error });
    }
    entry.state = TransactionState::Committing;
    entry.repositories = touched_repositories(&entry, repositories);
    if let Err(e) = journal.save(&entry) {
        abandon(journal, &mut entry, made)?;
        return Err(ApplyError::Journal(e));
    }
    crash_point();
    if let Err(trouble) = commit::all(&entry) {
        let back = rollback::take_back(objects, &entry, &trouble);
        if back.is_err() {
            return Err(ApplyError::Half { path: trouble.path, error: trouble.error });
        }
        abandon(journal, &mut entry, made)?;
        return Err(match trouble.raced {
            true => ApplyError::Changed(vec![trouble.path]),
            false => ApplyError::Failed { path: trouble.path, error: trouble.error },
        });
    }
    crash_point();
    let left = old_contents::keep_displaced(objects, &entry, true);
    crash_point();
    entry.repositories = states_of(&entry);
    close(journal, &mut entry, left);
    crash_point();
    Ok(entry)
}

/// Stages everything, under other names where somebody has a file of such a name. Also gives the changes of which there is
/// a staged content now.
fn staged(
    journal: &Journal,
    objects: &ObjectStore,
    entry: &mut JournalEntry,
    steps: &[ApplyStep],
) -> (Result<(), stage::PathError>, Vec<usize>) {
    const TRIES: usize = 4;
    let mut tries = 1;
    loop {
        let mut made = Vec::new();
        match stage::all(objects, entry, steps, &mut made) {
            Err((_, error)) if error.kind() == io::ErrorKind::AlreadyExists && tries < TRIES => {
                stage::clear(entry, std::mem::take(&mut made));
                entry.rename();
                if let Err(error) = journal.save(entry) {
                    return (Err((PathBuf::new(), error)), made);
                }
                tries += 1;
            }
            other => return (other, made),
        }
    }
}

/// Nothing is changed, or not any more: staged contents and the open entry go. While the entry says that targets are
/// being changed, the next start would do so, and needs what is staged.
fn abandon(journal: &Journal, entry: &mut JournalEntry, made: Vec<usize>) -> Result<(), ApplyError> {
    entry.state = TransactionState::Staging;
    if journal.save(entry).is_ok() {
        stage::clear(entry, made);
        drop(journal.drop_open(entry.id));
        return Ok(());
    }
    journal.drop_open(entry.id).map_err(ApplyError::Open)?;
    stage::clear(entry, made);
    Ok(())
}

/// Everything has changed, and nothing that fails from here on takes it back. `left` are temporary files that the next
/// start has to remove: while there are any, the entry stays open.
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
fn shut_dirs(steps: &[ApplyStep]) -> Vec<RestrictedDir> {
    if rustix::process::geteuid().is_root() {
        return Vec::new();
    }
    // Also those further up: each of them is opened for the moment in which a name is looked up in it.
    let above: BTreeSet<&Path> = steps.iter().flat_map(|s| s.path.ancestors().skip(1)).collect();
    let mode = |dir: &Path| {
        let stat = super::view::stat_at(dir).ok()??;
        let is_dir = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory;
        is_dir.then_some(stat.st_mode & 0o7777)
    };
    let shut = |dir: &Path| {
        let mode = mode(dir).filter(|mode| mode & 0o300 != 0o300)?;
        Some(RestrictedDir { path: dir.to_path_buf(), mode })
    };
    above.into_iter().filter_map(shut).collect()
}

/// The repositories whose own files `entry` changes; their state is known when it is done.
fn touched_repositories(entry: &JournalEntry, all: &RepositorySet) -> Vec<RepositoryState> {
    let touched: BTreeSet<&Path> = entry.changes.iter().filter_map(|c| all.of(&c.path)).collect();
    let without_state = |path: &Path| RepositoryState { path: path.to_path_buf(), state: String::new() };
    touched.into_iter().map(without_state).collect()
}

/// The same with the state in which they are now.
fn states_of(entry: &JournalEntry) -> Vec<RepositoryState> {
    let known = entry.repositories.iter().map(|r| r.path.clone());
    // Entries that an earlier version left open name none.
    let named = entry.changes.iter().filter_map(|c| super::view::repository_of(&c.path));
    let all: BTreeSet<PathBuf> =
        if entry.repositories.is_empty() { named.collect() } else { known.collect() };
    // A state that cannot be read equals none: then an undo leaves the repository as it is.
    let state = |path: &Path| super::view::repository_state(path).unwrap_or_default();
    all.into_iter().map(|path| RepositoryState { state: state(&path), path }).collect()
}

/// In a debug build the process ends here at the N-th time when `PLACET_CRASH_AT=N`: tests go through all of them.
pub(super) fn crash_point() {
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

/// Makes everything on the file system of `at` last.
pub(super) fn sync_file_system(at: &File) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::syncfs(at);
    #[cfg(not(target_os = "linux"))]
    drop(at.sync_all());
}

/// The names that staged and displaced contents have while a transaction is open: nobody else can know them before.
fn temp_name(entry: &JournalEntry, index: usize, what: &str) -> std::ffi::OsString {
    match entry.names.as_str() {
        // An earlier version left it open.
        "" => format!(".placet-{}-{index}.{what}", entry.id).into(),
        names => format!(".placet-{names}-{index}.{what}").into(),
    }
}

/// The directory in which a change's temporary names lie: the nearest one that is there now and stays.
fn anchor(entry: &JournalEntry, index: usize) -> Option<PathBuf> {
    let change = entry.changes.get(index)?;
    let goes = |dir: &Path| {
        let found = entry.changes.binary_search_by(|c| c.path.as_path().cmp(dir));
        found
            .ok()
            .and_then(|at| entry.changes.get(at))
            .is_some_and(|c| c.before.is_directory() != c.after.is_directory() || c.before.is_absent())
    };
    change.path.ancestors().skip(1).find(|dir| !goes(dir)).map(Path::to_path_buf)
}
