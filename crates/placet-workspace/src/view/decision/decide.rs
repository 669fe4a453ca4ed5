//! A decision about changes that were shown, and the one way to carry it out.
//!
//! The decision counts only for what was shown: under the lock of the view, [`View::decide`] reads what is pending, and
//! where that is something else, it decides nothing and gives the new value to show. No lock is held while a person thinks.

use super::apply::LossPolicy;
use super::decision_report::{DecisionReport, DiscardedChanges, LeftPending, WaitingPath, changed_lines};
use super::selection::{ApplyOutcome, ChangeSelection, SelectedPart, repository_of};
use super::shown::ShownChanges;
use crate::apply::ApplyError;
use crate::changes::change_count::ChangeCount;
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::changes::classify::{ChangeApproval, PermittedChanges};
use crate::files::metadata::path_state::PathState;
use crate::history::journal::TransactionLabel;
use crate::view::layers::stack::node_at;
use crate::view::undoing::discards::{DiscardBackup, DiscardMoment};
use crate::view::{LayerKind, View};
use placet_text::text::visible;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

/// Choices of so many paths at most are applied again without the changes that the workspace has already: a larger one is
/// not stored twice.
const MOST_AGAIN: usize = 20_000;

/// What a person decided about changes that were shown. What is neither applied nor discarded stays pending.
#[derive(Clone, Debug, Default)]
pub struct ChangeDecision {
    /// What is applied: whole paths, hunks, contents, and the chosen sides of conflicts.
    pub apply: ChangeSelection,
    /// What is discarded after it. A content is what stays pending of its path.
    pub discard: ChangeSelection,
    /// What runs later and what is lost on a large scale is applied only with an approval, and stays pending without it.
    pub approval: ChangeApproval,
    /// For the journal.
    pub label: TransactionLabel,
}

impl ChangeDecision {
    /// The same, as a review of these changes decided: of a path that was reviewed, that is applied which the review accepts.
    #[must_use]
    pub fn with_review(mut self, reviewed: &ChangeDecision) -> ChangeDecision {
        let is_applied = |path: &Path| self.apply.keys().any(|applied| applied.starts_with(path));
        // A ref has a name below its repository, and maybe no file there.
        let is_ref = |path: &Path| {
            repository_of(path).is_some_and(|git| path.starts_with(git.join("refs")) && is_applied(&git))
        };
        let is_meant = |path: &Path| self.apply.contains_key(path) || is_ref(path);
        let discard = reviewed.discard.iter().filter(|(path, _)| is_meant(path));
        let discard: Vec<_> = discard.collect();
        self.discard.extend(discard.into_iter().map(|(path, part)| (path.clone(), part.clone())));
        self.apply.retain(|path, part| match reviewed.apply.get(path) {
            Some(accepted) => {
                part.clone_from(accepted);
                true
            }
            None => !reviewed.discard.contains_key(path),
        });
        self.approval = self.approval.and(&reviewed.approval);
        self
    }
}

/// Nothing was decided, because the changes are not what was shown; this is what they are.
#[derive(Debug)]
pub struct MovedChanges {
    pub shown: ShownChanges,
    pub cause: MovedCause,
}

/// Why a decision decided nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MovedCause {
    /// Other changes are pending.
    Pending,
    /// The person chose a side of a conflict with a file that has another content now.
    Side(PathBuf),
    /// Files were changed in the workspace. The changes of `merged` are pending in their merged form, those of `conflicts`
    /// cannot be merged, and of them `by_side` have no lines to choose.
    Workspace { merged: Vec<PathBuf>, conflicts: Vec<PathBuf>, by_side: Vec<PathBuf> },
}

