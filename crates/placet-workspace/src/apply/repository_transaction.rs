//! The part of an apply that git does: prepared before the files of the work tree change, and committed after them.
//!
//! While it is prepared, git's own locks are held, and each item was compared with what it was at the question. The journal
//! entry of the apply names the journals of its repositories, so that the next start after a kill goes the same way with both.

use super::sync::crash_point;
use crate::history::journal::{AppliedRepository, AppliedRepositoryKind, Journal, TransactionLabel};
use placet_git::{
    ApplyJournal, ApplyPlace, ApplyWatch, ApprovedGroups, GitError, GitName, NewRepository, PersonIdentity,
    PreparedApply, RecoveryGoal, RepositoryMove, RepositoryQuestion, Unwatched, person_identity, prepare,
    prepare_undo,
};
use placet_permission::is_git_name;
use std::fmt::Debug;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A repository that the question was about, with its new objects.
pub(crate) trait AskedRepository: Debug + Send + Sync {
    fn question(&self) -> Option<&RepositoryQuestion>;
    fn created(&self) -> Option<&NewRepository>;
}

/// What is done to one repository.
#[derive(Debug)]
pub(crate) enum RepositoryWork {
    Apply {
        repository: Arc<dyn AskedRepository>,
        change: Box<RepositoryMove>,
    },
    Create {
        repository: Arc<dyn AskedRepository>,
        approved: ApprovedGroups,
        /// Contents of LFS by their names below the repository, and where they are.
        contents: Vec<(PathBuf, PathBuf)>,
    },
    /// Back to what the journals say, as one change.
    Back {
        applied: Vec<PathBuf>,
        change: Box<RepositoryMove>,
    },
    /// A repository that an apply made goes into its journal.
    Remove,
    /// It comes back from there.
    Restore {
        kept: PathBuf,
    },
}

/// Each step is a point at which a test stops the process.
struct CrashPoints;

impl ApplyWatch for CrashPoints {
    fn reached(&self, _: &str) -> Result<(), GitError> {
        crash_point();
        Ok(())
    }
}

struct RepositoryPart {
    applied: AppliedRepository,
    work: RepositoryWork,
    prepared: Option<PreparedApply>,
    is_away: bool,
}

/// The repositories of one apply or undo.
#[derive(Default)]
pub(crate) struct RepositoryTransaction {
    parts: Vec<RepositoryPart>,
    title: GitName,
}

/// A repository that could not be changed; nothing of the transaction is.
#[derive(Debug)]
pub(crate) struct RepositoryFailure(pub(crate) String);

impl From<GitError> for RepositoryFailure {
    fn from(error: GitError) -> RepositoryFailure {
        RepositoryFailure(error.to_string())
    }
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> RepositoryFailure {
    let path = path.display().to_string();
    move |error| RepositoryFailure(format!("`{path}`: {error}"))
}

impl RepositoryTransaction {
    pub(crate) fn titled(title: &str) -> RepositoryTransaction {
        RepositoryTransaction { parts: Vec::new(), title: GitName::from(title) }
    }

