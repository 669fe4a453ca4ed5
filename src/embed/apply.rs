//! Applying and discarding what is pending: exactly what was shown, and with an approval of its own what needs one.

use super::Error;
use super::changes::PendingChanges;
use super::loss::Loss;
use super::worker::SessionState;
use crate::audit::AuditKind;
use crate::workspace::{
    ApplyError, ApprovedBy, ChangeApproval, ChangeDecision, ChangeSelection, DecisionReport, DiscardBackup,
    DiscardedChanges, LargeLoss, MovedCause, MovedChanges, SelectedPart, TransactionLabel, View,
};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How the journal and the audit log name a program that embeds placet.
pub(super) const PROGRAM: &str = "the embedding program";

/// Which of the pending changes to use. Paths are absolute or relative to the session's directory.
///
/// Changes that belong together are used together, also if only a part is named: both ends of a rename, the directories
/// of a new file, and the files of a git repository.
#[derive(Clone, Debug, Default)]
pub struct ChangeChoice {
    everything: bool,
    paths: Vec<PathBuf>,
    hunks: BTreeMap<PathBuf, BTreeSet<usize>>,
    approved: Vec<PathBuf>,
    losses: Vec<LargeLoss>,
}

/// What an apply did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Applied {
    /// The paths that were changed in the workspace. Either all of them were changed or none.
    pub paths: Vec<PathBuf>,
    /// Chosen changes that stay pending, because a program runs these files later and [`ChangeChoice::approve`] did not
    /// name them.
    pub protected: Vec<PathBuf>,
    /// Losses that [`ChangeChoice::approve_loss`] did not name. All that belongs to them stays pending.
    pub losses: Vec<Loss>,
    /// Pipes, sockets and devices. They cannot be applied and were discarded; those that were moved stay where they were.
    pub special: Vec<PathBuf>,
    /// What went wrong after the apply, as sentences: the changes are applied, and a record of them is incomplete.
    pub incomplete: Vec<String>,
}

/// What a discard did.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Discarded {
    /// How many changes are not pending any more.
    pub count: usize,
    /// Whether [`Session::undo`](crate::Session::undo) can restore them: not if they have more than 512 MiB.
    pub can_undo: bool,
    /// What went wrong after the discard, as sentences.
    pub incomplete: Vec<String>,
}

impl ChangeChoice {
    /// Everything that is pending.
    pub fn all() -> ChangeChoice {
        ChangeChoice { everything: true, ..ChangeChoice::default() }
    }

    /// Nothing yet: add to it with the other methods.
    pub fn none() -> ChangeChoice {
        ChangeChoice::default()
    }

    /// All changes at or below this path as well.
    #[must_use]
    pub fn path(mut self, path: impl Into<PathBuf>) -> ChangeChoice {
        self.paths.push(path.into());
        self
    }

    /// Of the change at this path only these hunks, as [`PendingChanges::hunks`] numbers them from 0. The others stay
    /// as they are: pending if the choice is applied, and pending if it is discarded.
    #[must_use]
    pub fn hunks(
        mut self,
        path: impl Into<PathBuf>,
        indices: impl IntoIterator<Item = usize>,
    ) -> ChangeChoice {
        self.hunks.entry(path.into()).or_default().extend(indices);
        self
    }

    /// The change at exactly this path as well, and with it the approval that a file needs that a program runs later.
    /// It approves only the content that was shown.
    ///
    /// Ask a person first: such a file runs with the person's rights.
    #[must_use]
    pub fn approve(mut self, path: impl Into<PathBuf>) -> ChangeChoice {
        self.approved.push(path.into());
        self
    }

    /// Approves a loss of [`PendingChanges::losses`] or [`Applied::losses`], and chooses nothing. For [`Loss::Files`]
    /// it approves at most so many files and bytes.
    #[must_use]
    pub fn approve_loss(mut self, loss: &Loss) -> ChangeChoice {
        self.losses.push(loss.large());
        self
    }

    fn selection(&self, shown: &PendingChanges) -> Result<(ChangeSelection, ChangeApproval), Error> {
        let (set, classes) = (shown.set(), shown.shown().classes());
        let mut paths: BTreeSet<Arc<Path>> = if self.everything { set.paths() } else { BTreeSet::new() };
        for path in self.paths.iter().map(|path| shown.absolute(path)) {
            let below = classes.named_by(set, &path);
            if below.is_empty() {
                return Err(Error::NotPending(path));
            }
            paths.extend(below);
        }
        let mut chosen = whole(set.with_other_ends(paths));
        let mut approval = ChangeApproval::none().seen(&self.losses);
        for path in self.approved.iter().map(|path| shown.absolute(path)) {
            approval = match (classes.waiting_at(set, &path), set.get(&path)) {
                (Some(repository), _) => approval.shown_repository(repository),
                (None, Some(change)) => approval.shown(change),
                (None, None) => approval,
            };
            let belongs = classes.goes_with(set, &path);
            if belongs.is_empty() {
                return Err(Error::NotPending(path));
            }
            chosen.extend(whole(belongs));
        }
        for (path, indices) in &self.hunks {
            let path = shown.absolute(path);
            if set.get(&path).is_none() {
                return Err(Error::NotPending(path));
            }
            let there = shown.hunks(&path).unwrap_or_default().len();
            if let Some(index) = indices.iter().copied().find(|index| *index >= there) {
                return Err(Error::NoHunk { path, index });
            }
            chosen.insert(path.into(), SelectedPart::Hunks(indices.clone()));
        }
        Ok((chosen, approval))
    }
}

