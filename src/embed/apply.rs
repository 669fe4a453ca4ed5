//! Applying and discarding what is pending: exactly what was shown, and with an approval of its own what needs one.

use super::Error;
use super::changes::PendingChanges;
use super::loss::Loss;
use super::worker::SessionState;
use crate::audit::AuditKind;
use crate::workspace::{
    ApplyError, ApplyOutcome, ApplyReport, ApprovedBy, ChangeApproval, ChangeClasses, ChangeSelection,
    ChangeSet, DiscardBackup, LargeLoss, LayerKind, PermittedChanges, SelectedPart, TransactionLabel, View,
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

    fn selection(
        &self,
        shown: &PendingChanges,
        classes: &ChangeClasses,
    ) -> Result<(ChangeSelection, ChangeApproval), Error> {
        let set = shown.set();
        let mut paths: BTreeSet<Arc<Path>> = if self.everything { set.paths() } else { BTreeSet::new() };
        for path in self.paths.iter().map(|path| shown.absolute(path)) {
            let below = set.below(&path);
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
                (None, None) => return Err(Error::NotPending(path)),
            };
            chosen.extend(whole(classes.goes_with(set, &path)));
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
        let set = self.view()?.changes(LayerKind::Pending).map_err(Error::Pending)?;
        PendingChanges::new(set, &self.agent.env().workspace).ok_or(Error::Outdated)
    }

    pub(super) fn apply(&self, shown: &PendingChanges, choice: &ChangeChoice) -> Result<Applied, Error> {
        let view = self.view()?;
        // The decision is about the changes that were shown: no background command adds to them until the apply is
        // done.
        let _commands = self.runtime.block_on(view.lock_commands());
        let set = unchanged(&view, shown)?;
        let classes = view.classify(&set);
        let (mut chosen, approval) = choice.selection(shown, &classes)?;
        let special = set.take_special(&mut chosen);
        let PermittedChanges { choice: mut permitted, waiting, losses, .. } =
            classes.permitted(&set, chosen, &approval);
        permitted.extend(special);
        let left = Applied {
            protected: waiting,
            losses: losses.iter().map(Loss::of).collect(),
            ..Applied::default()
        };
        if permitted.is_empty() {
            return Ok(left);
        }
        let label = TransactionLabel { assent: ApprovedBy::you(PROGRAM), ..view.label() };
        let report = view.apply_and_report(&set, permitted, &approval, label);
        let shown = |path: &std::path::Path| self.agent.env().workspace.shortened(path);
        let sentences = report.lines(None, &shown).join("\n");
        let mut applied = applied(report, left)?;
        if !applied.paths.is_empty() || !applied.special.is_empty() {
            applied.incomplete.extend(self.record(AuditKind::Apply, &sentences));
        }
        Ok(applied)
    }

    pub(super) fn discard(&self, shown: &PendingChanges, choice: &ChangeChoice) -> Result<Discarded, Error> {
        let view = self.view()?;
        let _commands = self.runtime.block_on(view.lock_commands());
        let set = unchanged(&view, shown)?;
        let (chosen, _) = choice.selection(shown, &view.classify(&set))?;
        if chosen.is_empty() {
            return Ok(Discarded { count: 0, can_undo: true, incomplete: Vec::new() });
        }
        let renamed = view.renamed(&set);
        let backup = view.set_aside(&chosen).map_err(Error::Pending)?;
        let left = view.changes(LayerKind::Pending).unwrap_or_default();
        let gone = set.len().saturating_sub(left.len());
        let count = set.count_of(&renamed, |change| left.get(&change.path).is_none());
        let incomplete = self.record(AuditKind::Discard, &format!("discarded changes to {count}"));
        Ok(Discarded { count: gone, can_undo: backup == DiscardBackup::Kept, incomplete })
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

/// What is pending, if it is what was shown.
fn unchanged(view: &View, shown: &PendingChanges) -> Result<ChangeSet, Error> {
    let now = view.changes(LayerKind::Pending).map_err(Error::Pending)?;
    if now == *shown.set() { Ok(now) } else { Err(Error::Outdated) }
}

fn applied(report: ApplyReport, left: Applied) -> Result<Applied, Error> {
    let ApplyReport { result, mut special, unmoved, special_error, .. } = report;
    special.extend(unmoved);
    let pending = |e: io::Error| format!("pipes, sockets and devices are still pending: {e}");
    let mut applied =
        Applied { special, incomplete: special_error.map(pending).into_iter().collect(), ..left };
    match result {
        Ok(ApplyOutcome::Landed(entry)) => {
            applied.incomplete.extend(entry.shortfalls);
            applied.paths = entry.changes.iter().map(|change| change.path.to_path_buf()).collect();
            Ok(applied)
        }
        Ok(ApplyOutcome::Nothing) => Ok(applied),
        Ok(ApplyOutcome::Changed { merged, conflicts }) => Err(Error::Changed { merged, conflicts }),
        Err(e @ (ApplyError::Half { .. } | ApplyError::Open(_))) => Err(Error::Incomplete(Box::new(e))),
        Err(e) => Err(Error::NotApplied(Box::new(e))),
    }
}
