//! Applying, discarding and undoing, with sentences for the person: for the shell's commands and for those of the
//! command line.

use crate::text::{count, sanitize, visible};
use crate::workspace::{
    ApplyError, ApplyReport, ChangeApproval, ChangeClasses, ChangeSelection, ChangeSet, DiscardBackup,
    LargeLoss, LayerKind, PassedCheck, PermittedChanges, REPAIR_HINT, SelectedPart, TransactionLabel, View,
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
    pub waiting: Vec<PathBuf>,
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

    /// The same for a caller that now asks about what runs later, path by path.
    #[must_use]
    pub fn before_questions(&self) -> UserReport {
        let mut told = UserReport { waiting: Vec::new(), ..self.clone() };
        // These are the last lines, one for each path.
        told.lines.truncate(told.lines.len().saturating_sub(self.waiting.len()));
        told
    }

    /// The result of an apply, on the command line and in the shell's commands.
    /// `undo` is the command that reverts it.
    pub fn of(report: &ApplyReport, undo: &str, shown: DisplayPathFn<'_>) -> UserReport {
        UserReport {
            lines: report.lines(Some(undo), shown),
            done: report.is_done(),
            incomplete: report.is_incomplete(),
            applied: report.entry().map(|entry| entry.id),
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

/// A named path has no pending changes.
#[derive(Debug, Error)]
#[error("nothing is pending at `{shown}`")]
pub struct NothingPending {
    /// The path as a person reads it.
    shown: String,
}

impl NothingPending {
    fn at(path: &Path, shown: DisplayPathFn<'_>) -> NothingPending {
        NothingPending { shown: named(path, shown) }
    }
}

/// What is pending at or below `paths`, with both names of a file that was moved or renamed; everything, if there are
/// none.
pub fn choice(
    view: &View,
    set: &ChangeSet,
    paths: &[PathBuf],
    shown: DisplayPathFn<'_>,
) -> Result<ChangeSelection, NothingPending> {
    if paths.is_empty() {
        return Ok(View::everything(set));
    }
    let mut chosen: BTreeSet<Arc<Path>> = BTreeSet::new();
    for path in paths {
        let below = set.below(path);
        if below.is_empty() {
            return Err(NothingPending::at(path, shown));
        }
        chosen.extend(below);
    }
    let mut chosen = set.with_other_ends(chosen);
    view.renamed(set).add_other_ends(&mut chosen);
    Ok(chosen.into_iter().map(|path| (path, SelectedPart::Whole)).collect())
}

/// A sentence for each renamed file of which `paths` has one name: the other name goes with it. `done` is what happens
/// to both.
fn other_names(
    view: &View,
    set: &ChangeSet,
    paths: &[PathBuf],
    done: &str,
    shown: DisplayPathFn<'_>,
) -> Vec<String> {
    const MOST: usize = 5;
    let is_named = |end: &Path| paths.iter().any(|path| end.starts_with(path));
    let renamed = view.renamed(set);
    let moved = set.changes.iter().filter_map(|c| Some((&**c.moved_from.as_ref()?, &*c.path)));
    let renames = moved.chain(renamed.list().iter().map(|one| (&*one.from, &*one.to)));
    let half: Vec<(&Path, &Path)> = renames.filter(|(from, to)| is_named(from) != is_named(to)).collect();
    let line = |(from, to): &(&Path, &Path)| {
        format!("`{}` was renamed to `{}`: both names are {done}", named(from, shown), named(to, shown))
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
}

/// Applies the requested changes. A change that runs later and was not named stays pending, and is listed with the
/// reason; the same holds for a large loss that was not approved. `undo` is the command that reverts the apply.
pub fn apply(
    view: &View,
    wanted: &ApplyRequest,
    label: TransactionLabel,
    undo: &str,
    shown: DisplayPathFn<'_>,
) -> UserReport {
    let set = match view.changes(LayerKind::Pending) {
        Ok(set) => set,
        Err(e) => return UserReport::failed(format!("cannot read the pending changes: {e}")),
    };
    let classes = view.classify(&set);
    let mut chosen = match wanted.choice(view, &set, &classes, shown) {
        Ok(chosen) => chosen,
        Err(error) => return UserReport::failed(error.to_string()),
    };
    let names = match wanted.paths.is_empty() {
        true => Vec::new(),
        false => other_names(view, &set, &wanted.paths, "applied", shown),
    };
    let special = set.take_special(&mut chosen);
    let PermittedChanges { choice, waiting, losses, repositories } =
        classes.permitted(&set, chosen, &wanted.approval);
    let stays = !waiting.is_empty() || !losses.is_empty();
    // The apply reads what is pending again, and there may be hundreds of thousands of paths.
    drop(set);
    let mut told = match choice.is_empty() && special.is_empty() && stays {
        true => UserReport { done: true, ..UserReport::default() },
        false => {
            let report = view.apply_and_discard(choice, special, &wanted.approval, label);
            UserReport::of(&report, undo, shown)
        }
    };
    if told.done {
        told.lines.extend(names);
        told.lines.extend(losses.iter().map(|loss| format!("left pending: {}", loss.words(shown))));
        told.lines.extend(
            repositories
                .iter()
                .map(|path| format!("pending together with it: the repository `{}`", named(path, shown))),
        );
        told.lines.extend(waiting.iter().map(|path| waits(&classes, path, shown)));
        (told.waiting, told.losses) = (waiting, losses);
    }
    told
}

/// The part of `set` that an apply of `wanted` makes: without what needs an approval that is missing.
pub fn permitted(
    view: &View,
    set: &ChangeSet,
    wanted: &ApplyRequest,
    shown: DisplayPathFn<'_>,
) -> Result<ChangeSelection, NothingPending> {
    let classes = view.classify(set);
    let chosen = wanted.choice(view, set, &classes, shown)?;
    Ok(classes.permitted(set, chosen, &wanted.approval).choice)
}

/// The large losses in `wanted` that have no approval.
pub fn losses_of(view: &View, wanted: &ApplyRequest, shown: DisplayPathFn<'_>) -> Vec<LargeLoss> {
    let Ok(set) = view.changes(LayerKind::Pending) else { return Vec::new() };
    let classes = view.classify(&set);
    let Ok(chosen) = wanted.choice(view, &set, &classes, shown) else { return Vec::new() };
    classes.permitted(&set, chosen, &wanted.approval).losses
}

impl ApplyRequest {
    /// The part of `set` that is requested.
    fn choice(
        &self,
        view: &View,
        set: &ChangeSet,
        classes: &ChangeClasses,
        shown: DisplayPathFn<'_>,
    ) -> Result<ChangeSelection, NothingPending> {
        let mut chosen = match self.only_approved {
            true => ChangeSelection::new(),
            false => choice(view, set, &self.paths, shown)?,
        };
        for path in self.approval.paths() {
            let belongs = classes.goes_with(set, path);
            if belongs.is_empty() {
                return Err(NothingPending::at(path, shown));
            }
            chosen.extend(belongs.into_iter().map(|path| (path, SelectedPart::Whole)));
        }
        if self.only_approved {
            let removed = classes.removed_files(set, &self.approval);
            chosen.extend(removed.into_iter().map(|path| (path, SelectedPart::Whole)));
        }
        Ok(chosen)
    }
}

fn waits(classes: &ChangeClasses, path: &Path, shown: DisplayPathFn<'_>) -> String {
    let why = classes.reason_to_wait(path).map(|r| sanitize::line(&r.why).into_owned()).unwrap_or_default();
    format!("not applied: {}: {why}", named(path, shown))
}

fn failure(error: &ApplyError) -> UserReport {
    let told = UserReport::failed(format!("not applied: {error}"));
    match error {
        ApplyError::Damage(_) => told.and(REPAIR_HINT),
        _ => told,
    }
}

/// Discards what is pending at or below `paths`; `undo` is the command that restores it.
pub fn discard(view: &View, paths: &[PathBuf], undo: &str, shown: DisplayPathFn<'_>) -> UserReport {
    let done = view.changes(LayerKind::Pending).and_then(|set| {
        let chosen = choice(view, &set, paths, shown).map_err(std::io::Error::other)?;
        let names = match paths.is_empty() {
            true => Vec::new(),
            false => other_names(view, &set, paths, "discarded", shown),
        };
        // Before the files are gone, whose texts say what was renamed.
        let renamed = view.renamed(&set);
        let aside = view.set_aside(&chosen)?;
        let left = view.changes(LayerKind::Pending)?;
        Ok((set.count_of(&renamed, |change| left.get(&change.path).is_none()), aside, names))
    });
    match done {
        Ok((count, ..)) if count.total() == 0 => UserReport::done("nothing is pending"),
        Ok((count, DiscardBackup::Kept, names)) => {
            UserReport::done(format!("discarded changes to {count}; {undo} restores them")).and_all(names)
        }
        Ok((count, DiscardBackup::TooLarge, names)) => {
            UserReport::done(format!("discarded changes to {count} permanently: too large for undo"))
                .and_all(names)
        }
        Err(e) => UserReport::failed(format!("not discarded: {e}")),
    }
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