    pub(crate) fn add(&mut self, applied: AppliedRepository, work: RepositoryWork) {
        self.parts.push(RepositoryPart { applied, work, prepared: None, is_away: false });
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// For the journal entry, before anything is done.
    pub(crate) fn applied(&self) -> Vec<AppliedRepository> {
        self.parts.iter().map(|part| part.applied.clone()).collect()
    }

    /// Takes git's locks. After an error nothing is held, and nothing is changed.
    pub(crate) fn prepare(&mut self, journal: &Journal) -> Result<(), RepositoryFailure> {
        let title = self.title.clone();
        let prepared = self.parts.iter_mut().try_for_each(|part| part.prepare(journal, &title));
        if prepared.is_err() {
            self.abort(journal);
        }
        prepared
    }

    /// A repository that goes is out of the way before the directory around it goes.
    pub(crate) fn before_files(&mut self) -> Result<(), RepositoryFailure> {
        for part in self.parts.iter_mut().rev().filter(|part| matches!(part.work, RepositoryWork::Remove)) {
            fs::rename(&part.applied.path, &part.applied.staged).map_err(failed(&part.applied.path))?;
            part.is_away = true;
        }
        Ok(())
    }

    /// Everything becomes visible. After an error, [`RepositoryTransaction::abort`] takes back what was done.
    pub(crate) fn commit(&mut self, journal: &Journal) -> Result<(), RepositoryFailure> {
        let title = self.title.clone();
        self.parts.iter_mut().try_for_each(|part| part.commit(journal, &title))
    }

    pub(crate) fn abort(&mut self, journal: &Journal) {
        let title = self.title.clone();
        for part in self.parts.iter_mut().rev() {
            if let Err(RepositoryFailure(error)) = part.abort(journal, &title) {
                tracing::warn!("a repository was not put back: {error}");
            }
        }
    }
}

impl RepositoryPart {
    fn with_place<T>(
        &self,
        journal: &Journal,
        title: &GitName,
        work: impl FnOnce(ApplyPlace<'_>) -> Result<T, GitError>,
    ) -> Result<T, RepositoryFailure> {
        let record = journal.repository_record(&self.applied);
        if let Some(parent) = record.parent() {
            placet_text::private::make_dir(parent).map_err(failed(parent))?;
        }
        let identity = identity_of(&self.applied.path)?;
        let (git_dir, journal) = (&self.applied.path, &record);
        Ok(work(ApplyPlace { git_dir, journal, identity: &identity, title, watch: &CrashPoints })?)
    }

    fn prepare(&mut self, journal: &Journal, title: &GitName) -> Result<(), RepositoryFailure> {
        let record = journal.repository_record(&self.applied);
        match &self.work {
            RepositoryWork::Apply { repository, change } => {
                let question =
                    repository.question().ok_or_else(|| RepositoryFailure("nothing was read".into()))?;
                self.prepared =
                    Some(self.with_place(journal, title, |place| prepare(question, change, place))?);
            }
            RepositoryWork::Back { applied, change } => {
                self.prepared =
                    Some(self.with_place(journal, title, |place| prepare_undo(applied, change, place))?);
            }
            RepositoryWork::Create { repository, approved, contents } => {
                nothing_is_at(&self.applied.path)?;
                let Some(new) = repository.created() else { return Ok(()) };
                let staged = &self.applied.staged;
                self.with_place(journal, title, |place| new.make(staged, approved, place))?;
                contents.iter().try_for_each(|(name, from)| copy_content(from, &staged.join(name)))?;
            }
            RepositoryWork::Restore { kept } => {
                nothing_is_at(&self.applied.path)?;
                move_dir(kept, &self.applied.staged)?;
            }
            RepositoryWork::Remove => {
                placet_text::private::make_dir(&record).map_err(failed(&record))?;
            }
        }
        Ok(())
    }

    fn commit(&mut self, journal: &Journal, title: &GitName) -> Result<(), RepositoryFailure> {
        if let Some(prepared) = self.prepared.take() {
            return self.with_place(journal, title, |place| prepared.commit(place));
        }
        let AppliedRepository { path, staged, .. } = &self.applied;
        match &self.work {
            RepositoryWork::Create { .. } | RepositoryWork::Restore { .. } => {
                // The repository of a submodule is in a directory of the outer one that nothing else makes.
                let parent = path.parent().unwrap_or(path);
                fs::create_dir_all(parent).map_err(failed(parent))?;
                fs::rename(staged, path).map_err(failed(path))
            }
            RepositoryWork::Remove => {
                move_dir(staged, &kept_in(&journal.repository_record(&self.applied)))?;
                self.is_away = false;
                remove_empty_parents(path);
                Ok(())
            }
            RepositoryWork::Apply { .. } | RepositoryWork::Back { .. } => Ok(()),
        }
    }

    fn abort(&mut self, journal: &Journal, title: &GitName) -> Result<(), RepositoryFailure> {
        if let Some(prepared) = self.prepared.take() {
            return self.with_place(journal, title, |place| prepared.abort(place));
        }
        let record = journal.repository_record(&self.applied);
        let AppliedRepository { path, staged, .. } = &self.applied;
        match &self.work {
            // What was committed already goes back.
            RepositoryWork::Apply { .. } | RepositoryWork::Back { .. }
                if record.join("journal.json").exists() =>
            {
                self.with_place(journal, title, |place| {
                    placet_git::recover(place, RecoveryGoal::Revert).map(drop)
                })
            }
            RepositoryWork::Create { .. } => {
                drop(fs::remove_dir_all(staged));
                Ok(())
            }
            RepositoryWork::Restore { kept } if staged.exists() => move_dir(staged, kept),
            RepositoryWork::Remove if self.is_away => fs::rename(staged, path).map_err(failed(path)),
            _ => Ok(()),
        }
    }
}

fn copy_content(from: &Path, to: &Path) -> Result<(), RepositoryFailure> {
    fs::create_dir_all(to.parent().unwrap_or(to)).map_err(failed(to))?;
    fs::copy(from, to).and_then(|_| fs::File::open(to)?.sync_all()).map_err(failed(to))
}

/// A rename replaces an empty directory.
fn nothing_is_at(path: &Path) -> Result<(), RepositoryFailure> {
    let is_empty = || fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none());
    if path.symlink_metadata().is_ok_and(|there| !there.is_dir() || !is_empty()) {
        return Err(RepositoryFailure(format!("`{}` is there already", path.display())));
    }
    Ok(())
}

/// The directories of the outer repository that were made for that of a submodule.
fn remove_empty_parents(path: &Path) {
    let Some(outer) = path.ancestors().skip(1).find(|dir| is_git_name(dir)) else { return };
    for dir in path.ancestors().skip(1).take_while(|dir| *dir != outer) {
        if fs::remove_dir(dir).is_err() {
            return;
        }
    }
}

/// Who the person is in their own repository: for the reflog.
fn identity_of(git_dir: &Path) -> Result<PersonIdentity, RepositoryFailure> {
    let there = git_dir.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/"));
    Ok(person_identity(there)?)
}

/// Where a repository is that an undo took away.
pub(crate) fn kept_in(record: &Path) -> PathBuf {
    record.join("kept")
}

/// Moves a directory, also to another file system: whole under its new name, or not there at all.
fn move_dir(from: &Path, to: &Path) -> Result<(), RepositoryFailure> {
    match fs::rename(from, to) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {}
        Err(error) => return Err(failed(from)(error)),
    }
    let mut half = to.as_os_str().to_os_string();
    half.push(".half");
    let half = PathBuf::from(half);
    drop(fs::remove_dir_all(&half));
    copy_dir(from, &half).map_err(failed(from))?;
    fs::rename(&half, to).map_err(failed(to))?;
    fs::remove_dir_all(from).map_err(failed(from))
}

fn copy_dir(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        let kind = entry.file_type()?;
        if kind.is_dir() {
            copy_dir(&from, &to)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(fs::read_link(&from)?, &to)?;
        } else {
            fs::copy(&from, &to)?;
        }
    }
    fs::set_permissions(to, fs::metadata(from)?.permissions())
}

