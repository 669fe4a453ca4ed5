//! A run of an apply: what it prepares, what it commits, and what it takes back.

use super::checkout_files;
use super::git_program::git_version;
use super::journal::{ApplyJournal, MovePhase};
use super::lock::FileLocks;
use super::place::{ApplyPlace, Unwatched};
use super::ref_plan::{LateRef, RefPlan, RefUpdates};
use super::transaction::{RefTransaction, run_guarded};
use super::{index_writer, lock, lost, objects, stash_writer};
use crate::compare::Comparison;
use crate::error::{GitError, Result};
use crate::git_file::{GitFileClass, class_of};
use crate::limit;
use crate::question::RepositoryQuestion;
use crate::repository_move::RepositoryMove;
use crate::runner::PlainRunner;
use crate::source::{PlainSource, RepositorySource};
use crate::state::{CheckoutName, RefStorage, RefTarget, RepositoryState, symbolic};
use std::path::{Path, PathBuf};

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
    begin(change, NewObjects::Quarantine(&question.quarantine.path.join("objects")), place)
}

/// Prepares an undo, or a redo as the undo of an undo: `change` is selected from [`super::undo_question`], and `applied` are the
/// journals of the changes that it takes back.
pub fn prepare_undo(
    applied: &[PathBuf],
    change: &RepositoryMove,
    place: ApplyPlace<'_>,
) -> Result<PreparedApply> {
    begin(change, NewObjects::Kept(applied), place)
}

/// Where recovery goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryGoal {
    Revert,
    Complete,
}

/// A change whose locks are held. The caller writes the work tree's files, and then commits or aborts.
pub struct PreparedApply {
    run: Option<ApplyRun>,
    change: RepositoryMove,
}

impl PreparedApply {
    fn new(run: ApplyRun, change: RepositoryMove) -> PreparedApply {
        PreparedApply { run: Some(run), change }
    }

    /// Moves everything. After an error everything is as it was before.
    pub fn commit(mut self, place: ApplyPlace<'_>) -> Result<()> {
        let Some(mut run) = self.run.take() else { return Ok(()) };
        match run.commit(&self.change, place) {
            Ok(()) => Ok(()),
            Err(error) => {
                run.roll_back(place)?;
                Err(error)
            }
        }
    }

    /// Releases the locks; nothing moved.
    pub fn abort(mut self, place: ApplyPlace<'_>) -> Result<()> {
        match self.run.take() {
            Some(mut run) => run.roll_back(place),
            None => Ok(()),
        }
    }
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
struct ApplyRun {
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
        reached("journaled")?;
        match objects {
            NewObjects::Quarantine(from) => objects::store(from, &self.git_dir.join("objects"))?,
            NewObjects::Kept(applied) => {
                for journal in applied {
                    lost::restore(journal, &self.git_dir)?;
                }
            }
            NewObjects::Nothing => {}
        }
        reached("objects stored")?;
        let plan = RefPlan::of(change, git_version()?);
        if !plan.early.is_empty() {
            self.prepare_refs(&plan.early, place)?.commit()?;
            self.journal.locks.clear();
        }
        reached("deletes committed")?;
        if !plan.main.is_empty() {
            self.refs = Some(self.prepare_refs(&plan.main, place)?);
        }
        self.journal.expect_locks(plan.later_locks(change))?;
        reached("refs prepared")?;
        for (name, checkout) in &change.checkouts {
            if !checkout.index.is_empty() && checkout.head.as_ref().is_none_or(|head| head.after.is_some()) {
                checkout_files::make_directory(&place.git_dir_of(name))?;
                self.locks.take(&mut self.journal, &place.git_dir_of(name), "index")?;
            }
        }
        reached("index locked")?;
        let scratch = self.journal.scratch()?;
        let source = PlainSource::new(&self.git_dir);
        let (now, copy) = RepositoryState::read_with_copy(&source, &scratch.join("now"), &PlainRunner)?;
        self.compare(change, &now, !plan.early.is_empty())?;
        reached("compared")?;
        for (name, checkout) in &change.checkouts {
            if let Some(lock) = self.locks.of(&place.git_dir_of(name)) {
                let wanted = &checkout.index;
                index_writer::write(&copy, name, wanted, &now, &scratch, &PlainRunner)?;
                lock.fill_as_old(&copy.git_dir(name).join("index"))?;
            }
        }
        reached("index written")?;
        // Recovery has what the first try kept, and needs nothing else.
        if !matches!(objects, NewObjects::Nothing) {
            lost::keep(change, &now, &copy, &self.journal)?;
        }
        reached("ready")
    }

