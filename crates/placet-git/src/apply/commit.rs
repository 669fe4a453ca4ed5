//! The second half of an apply: what was prepared becomes visible.

use super::journal::MovePhase;
use super::ref_plan::{LateRef, RefPlan};
use super::{ApplyPlace, ApplyRun, MoveStep, checkout_files, git_version, stash_writer};
use crate::error::Result;
use crate::repository_move::RepositoryMove;
use crate::runner::{PlainRunner, run_one};
use crate::state::RefTarget;

/// A change whose locks are held. The caller writes the work tree's files, and then commits or aborts.
pub struct PreparedApply {
    run: Option<ApplyRun>,
    change: RepositoryMove,
}

impl PreparedApply {
    pub(super) fn new(run: ApplyRun, change: RepositoryMove) -> PreparedApply {
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

impl ApplyRun {
    pub(super) fn commit(&mut self, change: &RepositoryMove, place: ApplyPlace<'_>) -> Result<()> {
        let reached = |step| place.watch.reached(step);
        self.journal.set_phase(MovePhase::Committing)?;
        reached(MoveStep::Committing)?;
        self.finish(change, place)?;
        self.journal.locks.clear();
        self.journal.set_phase(MovePhase::Done)?;
        self.journal.remove_scratch()
    }

    /// The moves themselves, which recovery repeats.
    pub(super) fn finish(&mut self, change: &RepositoryMove, place: ApplyPlace<'_>) -> Result<()> {
        let reached = |step| place.watch.reached(step);
        for (name, checkout) in &change.checkouts {
            if checkout.head.as_ref().is_some_and(|head| head.before.is_none()) {
                checkout_files::register(&place.git_dir_of(name), name, checkout)?;
            }
        }
        self.locks.commit()?;
        self.locks.release();
        reached(MoveStep::IndexMoved)?;
        checkout_files::write(&self.git_dir, &change.files)?;
        reached(MoveStep::FilesWritten)?;
        if let Some(refs) = self.refs.take() {
            refs.commit()?;
        }
        reached(MoveStep::RefsCommitted)?;
        // After the transaction, which may hold the lock of the packed refs.
        if let Some(stash) = &change.stash {
            let now = stash.before.as_deref().unwrap_or_default();
            stash_writer::write(place, &self.git_dir, now, stash.after.as_deref().unwrap_or_default())?;
        }
        reached(MoveStep::StashMoved)?;
        for late in RefPlan::of(change, git_version()?).late {
            move_late(place, &late)?;
        }
        for (name, checkout) in &change.checkouts {
            if checkout.head.as_ref().is_some_and(|head| head.after.is_none()) {
                checkout_files::register(&place.git_dir_of(name), name, checkout)?;
            }
        }
        reached(MoveStep::HeadsMoved)
    }
}

fn move_late(place: ApplyPlace<'_>, late: &LateRef) -> Result<()> {
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
    run_one(&PlainRunner, call).map(|_| ())
}