impl MovedChanges {
    /// Why, a line each. `shown` shortens a path.
    pub fn lines(&self, shown: &dyn Fn(&Path) -> PathBuf) -> Vec<String> {
        let name = |path: &Path| visible::path(&shown(path));
        let lines = match &self.cause {
            MovedCause::Pending => vec![UPDATED.into()],
            MovedCause::Side(path) => {
                let why = "changed again in the workspace since it was shown";
                vec![format!("nothing was applied: `{}` {why}", name(path))]
            }
            MovedCause::Workspace { merged, conflicts, by_side } => {
                changed_lines(merged, (conflicts, by_side), &name)
            }
        };
        lines.iter().map(|line| visible::guard_line(line).into_owned()).collect()
    }

    /// The paths that cannot be merged with what the workspace has.
    pub fn conflicts(&self) -> &[PathBuf] {
        match &self.cause {
            MovedCause::Workspace { conflicts, .. } => conflicts,
            MovedCause::Pending | MovedCause::Side(_) => &[],
        }
    }
}

const UPDATED: &str = "nothing was decided: pending changes were updated in the meantime";

impl View {
    /// Carries `decision` out, if what is pending is still what was shown. The apply is all or nothing; where it fails,
    /// nothing is discarded. Waits until running commands of this view have ended, and blocks for it.
    pub fn decide(
        &self,
        shown: ShownChanges,
        decision: ChangeDecision,
    ) -> Result<DecisionReport, Box<MovedChanges>> {
        let _commands = self.block_commands();
        let now = match self.claim().map_err(ApplyError::of_claim).and_then(|()| self.shown_in_apply()) {
            Ok(now) => now,
            Err(e) => return Ok(DecisionReport::failed(e)),
        };
        let moved = match now == shown {
            true => self.moved_side(&decision.apply).map(MovedCause::Side),
            false => Some(MovedCause::Pending),
        };
        // There may be hundreds of thousands of changes.
        drop(shown);
        match moved {
            Some(cause) => Err(Box::new(MovedChanges { shown: now, cause })),
            None => self.carry_out(now, decision),
        }
    }

    /// A path in conflict that has something else in the workspace than its side was chosen against.
    fn moved_side(&self, choice: &ChangeSelection) -> Option<PathBuf> {
        let is_moved = |path: &Path, part: &SelectedPart| {
            let SelectedPart::Resolved(side) = part else { return false };
            let is_same = |now: PathState| match &side.content {
                Some(_) => now.hash() == side.mine.hash(),
                None => now.same_content(&side.mine),
            };
            !self.current_state(path).is_some_and(is_same)
        };
        choice.iter().find(|(path, part)| is_moved(path, part)).map(|(path, _)| path.to_path_buf())
    }