    /// Takes the locks of these refs, which the journal names before and after.
    fn prepare_refs(&mut self, updates: &RefUpdates, place: ApplyPlace<'_>) -> Result<RefTransaction> {
        let head = PlainSource::new(&self.git_dir).read(Path::new("HEAD"), limit::REF)?;
        let branch = head.as_ref().and_then(|head| symbolic(&head.bytes));
        let locks = updates.locks(self.journal.change.format.refs, branch.as_ref());
        if let Some(held) =
            locks.iter().map(|(lock, _)| self.git_dir.join(lock.as_path())).find(|lock| lock.exists())
        {
            return Err(GitError::Locked(held));
        }
        self.journal.expect_locks(locks)?;
        let mut transaction = RefTransaction::start(place, &self.git_dir, &self.journal.guard())?;
        transaction.prepare(updates)?;
        let recorded = place.watch.reached("refs locked");
        match recorded.and_then(|()| self.journal.record_ref_locks()) {
            Ok(()) => Ok(transaction),
            Err(error) => {
                transaction.abort();
                Err(error)
            }
        }
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
        if self.journal.guard().exists() {
            lock::remove_own(&self.journal);
        }
        if self.journal.phase != MovePhase::Preparing || !self.journal.is_unmoved() {
            let unwatched = ApplyPlace { watch: &Unwatched, ..place };
            drive(&mut self.journal, unwatched, RecoveryGoal::Revert)?;
        }
        for (name, checkout) in &self.journal.change.checkouts {
            if checkout.head.as_ref().is_some_and(|head| head.before.is_none()) {
                checkout_files::remove_empty(&place.git_dir_of(name));
            }
        }
        self.journal.discard()
    }

    fn commit(&mut self, change: &RepositoryMove, place: ApplyPlace<'_>) -> Result<()> {
        let reached = |step| place.watch.reached(step);
        self.journal.set_phase(MovePhase::Committing)?;
        reached("committing")?;
        self.finish(change, place)?;
        self.journal.locks.clear();
        self.journal.set_phase(MovePhase::Done)?;
        self.journal.remove_scratch()
    }

    /// The moves themselves, which recovery repeats.
    fn finish(&mut self, change: &RepositoryMove, place: ApplyPlace<'_>) -> Result<()> {
        let reached = |step| place.watch.reached(step);
        let guard = self.journal.guard();
        for (name, checkout) in &change.checkouts {
            if checkout.head.as_ref().is_some_and(|head| head.before.is_none()) {
                checkout_files::register(&place.git_dir_of(name), name, checkout)?;
            }
        }
        self.locks.commit()?;
        self.locks.release();
        reached("index moved")?;
        checkout_files::write(&self.git_dir, &change.files)?;
        reached("files written")?;
        if let Some(refs) = self.refs.take() {
            refs.commit()?;
        }
        reached("refs committed")?;
        // After the transaction, which may hold the lock of the packed refs.
        if let Some(stash) = &change.stash {
            let [before, after] =
                [&stash.before, &stash.after].map(|list| list.as_deref().unwrap_or_default());
            stash_writer::write(place, (&self.git_dir, &guard), before, after)?;
        }
        reached("stash moved")?;
        for late in RefPlan::of(change, git_version()?).late {
            move_late(place, &late, &guard)?;
        }
        for (name, checkout) in &change.checkouts {
            if checkout.head.as_ref().is_some_and(|head| head.after.is_none()) {
                checkout_files::register(&place.git_dir_of(name), name, checkout)?;
            }
        }
        reached("heads moved")
    }
}

/// Moves each item that is not there yet.
pub(super) fn drive(journal: &mut ApplyJournal, place: ApplyPlace<'_>, goal: RecoveryGoal) -> Result<()> {
    let change = match goal {
        RecoveryGoal::Complete => journal.change.clone(),
        RecoveryGoal::Revert => journal.change.inverse(),
    };
    let scratch = journal.scratch()?;
    let now = RepositoryState::read(&PlainSource::new(place.git_dir), &scratch.join("found"), &PlainRunner)?;
    let found = Comparison::again(&change, &now);
    let mut left = found.moved;
    if let Some(stash) = stash_writer::interrupted(&change, &now.stash) {
        left.stash = Some(stash);
    }
    if !left.is_empty() {
        let mut run = ApplyRun::new(journal.clone(), place.git_dir);
        let done = run.prepare(&left, NewObjects::Nothing, place).and_then(|()| run.finish(&left, place));
        if let Err(error) = done {
            if let Some(refs) = run.refs.take() {
                refs.abort();
            }
            run.locks.release();
            return Err(error);
        }
    }
    Ok(())
}

fn move_late(place: ApplyPlace<'_>, late: &LateRef, guard: &Path) -> Result<()> {
    let git_dir = place.git_dir_of(&late.checkout);
    let message = place.message();
    let mut call = match &late.target {
        Some(RefTarget::Symbolic(_)) => place.call(&git_dir, &["symbolic-ref", "-m", &message]),
        Some(RefTarget::Object(_)) => place.call(&git_dir, &["update-ref", "--no-deref", "-m", &message]),
        None => place.call(&git_dir, &["update-ref", "--no-deref", "-d"]),
    };
    call.args.push(late.name.as_os_str().to_os_string());
    match &late.target {
        Some(RefTarget::Symbolic(to)) => call.args.push(to.as_os_str().to_os_string()),
        Some(RefTarget::Object(id)) => call.args.push(id.to_string().into()),
        None => {}
    }
    run_guarded(&call, guard)
}
