//! Applying, discarding and undoing, with sentences for the person: for the shell's commands and for those of the
//! command line.

use crate::text::{count, sanitize, visible};
use crate::workspace::{
    ApplyError, ChangeApproval, ChangeDecision, ChangeSelection, ChangeSet, DecisionReport, LargeLoss,
    MovedChanges, PassedCheck, REPAIR_HINT, SelectedPart, ShownChanges, TransactionLabel, View, WaitingPath,
};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

mod git_report;
mod journal;
mod report;
mod undo;

pub use git_report::{ReportedGitEvent, git_reports};
pub use journal::{
    damage_line, entry_line, entry_paths, figures, journal_lines, person_changes, repair_lines, when,
};
pub use report::{ChangeReport, ChangeState, ReportedClass, TurnChanges, classification};
pub use undo::{
    UndoTarget, nothing_undone, redo, redo_saying, restored, undo, undo_discard, undo_entries, undo_rewind,
    undo_saying,
};

/// The result of an action, for a person: the sentences, and whether all of it was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserReport {
    pub lines: Vec<String>,
    pub done: bool,
    /// Paths that run later and stay pending, because nobody approved them individually.
    pub waiting: Vec<WaitingPath>,
    /// Losses that are not approved: every change that belongs to them stays pending.
    pub losses: Vec<LargeLoss>,
    /// The action was done, and a part of it could not be recorded.
    pub incomplete: bool,
    /// The checks that passed on exactly what was applied.
    pub checks: Vec<PassedCheck>,
    /// The transaction of an apply.
    pub applied: Option<u64>,
}

impl UserReport {
    fn done(line: impl Into<String>) -> UserReport {
        UserReport { lines: vec![line.into()], done: true, ..UserReport::default() }
    }

    pub(crate) fn failed(line: impl Into<String>) -> UserReport {
        UserReport { lines: vec![line.into()], ..UserReport::default() }
    }

    /// True when no change stays pending because its approval is missing.
    pub fn all_done(&self) -> bool {
        self.done && self.waiting.is_empty() && self.losses.is_empty()
    }

    /// What waits, for a caller that asks about it.
    pub fn waiting_paths(&self) -> Vec<PathBuf> {
        self.waiting.iter().map(|one| one.path.clone()).collect()
    }

    /// What waits and is applied with an approval.
    pub fn approvable(&self) -> impl Iterator<Item = &Path> {
        self.waiting.iter().filter(|one| !one.is_blocked).map(|one| &*one.path)
    }

    /// The same for a caller that now asks about what runs later, path by path.
    #[must_use]
    pub fn before_questions(&self) -> UserReport {
        let mut told = UserReport { waiting: Vec::new(), ..self.clone() };
        // These are the last lines, one for each path.
        told.lines.truncate(told.lines.len().saturating_sub(self.waiting.len()));
        told
    }

    /// What became of a decision, on the command line and in the shell's commands. `undo` is the command that reverts it.
    pub fn of(
        outcome: &Result<DecisionReport, Box<MovedChanges>>,
        undo: &str,
        shown: DisplayPathFn<'_>,
    ) -> UserReport {
        let report = match outcome {
            Ok(report) => report,
            Err(moved) => return UserReport { lines: moved.lines(shown), ..UserReport::default() },
        };
        UserReport::of_report(report, undo, shown)
    }

    /// The same of a decision that was carried out.
    pub fn of_report(report: &DecisionReport, undo: &str, shown: DisplayPathFn<'_>) -> UserReport {
        let lines = report.lines(Some(undo), shown).into_iter().chain(report.discard_line(undo));
        UserReport {
            lines: lines.collect(),
            done: report.is_done(),
            incomplete: report.is_incomplete(),
            applied: report.entry().map(|entry| entry.id),
            waiting: report.left.waiting.clone(),
            losses: report.left.losses.clone(),
            ..UserReport::default()
        }
    }

