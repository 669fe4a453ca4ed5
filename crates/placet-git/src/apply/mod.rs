//! Applies a change: journaled before it begins, compared under git's own locks, and undone at each step that refuses.
//!
//! The order: objects, locks and prepared refs, comparison under the locks, the new index in scratch; then, once the
//! caller has written the work tree's files: index, files of git, refs, stash. Undo, redo and recovery go the same way.

mod checkout_files;
mod commit;
mod index_writer;
mod journal;
mod lock;
mod lost;
mod objects;
mod recover;
mod ref_plan;
mod stash_writer;
mod transaction;

pub use commit::PreparedApply;
pub use journal::{ApplyJournal, MovePhase};
pub use recover::{MoveRecovery, RecoveryGoal, recover};

use crate::compare::Comparison;
use crate::error::{GitError, Result};
use crate::git_file::{GitFileClass, class_of};
use crate::git_name::GitName;
use crate::question::RepositoryQuestion;
use crate::repository_move::RepositoryMove;
use crate::runner::{GitCall, PlainRunner, run_one};
use crate::source::PlainSource;
use crate::state::{CheckoutName, CheckoutState, RefStorage, RepositoryState};
use lock::FileLocks;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use transaction::RefTransaction;

/// The steps of an apply, in their order. A test stops at each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveStep {
    Journaled,
    ObjectsStored,
    DeletesCommitted,
    RefsPrepared,
    IndexLocked,
    Compared,
    IndexWritten,
    Ready,
    Committing,
    IndexMoved,
    FilesWritten,
    RefsCommitted,
    StashMoved,
    HeadsMoved,
}

impl MoveStep {
    pub const ALL: [MoveStep; 14] = [
        MoveStep::Journaled,
        MoveStep::ObjectsStored,
        MoveStep::DeletesCommitted,
        MoveStep::RefsPrepared,
        MoveStep::IndexLocked,
        MoveStep::Compared,
        MoveStep::IndexWritten,
        MoveStep::Ready,
        MoveStep::Committing,
        MoveStep::IndexMoved,
        MoveStep::FilesWritten,
        MoveStep::RefsCommitted,
        MoveStep::StashMoved,
        MoveStep::HeadsMoved,
    ];
}

/// Is told of each step after it was done. An error stops the apply there, and everything is undone.
pub trait ApplyWatch {
    fn reached(&self, step: MoveStep) -> Result<()>;
}

/// Goes on.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl ApplyWatch for Unwatched {
    fn reached(&self, _: MoveStep) -> Result<()> {
        Ok(())
    }
}

/// Who stands in the reflog.
#[derive(Clone, Debug)]
pub struct PersonIdentity {
    pub name: OsString,
    pub email: OsString,
}

/// Where a change is applied.
#[derive(Clone, Copy)]
pub struct ApplyPlace<'a> {
    /// The person's common git directory.
    pub git_dir: &'a Path,
    /// A directory of placet's that does not exist yet, and that stays for undo.
    pub journal: &'a Path,
    pub identity: &'a PersonIdentity,
    /// What the reflog says after `placet: `.
    pub title: &'a GitName,
    pub watch: &'a dyn ApplyWatch,
}

impl ApplyPlace<'_> {
    pub(crate) fn git_dir_of(&self, checkout: &CheckoutName) -> PathBuf {
        self.git_dir.join(checkout.directory())
    }

    /// A call in the person's repository, with their identity.
    pub(crate) fn call(&self, git_dir: &Path, args: &[&str]) -> GitCall {
        let call = GitCall::new(git_dir, args);
        call.env("GIT_COMMITTER_NAME", &self.identity.name).env("GIT_COMMITTER_EMAIL", &self.identity.email)
    }

    pub(crate) fn message(&self) -> String {
        let title: String = self.title.escaped().chars().take(200).collect();
        format!("placet: {title}")
    }
}

