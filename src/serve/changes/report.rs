//! The changes of a turn for a program: what each is, what it means, and whether it was applied.

use super::git_report::{ReportedGitEvent, git_reports};
use crate::permission::Runner;
use crate::workspace::{
    ChangeClass, ChangeClasses, FileChange, LayerKind, RepositoryEvents, ShownChanges, View,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// One path that a turn changed, or that is pending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ChangeReport {
    path: String,
    /// `created`, `modified`, `deleted`, `renamed`, `mode` or `special`.
    change: String,
    /// Where a renamed file was before.
    from: Option<String>,
    /// Of which file the path becomes another name (a hard link).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    another_name_of: Option<String>,
    classification: ReportedClass,
    /// The program that runs or obeys the file later, and when.
    runs_later: Option<ReportedRunner>,
    /// The program whose next build, test or install runs the file.
    runs_with_build: Option<ReportedRunner>,
    /// Somebody else changed the same lines since, and nothing is applied before a person has chosen; `null` where that was
    /// not looked for, because there are more than 500 changed files, or 64 MiB of them.
    is_conflict: Option<bool>,
    state: ChangeState,
    /// What the changes of a repository mean, on the first path of it: commits, branches, the index.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    git: Vec<ReportedGitEvent>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportedClass {
    Ordinary,
    /// The next build, test or install runs it.
    RunsWithBuild,
    /// A program runs or obeys it without being asked to.
    RunsLater,
    /// It belongs to the removal of a repository, of a root, or of more than the loss limit.
    LargeLoss,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub(super) struct ReportedRunner {
    by: String,
    why: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ChangeState {
    Applied,
    Pending,
}

/// What was pending at the end of a turn, before anything of it was applied.
pub struct TurnChanges {
    shown: ShownChanges,
    git: Vec<RepositoryEvents>,
}

impl TurnChanges {
    pub fn of(view: &View) -> TurnChanges {
        let shown = view.shown_as(view.changes(LayerKind::Pending).unwrap_or_default());
        let git = view.git_events(shown.set());
        TurnChanges { shown, git }
    }

    /// All changes of the turn, after its apply question: what was applied, then what is pending.
    pub fn reports(&self, view: &View) -> Vec<ChangeReport> {
        let applied = view.shown_as(view.applied_in(&view.turn().label.turn));
        let (set, classes) = (self.shown.set(), self.shown.classes());
        let lost = classes.lost_paths(set);
        let mut reports: Vec<ChangeReport> = Vec::new();
        for change in &applied.set().changes {
            // Pending changes are classified by content, the others only by name.
            let classes = if set.get(&change.path).is_some() { classes } else { applied.classes() };
            reports.push(report(change, (classes, &lost), (ChangeState::Applied, Some(false))));
        }
        attach(&mut reports, &self.git);
        let left = TurnChanges::of(view);
        let (set, classes) = (left.shown.set(), left.shown.classes());
        let lost = classes.lost_paths(set);
        let conflicts = view.conflicts(set);
        let of_pending = |change: &FileChange| {
            report(change, (classes, &lost), (ChangeState::Pending, conflicts.at(&change.path)))
        };
        let mut left_over: Vec<ChangeReport> = set.changes.iter().map(of_pending).collect();
        attach(&mut left_over, &left.git);
        reports.extend(left_over);
        reports
    }
}

/// Gives the events of each repository to the first path in it, or in the one around it.
fn attach(reports: &mut [ChangeReport], git: &[RepositoryEvents]) {
    for repository in git {
        let in_it = |dir: &Path| reports.iter().position(|report| Path::new(&report.path).starts_with(dir));
        let first = repository.path.ancestors().find_map(in_it);
        if let Some(first) = first.and_then(|at| reports.get_mut(at)) {
            first.git.extend(git_reports(repository));
        }
    }
}

/// What the change at `path` means. What runs later is approved as that, also where it belongs to a loss.
pub fn classification(classes: &ChangeClasses, lost: &BTreeSet<&Path>, path: &Path) -> ReportedClass {
    match classes.of(path) {
        _ if classes.waiting_repository(path).is_some() => ReportedClass::RunsLater,
        ChangeClass::RunsLater(_) => ReportedClass::RunsLater,
        ChangeClass::LargeLoss(_) => ReportedClass::LargeLoss,
        _ if lost.contains(path) => ReportedClass::LargeLoss,
        ChangeClass::RunsWithBuild(_) => ReportedClass::RunsWithBuild,
        ChangeClass::Ordinary => ReportedClass::Ordinary,
    }
}

fn report(
    change: &FileChange,
    (classes, lost): (&ChangeClasses, &BTreeSet<&Path>),
    (state, is_conflict): (ChangeState, Option<bool>),
) -> ChangeReport {
    let run_by = |runner: &Runner| ReportedRunner { by: runner.by.clone(), why: runner.why.clone() };
    ChangeReport {
        path: change.path.to_string_lossy().into_owned(),
        change: change.verb().word().into(),
        from: change.moved_from.as_ref().map(|path| path.to_string_lossy().into_owned()),
        another_name_of: change.twin.as_ref().map(|path| path.to_string_lossy().into_owned()),
        classification: classification(classes, lost, &change.path),
        runs_later: classes.reason_to_wait(&change.path).map(run_by),
        runs_with_build: match classes.of(&change.path) {
            ChangeClass::RunsWithBuild(runner) => Some(run_by(runner)),
            _ => None,
        },
        is_conflict,
        state,
        git: Vec::new(),
    }
}
