//! Undo and redo, with sentences for the person.

use super::journal::{ListedPath, list};
use super::{DisplayPathFn, UserReport, failure, named};
use crate::workspace::{
    ApprovedBy, ChangeCount, DamagedRecord, DiscardRecord, JournalEntry, LayerKind, NEXT_LINES, REPAIR_HINT,
    RestoreError, SAME_LINES, TransactionLabel, UndoPlan, View, recover,
};
use std::path::{Path, PathBuf};

/// Restores the newest discard of `views`, unless an apply after it is still applied. `journal` is a view of the same
/// directory.
pub fn undo_discard(views: &[View], journal: &View, shown: DisplayPathFn<'_>) -> Option<UserReport> {
    let mut discards = Vec::new();
    for view in views {
        match view.last_discard() {
            Ok(last) => discards.extend(last.map(|discarded| (view, discarded))),
            // The damaged discard may be the newest.
            Err(damage) => return Some(nothing_undone(&damage)),
        }
    }
    let (view, discarded) = discards.into_iter().max_by_key(|(_, discarded)| discarded.at)?;
    if let Some(damage) = journal.journal().unlisted() {
        return Some(nothing_undone(&damage));
    }
    let applied = journal.journal().turns().first().and_then(|turn| turn.last().map(|entry| entry.at));
    if applied.is_some_and(|at| at > discarded.at) {
        return None;
    }
    Some(restored(view, &discarded, shown))
}

/// Restores a discard.
pub fn restored(view: &View, discarded: &DiscardRecord, shown: DisplayPathFn<'_>) -> UserReport {
    let before = view.changes(LayerKind::Pending).unwrap_or_default();
    match view.restore(discarded) {
        Ok(()) => {
            let now = view.changes(LayerKind::Pending).unwrap_or_default();
            let count = view.count_of(&now, |change| before.get(&change.path) != Some(change));
            let count = ChangeCount { refs: discarded.refs, ..count };
            UserReport::done(match discarded.is_replacement {
                true => "undid what was taken from another try; the pending changes are as before it".into(),
                false => format!("restored the discarded changes to {count}; pending again"),
            })
        }
        Err(RestoreError::Pending(paths)) => {
            let names: Vec<String> = paths.iter().map(|path| named(path, shown)).collect();
            let why = "other changes are pending there: apply or discard them first";
            UserReport::failed(format!("the discard was not undone: {}: {why}", names.join(", ")))
        }
        Err(RestoreError::Damage(damage)) => nothing_undone(&damage),
        Err(RestoreError::Io(e)) => UserReport::failed(format!("the discard was not undone: {e}")),
    }
}

/// Reverts the last rewind, if nothing was applied, discarded or put back since.
pub fn undo_rewind(
    views: &[View],
    view: &View,
    (rewind, label): (&str, &TransactionLabel),
    shown: DisplayPathFn<'_>,
) -> Option<UserReport> {
    let last = view.journal().to_redo().filter(|last| last.label.assent == ApprovedBy::you(rewind))?;
    let discards = views.iter().filter_map(|view| view.last_discard().ok().flatten());
    if discards.into_iter().any(|discarded| discarded.at > last.at) || past_damage(view, last.id).is_some() {
        return None;
    }
    if let Some(told) = incomplete(view) {
        return Some(told);
    }
    let plan = view.plan_redo(&last, label.clone());
    Some(apply_plan(view, plan, (false, "/redo rest"), "undid the rewind: redid", shown))
}

/// The answer of an undo that cannot know which change is the last.
pub fn nothing_undone(damage: &DamagedRecord) -> UserReport {
    UserReport::failed(format!("nothing was changed: {damage}")).and(REPAIR_HINT)
}

/// The target of an undo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UndoTarget {
    /// This many turns.
    Turns(usize),
    /// What the last turn that touched this path did to it.
    Path(PathBuf),
}

impl UndoTarget {
    /// Why zero turns are refused: nobody expects that a zero undoes one turn.
    pub const NO_TURNS: &str = "undo needs a number of turns of 1 or more, or a path";
}

/// Undoes. When a part cannot be undone, the undo reports it and does nothing, unless `rest` asks to undo the others.
pub fn undo(
    view: &View,
    back: &UndoTarget,
    rest: bool,
    label: &TransactionLabel,
    shown: DisplayPathFn<'_>,
) -> UserReport {
    undo_saying(view, back, (rest, "/undo rest"), label, shown)
}

/// The same with another command than `/undo rest` for the others.
pub fn undo_saying(
    view: &View,
    back: &UndoTarget,
    rest: (bool, &str),
    label: &TransactionLabel,
    shown: DisplayPathFn<'_>,
) -> UserReport {
    if let Some(told) = incomplete(view) {
        return told;
    }
    let turns = view.journal().turns();
    let (entries, only): (Vec<JournalEntry>, Option<&Path>) = match back {
        UndoTarget::Turns(count) => (turns.into_iter().take(*count).rev().flatten().collect(), None),
        UndoTarget::Path(path) => {
            let touches = |turn: &&Vec<JournalEntry>| turn.iter().any(|entry| entry.touches(path));
            (turns.iter().find(touches).cloned().unwrap_or_default(), Some(path))
        }
    };
    if entries.is_empty() {
        let nothing = || match only {
            Some(path) => {
                UserReport::failed(format!("nothing to undo: no applied change to `{}`", named(path, shown)))
            }
            None => UserReport::done("nothing to undo"),
        };
        return past_damage(view, 0).unwrap_or_else(nothing);
    }
    undo_entries(view, entries, only, rest, label, shown)
}