    /// The first line reports that something went wrong afterwards, and the next lines what.
    fn but(mut self, shortfalls: &[String]) -> UserReport {
        if let (false, Some(first)) = (shortfalls.is_empty(), self.lines.first_mut()) {
            first.push_str(", but not everything worked:");
            self.lines.extend(shortfalls.iter().map(|line| sanitize::line(line).into_owned()));
            self.incomplete = true;
        }
        self
    }

    fn and_all(mut self, lines: Vec<String>) -> UserReport {
        self.lines.extend(lines);
        self
    }

    fn and(mut self, line: impl Into<String>) -> UserReport {
        self.lines.push(line.into());
        self
    }
}

/// A path as a person reads it.
pub type DisplayPathFn<'a> = &'a dyn Fn(&Path) -> PathBuf;

fn named(path: &Path, shown: DisplayPathFn<'_>) -> String {
    visible::path(&shown(path))
}

fn s(count: usize) -> &'static str {
    if count == 1 { "" } else { "s" }
}

/// A named path, as a person reads it, has no pending change.
#[derive(Debug, Error)]
pub enum NothingPending {
    #[error("nothing is pending at `{0}`")]
    At(String),
    #[error("`{0}` itself is not changed: name the paths in it that wait")]
    OnlyBelow(String),
}

/// What is shown at or below `paths`, with both names of a file that was moved or renamed; everything, if there are none.
pub fn choice(
    shown: &ShownChanges,
    paths: &[PathBuf],
    name: DisplayPathFn<'_>,
) -> Result<ChangeSelection, NothingPending> {
    let set = shown.set();
    if paths.is_empty() {
        return Ok(View::everything(set));
    }
    let mut chosen: BTreeSet<Arc<Path>> = BTreeSet::new();
    for path in paths {
        let below = shown.classes().named_by(set, path);
        match below.is_empty() {
            true if shown.view().is_single_ref(set, path) => drop(chosen.insert(Arc::from(path.as_path()))),
            true => return Err(NothingPending::At(named(path, name))),
            false => chosen.extend(below),
        }
    }
    let mut chosen = set.with_other_ends(chosen);
    shown.view().renamed(set).add_other_ends(&mut chosen);
    Ok(chosen.into_iter().map(|path| (path, SelectedPart::Whole)).collect())
}

/// A sentence for each renamed file of which `paths` has one name: the other name goes with it. `done` is what happens
/// to both.
fn other_names(shown: &ShownChanges, paths: &[PathBuf], done: &str, name: DisplayPathFn<'_>) -> Vec<String> {
    const MOST: usize = 5;
    let is_named = |end: &Path| paths.iter().any(|path| end.starts_with(path));
    if paths.is_empty() {
        return Vec::new();
    }
    let set = shown.set();
    let renamed = shown.view().renamed(set);
    let moved = set.changes.iter().filter_map(|c| Some((&**c.moved_from.as_ref()?, &*c.path)));
    let renames = moved.chain(renamed.list().iter().map(|one| (&*one.from, &*one.to)));
    let half: Vec<(&Path, &Path)> = renames.filter(|(from, to)| is_named(from) != is_named(to)).collect();
    let line = |(from, to): &(&Path, &Path)| {
        format!("`{}` was renamed to `{}`: both names are {done}", named(from, name), named(to, name))
    };
    let mut lines: Vec<String> = half.iter().take(MOST).map(line).collect();
    if half.len() > MOST {
        lines.push(format!("and both names of {}", count::of(half.len() - MOST, "more renamed file")));
    }
    lines
}

/// What is to be applied.
#[derive(Clone, Debug, Default)]
pub struct ApplyRequest {
    /// At or below these paths; everything, if there are none.
    pub paths: Vec<PathBuf>,
    /// What the person approved individually: these paths are applied as well.
    pub approval: ChangeApproval,
    /// Apply only what was approved.
    pub only_approved: bool,
    /// What a review decided about these changes.
    pub reviewed: Option<ChangeDecision>,
}