    fn carry_out(
        &self,
        now: ShownChanges,
        decision: ChangeDecision,
    ) -> Result<DecisionReport, Box<MovedChanges>> {
        let ChangeDecision { mut apply, discard, approval, label } = decision;
        let special = now.set().take_special(&mut apply);
        let PermittedChanges { choice, waiting, losses, groups, repositories } =
            now.permitted(apply, &approval);
        // What no approval applies needs something else first.
        let facts = if waiting.is_empty() { Vec::new() } else { self.moved_repository_facts(now.set()) };
        let facts: BTreeMap<PathBuf, String> = facts.into_iter().collect();
        let waits = |path: PathBuf| {
            let (fact, runner) = (facts.get(&path), now.classes().reason_to_wait(&path));
            let why = fact.or(runner.map(|runner| &runner.why)).cloned().unwrap_or_default();
            WaitingPath { why, is_blocked: fact.is_some(), path }
        };
        let waiting = waiting.into_iter().map(waits).collect();
        let left = LeftPending { waiting, losses, groups, repositories };
        let applies = !choice.is_empty() || !special.is_empty();
        if !applies && (!left.is_empty() || !discard.is_empty()) {
            let discarded =
                (!discard.is_empty()).then(|| self.discard_now(now, &discard, DiscardMoment::now()));
            return Ok(DecisionReport { discarded, left, ..DecisionReport::nothing() });
        }
        // A person expects that undo reverts what was applied, and that the next undo restores what was rejected.
        let moment = DiscardMoment::before_now();
        // After the apply, what was rejected would be a change of the person's own lines, and no conflict any more. A ref
        // that is rejected is no part of its repository when that is applied.
        let is_side =
            |part: &SelectedPart| matches!(part, SelectedPart::Resolved(side) if side.content.is_some());
        let (refs, rest) = self.split_single_refs(now.set(), Cow::Borrowed(&discard));
        let rest = (!refs.is_empty()).then(|| rest.into_owned());
        let (early, discard) = match (choice.values().any(is_side), rest) {
            (true, _) => (discard, ChangeSelection::new()),
            (false, None) => (ChangeSelection::new(), discard),
            (false, Some(rest)) => {
                (discard.into_iter().filter(|(path, _)| !rest.contains_key(path)).collect(), rest)
            }
        };
        let mut first: Option<io::Result<DiscardedChanges>> = None;
        let now = if !early.is_empty() {
            first = Some(self.discard_now(now, &early, moment));
            match self.shown_in_apply() {
                Ok(now) => now,
                Err(e) => return Ok(DecisionReport::failed(e)),
            }
        } else {
            now
        };
        let mut report = self.apply_rest(now, (choice, special), &approval, label).map_err(|cause| {
            self.put_back(first.as_ref());
            self.moved(cause)
        })?;
        report.left = left;
        if report.applied.is_err() {
            self.put_back(first.as_ref());
        } else if discard.is_empty() {
            report.discarded = first;
        } else {
            let rest = self.changes(LayerKind::Pending);
            let discarded = rest.and_then(|rest| self.discard_now(self.shown_as(rest), &discard, moment));
            report.discarded =
                Some(first.map_or(Ok(0), |first| first.map(|first| first.count.refs)).and_then(|refs| {
                    discarded
                        .map(|gone| DiscardedChanges { count: ChangeCount { refs, ..gone.count }, ..gone })
                }));
        }
        Ok(report)
    }

    fn discard_now(
        &self,
        now: ShownChanges,
        choice: &ChangeSelection,
        moment: DiscardMoment,
    ) -> io::Result<DiscardedChanges> {
        // Before the files are gone, whose texts say what was renamed.
        let renamed = self.renamed(now.set());
        let (refs, rest) = self.split_single_refs(now.set(), Cow::Borrowed(choice));
        let refs = refs.len();
        // What stays pending of an operation would be a state that nobody made.
        if let Some((repository, all)) = now.classes().parted_operation(now.set(), &rest) {
            let part = rest.keys().find(|path| all.contains(*path)).map(|path| self.name_of(path));
            let (part, whole) = (part.unwrap_or_default(), self.name_of(&repository.path));
            let why = &repository.runner.why;
            return Err(io::Error::other(format!(
                "`{part}` waits with `{whole}` ({why}): discard `{whole}`, and its files go with it"
            )));
        }
        let backup = self.set_aside(choice, moment)?;
        let left = self.changes(LayerKind::Pending)?;
        let count = now.set().count_of(&renamed, |change| left.get(&change.path).is_none());
        let count = ChangeCount { refs, ..count };
        Ok(DiscardedChanges { count, paths: now.set().len().saturating_sub(left.len()), backup })
    }

    /// Puts back what was discarded before an apply that applied nothing.
    fn put_back(&self, discarded: Option<&io::Result<DiscardedChanges>>) {
        let kept = |gone: &DiscardedChanges| gone.backup == DiscardBackup::Kept;
        if !discarded.is_some_and(|gone| gone.as_ref().is_ok_and(kept)) {
            return;
        }
        match self.last_discard().map(|last| last.map(|last| self.restore(&last))) {
            Ok(None | Some(Ok(()))) => {}
            Ok(Some(Err(e))) => tracing::warn!("the rejected changes were not restored: {e}"),
            Err(e) => tracing::warn!("the rejected changes were not restored: {e}"),
        }
    }