/// Where the objects of a change come from.
#[derive(Clone, Copy)]
enum NewObjects<'a> {
    Quarantine(&'a Path),
    /// What the journals of earlier changes kept.
    Kept(&'a [PathBuf]),
    Nothing,
}

/// Prepares the change that a question and its answers make. Nothing of the person's moved yet; locks are held.
pub fn prepare(
    question: &RepositoryQuestion,
    change: &RepositoryMove,
    place: ApplyPlace<'_>,
) -> Result<PreparedApply> {
    let objects = question.quarantine_path().join("objects");
    debug_assert_eq!(objects, question.quarantine.objects());
    begin(change, NewObjects::Quarantine(&objects), place)
}

/// Prepares an undo, or a redo as the undo of an undo: `change` is selected from [`undo_question`], and `applied` are the
/// journals of the changes that it takes back.
pub fn prepare_undo(
    applied: &[PathBuf],
    change: &RepositoryMove,
    place: ApplyPlace<'_>,
) -> Result<PreparedApply> {
    begin(change, NewObjects::Kept(applied), place)
}

/// Compares an applied change with what the repository is now.
///
/// `applied` is the change, several changes as one by [`RepositoryMove::then`], and `scratch` a directory that does not
/// exist yet.
pub fn undo_question(applied: &RepositoryMove, git_dir: &Path, scratch: &Path) -> Result<Comparison> {
    let now = RepositoryState::read(&PlainSource::new(git_dir), scratch, &PlainRunner)?;
    Ok(Comparison::again(&applied.inverse(), &now))
}

/// True where a repository that was made has refs, stash entries, staged files, files of an operation or a place of `HEAD` that
/// the changes did not give it: `made`, as one by [`RepositoryMove::then`], or nothing but the new directory.
pub fn has_more(made: Option<&RepositoryMove>, git_dir: &Path, scratch: &Path) -> Result<bool> {
    let now = RepositoryState::read(&PlainSource::new(git_dir), scratch, &PlainRunner)?;
    let nothing = RepositoryMove::nothing(now.format.clone());
    let made = made.unwrap_or(&nothing);
    let is_made = |name: &CheckoutName, checkout: &CheckoutState| {
        let made = made.checkouts.get(name);
        let index = |path: &GitName| made.and_then(|made| made.index.get(path)?.after.as_ref());
        let head = made.and_then(|made| made.head.as_ref()?.after.as_ref());
        checkout.index.iter().all(|(path, entries)| index(path) == Some(entries))
            && checkout.own_refs.is_empty()
            && head.is_none_or(|head| *head == checkout.head)
            && (made.is_some() || *name == CheckoutName::Main)
    };
    let stash = made.stash.as_ref().and_then(|stash| stash.after.as_ref());
    let is_operation = |name: &GitName| matches!(class_of(name), GitFileClass::Operation(_));
    let is_all =
        now.refs.iter().all(|(name, target)| {
            made.refs.get(name).is_some_and(|moved| moved.after.as_ref() == Some(target))
        }) && now.checkouts.iter().all(|(name, checkout)| is_made(name, checkout))
            && (now.stash.is_empty() || stash == Some(&now.stash))
            && now.files.named.keys().all(|name| !is_operation(name) || made.files.contains_key(name));
    Ok(!is_all)
}

fn begin(change: &RepositoryMove, objects: NewObjects<'_>, place: ApplyPlace<'_>) -> Result<PreparedApply> {
    refuse_what_cannot_be_applied(change)?;
    let journal = ApplyJournal::create(place, change)?;
    let mut run = ApplyRun::new(journal, place.git_dir);
    match run.prepare(change, objects, place) {
        Ok(()) => Ok(PreparedApply::new(run, change.clone())),
        Err(error) => {
            run.roll_back(place)?;
            Err(error)
        }
    }
}

fn refuse_what_cannot_be_applied(change: &RepositoryMove) -> Result<()> {
    for (name, moved) in &change.files {
        let contents = [&moved.before, &moved.after].into_iter().flatten();
        if contents.into_iter().any(|content| content.bytes().is_none()) {
            return Err(GitError::Unsupported(format!("`{}` is not a small regular file", name.escaped())));
        }
        if matches!(class_of(name), GitFileClass::NotCarried | GitFileClass::Carried) {
            return Err(GitError::Unsupported(format!("`{}` is not a file that waits", name.escaped())));
        }
    }
    for (name, checkout) in &change.checkouts {
        let is_added_or_removed =
            checkout.head.as_ref().is_some_and(|h| h.before.is_none() || h.after.is_none());
        if is_added_or_removed && (*name == CheckoutName::Main || change.format.refs == RefStorage::Reftable)
        {
            return Err(GitError::Unsupported("a linked worktree with reftables".into()));
        }
    }
    Ok(())
}

/// An apply that runs: its journal, and what it holds.
pub(crate) struct ApplyRun {
    journal: ApplyJournal,
    git_dir: PathBuf,
    refs: Option<RefTransaction>,
    locks: FileLocks,
}

impl ApplyRun {
    fn new(journal: ApplyJournal, git_dir: &Path) -> ApplyRun {
        ApplyRun { journal, git_dir: git_dir.to_path_buf(), refs: None, locks: FileLocks::default() }
    }

    fn prepare(
        &mut self,
        change: &RepositoryMove,
        objects: NewObjects<'_>,
        place: ApplyPlace<'_>,
    ) -> Result<()> {
        let reached = |step| place.watch.reached(step);
        reached(MoveStep::Journaled)?;
        match objects {
            NewObjects::Quarantine(from) => objects::store(from, &self.git_dir.join("objects"))?,
            NewObjects::Kept(applied) => {
                for journal in applied {
                    lost::restore(journal, &self.git_dir)?;
                }
            }
            NewObjects::Nothing => {}
        }
        reached(MoveStep::ObjectsStored)?;
        let plan = ref_plan::RefPlan::of(change, git_version()?);
        if !plan.early.is_empty() {
            let mut early = RefTransaction::start(place, &self.git_dir)?;
            early.prepare(&plan.early)?;
            early.commit()?;
        }
        reached(MoveStep::DeletesCommitted)?;
        if !plan.main.is_empty() {
            self.journal.expect_locks(&plan.main, &self.git_dir)?;
            let mut transaction = RefTransaction::start(place, &self.git_dir)?;
            transaction.prepare(&plan.main)?;
            self.refs = Some(transaction);
            self.journal.record_ref_locks(&self.git_dir)?;
        }
        reached(MoveStep::RefsPrepared)?;
        for (name, checkout) in &change.checkouts {
            if !checkout.index.is_empty() && checkout.head.as_ref().is_none_or(|head| head.after.is_some()) {
                checkout_files::make_directory(&place.git_dir_of(name))?;
                self.locks.take(&mut self.journal, &place.git_dir_of(name), "index")?;
            }
        }
        reached(MoveStep::IndexLocked)?;
        let scratch = self.journal.scratch()?;
        let source = PlainSource::new(&self.git_dir);
        let (now, copy) = RepositoryState::read_with_copy(&source, &scratch.join("now"), &PlainRunner)?;
        self.compare(change, &now, !plan.early.is_empty())?;
        reached(MoveStep::Compared)?;
        for (name, checkout) in &change.checkouts {
            if let Some(lock) = self.locks.of(&place.git_dir_of(name)) {
                let wanted = &checkout.index;
                index_writer::write(&copy, name, wanted, &now, &scratch, &PlainRunner)?;
                lock.fill(&copy.git_dir(name).join("index"))?;
            }
        }
        reached(MoveStep::IndexWritten)?;
        // Recovery has what the first try kept, and needs nothing else.
        if !matches!(objects, NewObjects::Nothing) {
            lost::keep(change, &now, &copy, &self.journal)?;
        }
        reached(MoveStep::Ready)
    }

    /// Under the locks: each item is what it was when the question was asked.
    fn compare(&self, change: &RepositoryMove, now: &RepositoryState, is_partly_done: bool) -> Result<()> {
        let found = Comparison::again(change, now);
        if let Some(item) = found.conflicts.first() {
            return Err(item.changed());
        }
        if is_partly_done || found.moved == *change {
            return Ok(());
        }
        Err(GitError::Changed("the repository".into()))
    }

    /// Releases what is held, and moves what was moved back.
    fn roll_back(&mut self, place: ApplyPlace<'_>) -> Result<()> {
        if let Some(refs) = self.refs.take() {
            refs.abort();
        }
        self.locks.release();
        if self.journal.phase != MovePhase::Preparing || !self.journal.is_unmoved() {
            let unwatched = ApplyPlace { watch: &Unwatched, ..place };
            recover::drive(&mut self.journal, unwatched, RecoveryGoal::Revert)?;
        }
        for (name, checkout) in &self.journal.change.checkouts {
            if checkout.head.as_ref().is_some_and(|head| head.before.is_none()) {
                checkout_files::remove_empty(&place.git_dir_of(name));
            }
        }
        self.journal.discard()
    }
}

/// The version of git on this machine.
pub(crate) fn git_version() -> Result<(u32, u32)> {
    static VERSION: std::sync::OnceLock<(u32, u32)> = std::sync::OnceLock::new();
    if let Some(version) = VERSION.get() {
        return Ok(*version);
    }
    let output = run_one(&PlainRunner, GitCall::new(Path::new("/"), ["version"]))?.stdout;
    let text = String::from_utf8_lossy(&output);
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse::<u32>().ok());
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
        return Err(GitError::Unexpected { command: "version" });
    };
    if (major, minor) < (2, 30) {
        return Err(GitError::TooOld(major, minor));
    }
    Ok(*VERSION.get_or_init(|| (major, minor)))
}

/// The person's identity as git would write it, from their own settings.
pub fn person_identity(work_tree: &Path) -> Result<PersonIdentity> {
    let output = std::process::Command::new("git")
        .args(["var", "GIT_COMMITTER_IDENT"])
        .current_dir(work_tree)
        .output();
    let output = output.map_err(GitError::NotStarted)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = text
        .split_once(" <")
        .and_then(|(name, rest)| Some((name.to_owned(), rest.split_once('>')?.0.to_owned())));
    let (name, email) = found.unwrap_or_else(|| ("placet".into(), "placet@localhost".into()));
    Ok(PersonIdentity { name: name.into(), email: email.into() })
}

fn remove_all(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(GitError::io("remove", path)(error))
        }
        _ => Ok(()),
    }
}