fn whole(paths: BTreeSet<Arc<Path>>) -> ChangeSelection {
    paths.into_iter().map(|path| (path, SelectedPart::Whole)).collect()
}

impl SessionState {
    fn view(&self) -> Result<View, Error> {
        self.agent.env().workspace.view().cloned().ok_or(Error::Outdated)
    }

    pub(super) fn pending(&self) -> Result<PendingChanges, Error> {
        let shown = self.view()?.shown().map_err(Error::Pending)?;
        Ok(PendingChanges::new(shown, &self.agent.env().workspace))
    }

    pub(super) fn apply(&self, shown: &PendingChanges, choice: &ChangeChoice) -> Result<Applied, Error> {
        let view = self.view()?;
        let (apply, approval) = choice.selection(shown)?;
        if apply.is_empty() {
            return Ok(Applied::default());
        }
        let label = TransactionLabel { assent: ApprovedBy::you(PROGRAM), ..view.label() };
        let decision = ChangeDecision { apply, approval, label, ..ChangeDecision::default() };
        let report = view.decide(shown.shown().clone(), decision).map_err(|moved| Error::from(*moved))?;
        let name = |path: &Path| self.agent.env().workspace.shortened(path);
        let sentences = report.lines(None, &name).join("\n");
        let mut applied = applied(report)?;
        if !applied.paths.is_empty() || !applied.special.is_empty() {
            applied.incomplete.extend(self.record(AuditKind::Apply, &sentences));
        }
        Ok(applied)
    }

    pub(super) fn discard(&self, shown: &PendingChanges, choice: &ChangeChoice) -> Result<Discarded, Error> {
        let (discard, _) = choice.selection(shown)?;
        if discard.is_empty() {
            return Ok(Discarded { count: 0, can_undo: true, incomplete: Vec::new() });
        }
        let decision = ChangeDecision { discard, ..ChangeDecision::default() };
        let report = self.view()?.decide(shown.shown().clone(), decision);
        let report = report.map_err(|moved| Error::from(*moved))?;
        report.applied.map_err(not_applied)?;
        let gone = report.discarded.transpose().map_err(Error::Pending)?;
        let Some(DiscardedChanges { count, paths, backup }) = gone else {
            return Ok(Discarded { count: 0, can_undo: true, incomplete: Vec::new() });
        };
        let incomplete = self.record(AuditKind::Discard, &format!("discarded changes to {count}"));
        Ok(Discarded { count: paths, can_undo: backup == DiscardBackup::Kept, incomplete })
    }

    /// Writes to the audit log, and takes what was applied in mounts to their stores. Returns what of that failed.
    pub(super) fn record(&self, kind: AuditKind, sentences: &str) -> Vec<String> {
        let session = self.agent.session().map(|session| session.id().to_string());
        let logged = self.agent.interceptors().log_decision(kind, PROGRAM, session, sentences).err();
        let logged = logged.map(|e| format!("not recorded in the audit log: {e}"));
        let stores = self.agent.env().mounts.push_all().into_iter();
        logged.into_iter().chain(stores.map(|why| format!("not saved to the store: {why}"))).collect()
    }
}

fn applied(report: DecisionReport) -> Result<Applied, Error> {
    let DecisionReport { applied, mut special, unmoved, special_error, left, .. } = report;
    special.extend(unmoved);
    let pending = |e: io::Error| format!("pipes, sockets and devices are still pending: {e}");
    let mut out = Applied {
        special,
        incomplete: special_error.map(pending).into_iter().collect(),
        protected: left.waiting.into_iter().map(|one| one.path).collect(),
        losses: left.losses.iter().map(Loss::of).collect(),
        ..Applied::default()
    };
    if let Some(entry) = applied.map_err(not_applied)? {
        out.incomplete.extend(entry.shortfalls);
        out.paths = entry.changes.iter().map(|change| change.path.to_path_buf()).collect();
    }
    Ok(out)
}

fn not_applied(error: ApplyError) -> Error {
    match error {
        e @ (ApplyError::Partly { .. } | ApplyError::Half { .. } | ApplyError::Open(_)) => {
            Error::Incomplete(Box::new(e))
        }
        e => Error::NotApplied(Box::new(e)),
    }
}

impl From<MovedChanges> for Error {
    fn from(moved: MovedChanges) -> Error {
        match moved.cause {
            MovedCause::Workspace { merged, conflicts, .. } => Error::Changed { merged, conflicts },
            MovedCause::Pending | MovedCause::Side(_) => Error::Outdated,
        }
    }
}