    /// Applies a permitted choice. Pipes, sockets and devices are discarded once the rest is applied: they would be pending
    /// for ever. Where all that changed in the meantime is what the chosen changes would write, those are no longer pending,
    /// and the others are applied.
    fn apply_rest(
        &self,
        now: ShownChanges,
        (mut choice, special): (ChangeSelection, ChangeSelection),
        approval: &ChangeApproval,
        label: TransactionLabel,
    ) -> Result<DecisionReport, (Vec<PathBuf>, Vec<PathBuf>)> {
        let mut report = DecisionReport::nothing();
        if !choice.is_empty() || special.is_empty() {
            let again = (choice.len() <= MOST_AGAIN).then(|| (choice.clone(), label.clone()));
            let policy = (approval, LossPolicy::Refused);
            let mut result = self.apply_shown(now, Cow::Owned(std::mem::take(&mut choice)), policy, label);
            if let (Ok(ApplyOutcome::Changed { merged, conflicts }), Some((mut rest, label))) =
                (&result, again)
                && merged.is_empty()
                && conflicts.is_empty()
            {
                result = self.shown_in_apply().and_then(|now| {
                    rest.retain(|path, _| {
                        let is_pending = now.set().get(path).is_some();
                        report.already.extend((!is_pending).then(|| path.to_path_buf()));
                        is_pending
                    });
                    match rest.is_empty() {
                        true => Ok(ApplyOutcome::Nothing),
                        false => self.apply_shown(now, Cow::Owned(rest), policy, label),
                    }
                });
            }
            report.applied = match result {
                Ok(ApplyOutcome::Landed(entry)) => Ok(Some(entry)),
                Ok(ApplyOutcome::Nothing) => Ok(None),
                Ok(ApplyOutcome::Changed { merged, conflicts }) => return Err((merged, conflicts)),
                Err(e) => Err(e),
            };
        }
        if report.applied.is_ok() && !special.is_empty() {
            match self.discard(&special) {
                Ok(()) => {
                    let paths = special.into_keys().map(|path| path.to_path_buf());
                    // The directories above what stays are not listed.
                    let paths = paths.filter(|path| !node_at(path).is_ok_and(|node| node.is_directory()));
                    let stays = |path: &PathBuf| matches!(node_at(path), Ok(PathState::Special { .. }));
                    (report.unmoved, report.special) = paths.partition(stays);
                }
                Err(e) => report.special_error = Some(e),
            }
        }
        Ok(report)
    }

    /// What is pending after files were found that changed in the workspace.
    fn moved(&self, (merged, conflicts): (Vec<PathBuf>, Vec<PathBuf>)) -> Box<MovedChanges> {
        // The reading of a moment ago worked, and the next one tells the person.
        let shown = self.shown().unwrap_or_else(|_| self.shown_as(ChangeSet::default()));
        let by_side = self.without_lines(&conflicts, shown.set());
        Box::new(MovedChanges { shown, cause: MovedCause::Workspace { merged, conflicts, by_side } })
    }

    /// Those of `conflicts` that have no lines between which a person could choose.
    fn without_lines(&self, conflicts: &[PathBuf], set: &ChangeSet) -> Vec<PathBuf> {
        let has_no_lines = |path: &&PathBuf| {
            set.get(path).is_some_and(|change| !change.after.is_file() || !self.is_text(change))
        };
        conflicts.iter().filter(has_no_lines).cloned().collect()
    }

    /// Both sides of a change have lines.
    fn is_text(&self, change: &FileChange) -> bool {
        let is_text = |bytes: &[u8]| !bytes.contains(&0) && !placet_text::text::is_binary(bytes);
        let sides = change.bytes(self.objects()).filter(|_| change.is_between_files());
        sides.is_some_and(|(before, after)| is_text(&before) && is_text(&after))
    }
}
