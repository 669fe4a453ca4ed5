//! The words of the question at the end of a turn.

use crate::text::visible;
use crate::tools::{ChangeOverview, FileDiff, LeftOut};
use crate::workspace::{ChangeClasses, ChangeSet, CommitPatch, PathPatch, View, Workspace, shown_patches};
use std::collections::BTreeMap;
use std::path::Path;

/// The most of a diff that is put into a question, in bytes; the rest is counted.
const DIFF: usize = 1 << 20;

/// The first line: what is taken away on a large scale comes before everything else.
pub(super) fn headline(
    set: &ChangeSet,
    classes: &ChangeClasses,
    view: &View,
    workspace: &Workspace,
) -> String {
    let (added, removed) = set.lines(view.objects());
    let rest = format!("{}, +{added} -{removed} lines: apply?", counted(set, classes));
    let mut parts: Vec<String> = losses(classes, workspace);
    parts.push(rest);
    parts.join("; ")
}

pub(super) fn apply_words(waiting: usize) -> String {
    match waiting {
        0 => "apply all".into(),
        1 => "apply all but the one marked !".into(),
        count => format!("apply all but the {count} marked !"),
    }
}

/// What a change set takes away, a sentence for each loss.
pub(super) fn losses(classes: &ChangeClasses, workspace: &Workspace) -> Vec<String> {
    classes.losses.iter().map(|loss| loss.words(&|path: &Path| workspace.shortened(path))).collect()
}

/// `3 changes`.
pub(super) fn counted(set: &ChangeSet, classes: &ChangeClasses) -> String {
    let count = set.listed(classes);
    let s = if count == 1 { "" } else { "s" };
    format!("{count} change{s}")
}

pub(super) fn pending_words(set: &ChangeSet, classes: &ChangeClasses) -> String {
    format!("{} pending: /changes, /apply, /discard", counted(set, classes))
}

pub(super) fn reason(view: &View) -> String {
    let unread = view.turn().unread.clone();
    if !unread.is_empty() {
        return unread.join("; ");
    }
    let reasons = view.turn().braked.clone();
    match reasons.is_empty() {
        true => "none of these changes is in the workspace yet".into(),
        false => format!("left pending: {}", reasons.join("; ")),
    }
}

/// The list of the changes, then their patches. For a very large set, some patches are left out and counted.
pub fn overview(set: &ChangeSet, view: &View, workspace: &Workspace) -> ChangeOverview {
    let list = view.listed(set, &view.classify(set), |path| workspace.shortened(path));
    let rows: BTreeMap<&Path, usize> = list
        .iter()
        .enumerate()
        .flat_map(|(at, row)| row.paths.iter().map(move |path| (path.as_path(), at)))
        .collect();
    let mut room = DIFF;
    let file = |PathPatch { path, bytes: mut patch, missing }: PathPatch| {
        let left_out = patch.len().saturating_sub(room);
        patch.truncate(room);
        room -= patch.len();
        let left_out = match missing {
            0 if left_out == 0 => None,
            0 => Some(LeftOut::TooLong { bytes: left_out }),
            bytes => Some(LeftOut::NotInPatch { bytes }),
        };
        // A directory that is created or removed together with its content does not get its own row.
        let at_or_below = rows.range(path.as_path()..).next().filter(|(found, _)| found.starts_with(&path));
        let row = at_or_below.map_or(0, |(_, row)| *row);
        FileDiff { name: visible::path(&workspace.shortened(&path)), row, patch, left_out }
    };
    let has_content = |patch: &PathPatch| !set.get(&patch.path).is_some_and(|c| c.is_directory_alone());
    let patches = shown_patches(set, view.objects(), workspace.cwd()).into_iter().filter(has_content);
    let mut files: Vec<FileDiff> = patches.map(file).collect();
    for (row, listed) in list.iter().enumerate() {
        let Some(CommitPatch { bytes, left_out }) = &listed.commit else { continue };
        let name = listed.text.trim_start().to_string();
        let left_out = (*left_out > 0).then_some(LeftOut::OfCommit { bytes: *left_out });
        files.push(FileDiff { name, row, patch: bytes.clone(), left_out });
    }
    ChangeOverview { list, files }
}