/// Applies the requested part of what was shown. A change that runs later and was not named stays pending, and is listed
/// with the reason; the same holds for a large loss that was not approved. `undo` is the command that reverts the apply.
pub fn apply(
    shown: ShownChanges,
    wanted: &ApplyRequest,
    label: TransactionLabel,
    undo: &str,
    name: DisplayPathFn<'_>,
) -> UserReport {
    let apply = match wanted.choice(&shown, name) {
        Ok(chosen) => chosen,
        Err(error) => return UserReport::failed(error.to_string()),
    };
    let names = other_names(&shown, &wanted.paths, "applied", name);
    let approval = wanted.approval.clone();
    let decision = ChangeDecision { apply, approval, label, ..ChangeDecision::default() };
    let decision = match &wanted.reviewed {
        Some(reviewed) => decision.with_review(reviewed),
        None => decision,
    };
    let view = shown.view().clone();
    let outcome = view.decide(shown, decision);
    let mut told = UserReport::of(&outcome, undo, name);
    if let (true, Ok(report)) = (told.done, &outcome) {
        told.lines.extend(names);
        told.lines.extend(report.left.lines(name));
    }
    told
}

impl ApplyRequest {
    /// The part of `shown` that is requested.
    pub fn choice(
        &self,
        shown: &ShownChanges,
        name: DisplayPathFn<'_>,
    ) -> Result<ChangeSelection, NothingPending> {
        let (set, classes) = (shown.set(), shown.classes());
        let mut chosen = match self.only_approved {
            true => ChangeSelection::new(),
            false => choice(shown, &self.paths, name)?,
        };
        for path in self.approval.paths() {
            let belongs = classes.goes_with(set, path);
            if belongs.is_empty() {
                let shown = named(path, name);
                let is_nothing = set.below(path).is_empty();
                return Err(if is_nothing { NothingPending::At } else { NothingPending::OnlyBelow }(shown));
            }
            chosen.extend(belongs.into_iter().map(|path| (path, SelectedPart::Whole)));
        }
        if self.only_approved {
            let removed = classes.removed_files(set, &self.approval);
            chosen.extend(removed.into_iter().map(|path| (path, SelectedPart::Whole)));
        }
        Ok(chosen)
    }

    /// The large losses in the requested part that have no approval.
    pub fn losses(&self, shown: &ShownChanges, name: DisplayPathFn<'_>) -> Vec<LargeLoss> {
        let chosen = self.choice(shown, name).unwrap_or_default();
        shown.permitted(chosen, &self.approval).losses
    }
}

fn failure(error: &ApplyError) -> UserReport {
    let told = UserReport::failed(format!("not applied: {error}"));
    match error {
        ApplyError::Damage(_) => told.and(REPAIR_HINT),
        _ => told,
    }
}

/// Discards what is shown at or below `paths`; `undo` is the command that restores it.
pub fn discard(shown: ShownChanges, paths: &[PathBuf], undo: &str, name: DisplayPathFn<'_>) -> UserReport {
    let discard = match choice(&shown, paths, name) {
        Ok(chosen) => chosen,
        Err(e) => return UserReport::failed(format!("not discarded: {e}")),
    };
    let names = other_names(&shown, paths, "discarded", name);
    let view = shown.view().clone();
    let told = UserReport::of(
        &view.decide(shown, ChangeDecision { discard, ..ChangeDecision::default() }),
        undo,
        name,
    );
    if told.done { told.and_all(names) } else { told }
}

/// What is pending in `view`, or why that is not known.
pub fn shown(view: &View) -> Result<ShownChanges, UserReport> {
    view.shown().map_err(|e| UserReport::failed(format!("cannot read the pending changes: {e}")))
}

/// Turns whose work is pending in `chosen`; changes without a known turn count as one.
pub fn turns_in(set: &ChangeSet, chosen: &ChangeSelection) -> usize {
    let chosen = set.changes.iter().filter(|change| chosen.contains_key(&change.path));
    let turns = chosen.flat_map(|change| {
        let known = change.steps.iter().map(|step| step.origin.as_ref().map(|origin| origin.turn.clone()));
        if change.steps.is_empty() { vec![None] } else { known.collect() }
    });
    turns.collect::<BTreeSet<Option<String>>>().len()
}