/// As [`undo`], for transactions that were chosen already.
pub fn undo_entries(
    view: &View,
    mut entries: Vec<JournalEntry>,
    only: Option<&Path>,
    rest: (bool, &str),
    label: &TransactionLabel,
    shown: DisplayPathFn<'_>,
) -> UserReport {
    // Two sessions may apply in turns: only the order of time shows the state before the first transaction.
    entries.sort_by_key(|entry| entry.id);
    let first = entries.first().map_or(0, |entry| entry.id);
    if let Some(told) = past_damage(view, first) {
        return told;
    }
    let plan = view.plan_undo(&entries, only, label.clone());
    // The plan has all that is needed of them, and both may have hundreds of thousands of paths.
    drop(entries);
    apply_plan(view, plan, rest, "undid", shown)
}

/// Refuses an undo while a transaction after `id` is damaged: the damaged transaction may belong to the same turn, or
/// may have undone this one already.
fn past_damage(view: &View, id: u64) -> Option<UserReport> {
    let damage = view.journal().damage_after(id);
    let newest = damage.last()?;
    let mut told = UserReport::failed(format!("nothing was changed: {newest}"));
    if damage.len() > 1 {
        told = told.and(format!("{} more records are damaged: `placet doctor` lists them", damage.len() - 1));
    }
    Some(told.and(
        "hint: `placet journal repair` moves damaged records aside; then earlier transactions can be undone",
    ))
}

/// Completes the record of an apply that could not be completed when the apply was made. If that fails again, returns
/// the reason why nothing is undone: that apply would be the first.
fn incomplete(view: &View) -> Option<UserReport> {
    if view.journal().unlisted().is_some() {
        return past_damage(view, 0);
    }
    let failed = recover(view.journal(), view.objects()).err()?;
    Some(UserReport::failed(format!(
        "nothing was changed: the record of the last apply cannot be completed: {failed}"
    )))
}

/// Applies again what the last undo reverted.
pub fn redo(view: &View, rest: bool, label: &TransactionLabel, shown: DisplayPathFn<'_>) -> UserReport {
    redo_saying(view, (rest, "/redo rest"), label, shown)
}

/// The same with another command than `/redo rest` for the others.
pub fn redo_saying(
    view: &View,
    rest: (bool, &str),
    label: &TransactionLabel,
    shown: DisplayPathFn<'_>,
) -> UserReport {
    if let Some(told) = incomplete(view) {
        return told;
    }
    let undo = view.journal().to_redo();
    if let Some(told) = past_damage(view, undo.as_ref().map_or(0, |undo| undo.id)) {
        return told;
    }
    match undo {
        None => UserReport::done("nothing to redo"),
        Some(undo) => apply_plan(view, view.plan_redo(&undo, label.clone()), rest, "redid", shown),
    }
}

/// `undid commit c1ca632 "Fix" on main: 1 file +1 -0`, a line for each event.
fn git_lines(entry: &JournalEntry, did: &str) -> Vec<String> {
    let events = entry.git.iter().flat_map(|repository| &repository.events);
    events.map(|event| format!("{did} {}", event.text)).collect()
}

fn apply_plan(
    view: &View,
    plan: std::io::Result<UndoPlan>,
    (rest, how): (bool, &str),
    did: &str,
    shown: DisplayPathFn<'_>,
) -> UserReport {
    let plan = match plan {
        Ok(plan) => plan,
        Err(e) => return UserReport::failed(format!("nothing was changed: {e}")),
    };
    let left: Vec<String> =
        plan.left.iter().map(|(path, why)| format!("{}: {why}", named(path, shown))).collect();
    if !left.is_empty() && (!rest || plan.is_empty()) {
        let mut told = UserReport::failed("nothing was changed, because some changes cannot be undone:");
        told.lines.extend(left);
        if !plan.is_empty() {
            let count = ChangeCount::of(plan.paths(), &plan.repositories, &plan.renames);
            told.lines.push(format!("hint: `{how}` handles the changes to the other {count}"));
        }
        if plan.left.iter().any(|(_, why)| why == SAME_LINES || why == NEXT_LINES) {
            let again = if did.ends_with("redid") { "redo" } else { "undo" };
            told.lines.push(format!("hint: change these lines back by hand, then {again} again"));
        }
        return told;
    }
    let changed = plan.paths().map(|(path, before, after)| {
        let merged = plan.merged.iter().any(|p| p == path);
        let note = if merged { " (merged with your later changes)" } else { "" };
        (ListedPath { path, before, after }, note)
    });
    let repository = |path: &Path| plan.repositories.of(path).map(Path::to_path_buf);
    let lines = list(changed, &plan.renames, &repository, shown);
    let lost: Vec<String> =
        plan.lost.iter().map(|(path, why)| format!("skipped {}: {why}", named(path, shown))).collect();
    match view.execute_plan(plan) {
        Ok(Some(entry)) => {
            let count = ChangeCount::of_entry(&entry);
            let git = git_lines(&entry, did);
            let headline = match (entry.changes.is_empty(), git.first()) {
                (true, Some(first)) if git.len() == 1 => first.clone(),
                _ => format!("{did} changes to {count}"),
            };
            let mut told = UserReport::done(headline.clone()).but(&entry.shortfalls);
            told.lines.extend(git.into_iter().filter(|line| *line != headline));
            told.lines.extend(lines);
            told.lines.extend(left.into_iter().map(|line| format!("skipped {line}")));
            told.and_all(lost)
        }
        Ok(None) => UserReport::done(
            "nothing to undo: the files are already in that state; `undo 2` undoes one turn more",
        )
        .and_all(lost),
        Err(e) => failure(&e),
    }
}