/// After a kill: what the apply of the files does, the repositories do, too.
pub(crate) fn recover_repositories(
    journal: &Journal,
    applied: &[AppliedRepository],
    label: &TransactionLabel,
    goal: RecoveryGoal,
) -> io::Result<()> {
    let title = GitName::from(label.title.as_str());
    for one in applied {
        let record = journal.repository_record(one);
        let done = match one.kind {
            AppliedRepositoryKind::Changed => recover_changed(one, &record, &title, goal),
            AppliedRepositoryKind::Created => match (goal, one.staged.exists()) {
                (RecoveryGoal::Complete, true) if !one.path.exists() => {
                    fs::rename(&one.staged, &one.path).map_err(failed(&one.path))
                }
                (_, true) => fs::remove_dir_all(&one.staged).map_err(failed(&one.staged)),
                (_, false) => Ok(()),
            },
            AppliedRepositoryKind::Removed => match (goal, one.staged.exists()) {
                (RecoveryGoal::Complete, true) => move_dir(&one.staged, &kept_in(&record)),
                (RecoveryGoal::Revert, true) => fs::rename(&one.staged, &one.path).map_err(failed(&one.path)),
                (RecoveryGoal::Complete, false) if one.path.exists() => {
                    move_dir(&one.path, &kept_in(&record))
                }
                (_, false) => Ok(()),
            },
        };
        done.map_err(|RepositoryFailure(error)| io::Error::other(error))?;
    }
    Ok(())
}

fn recover_changed(
    one: &AppliedRepository,
    record: &Path,
    title: &GitName,
    goal: RecoveryGoal,
) -> Result<(), RepositoryFailure> {
    // Killed before its journal was written: nothing was done.
    if ApplyJournal::load(record).is_err() {
        return Ok(());
    }
    let identity = identity_of(&one.path)?;
    let (git_dir, journal) = (&one.path, record);
    let place = ApplyPlace { git_dir, journal, identity: &identity, title, watch: &Unwatched };
    for lock in placet_git::recover(place, goal)? {
        tracing::warn!("`{}` may be a lock of another program, and stays", lock.display());
    }
    Ok(())
}
