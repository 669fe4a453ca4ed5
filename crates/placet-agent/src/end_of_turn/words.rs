//! The words of the question at the end of a turn.

use super::commit_parts;
use placet_text::text::{count, visible};
use placet_tools::{ChangeOverview, FileDiff, LeftOut};
use placet_workspace::{
    ChangeClasses, ChangeCount, ChangeSet, CommitPatch, FileChange, JournalEntry, LargeLoss, ListedChange,
    PathPatch, ShownChanges, View, Workspace, leave_out_waiting, line_words, shown_patch,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most of a diff that is put into a question, in bytes; the rest is counted.
const DIFF: usize = 1 << 20;
/// The most files whose diffs are in a question: each takes memory, also where its diff is cut off. The others are counted.
const FILES: usize = 2_000;

/// The first line: what is taken away on a large scale comes before everything else.
pub(super) fn headline(parts: &[(&ShownChanges, &Workspace)]) -> String {
    let mut count = ChangeCount::default();
    let mut lines = (0, 0);
    let mut out: Vec<String> = Vec::new();
    for (shown, workspace) in parts {
        let (set, classes, view) = (shown.set(), shown.classes(), shown.view());
        let renamed = view.renamed(set);
        let (added, removed) = set.lines(view.objects(), &renamed, classes);
        lines = (lines.0 + added, lines.1 + removed);
        count += shown.count();
        out.extend(losses(&classes.losses, workspace));
    }
    let lines = line_words(lines).map(|words| format!(", {words} lines"));
    out.push(format!("{count}{}: apply?", lines.unwrap_or_default()));
    out.join("; ")
}

/// `waiting` files and repositories are marked in `list`. Rows of what waits with one of them need no mark.
pub(super) fn apply_words(waiting: usize, list: &[ListedChange]) -> String {
    let left_out = list.iter().filter(|row| row.is_left_out && !row.paths.is_empty()).count();
    match waiting {
        0 => "apply".into(),
        _ if left_out > waiting => "apply all that does not wait".into(),
        1 => "apply all but the one marked !".into(),
        count => format!("apply all but the {count} marked !"),
    }
}

/// What a change set takes away, a sentence for each loss.
pub(super) fn losses(losses: &[LargeLoss], workspace: &Workspace) -> Vec<String> {
    losses.iter().map(|loss| loss.words(&|path: &Path| workspace.shortened(path))).collect()
}

/// The note about changes that wait in this conversation, the same everywhere.
pub fn pending_words(count: ChangeCount) -> String {
    format!("changes to {count} are pending: {PENDING_COMMANDS}")
}

/// The same with the files that wait for an answer of their own.
pub(super) fn named_pending_words(count: ChangeCount, waiting: &[PathBuf]) -> String {
    match waiting {
        [] => pending_words(count),
        _ => format!("{} (! {})", pending_words(count), named(waiting)),
    }
}

/// What the person was asked about before, and left pending.
pub(super) fn still_pending_words(paths: &[PathBuf], losses: &[LargeLoss], workspace: &Workspace) -> String {
    let paths: Vec<PathBuf> = paths.iter().map(|path| workspace.shortened(path)).collect();
    let mut words = self::losses(losses, workspace);
    words.extend((!paths.is_empty()).then(|| named(&paths)));
    format!("still pending: {}", words.join("; "))
}

/// The first of them by name.
fn named(paths: &[PathBuf]) -> String {
    const NAMED: usize = 3;
    let mut names: Vec<String> = paths.iter().take(NAMED).map(|path| visible::path(path)).collect();
    names.extend((paths.len() > NAMED).then(|| format!("{} more", paths.len() - NAMED)));
    names.join(", ")
}

/// What decides about them.
pub const PENDING_COMMANDS: &str = "/apply, /review, /discard";

/// The reason of a question about changes that has no other.
pub const NOTHING_APPLIED: &str = "none of these changes is in the workspace yet";

/// How many of the changes that an answer would apply are in conflict with the workspace: all or nothing is applied.
pub(super) fn conflicts(list: &[ListedChange]) -> usize {
    list.iter().filter(|row| (row.is_conflict || row.is_blocked()) && !row.is_left_out).count()
}

/// The same of everything that is listed: also what waits for an answer of its own.
pub(super) fn all_conflicts(list: &[ListedChange]) -> usize {
    list.iter().filter(|row| row.is_conflict || row.is_blocked()).count()
}

/// Why nothing of the list can be applied yet, and what to do.
pub(super) fn blocked_words(list: &[ListedChange]) -> String {
    let moved = list.iter().find_map(|row| Some((row.repository.as_ref()?, row.moved.as_ref()?)));
    match moved {
        Some((name, why)) => format!("{name} cannot be applied: {why}"),
        None => conflict_words(list.iter().filter(|row| row.is_conflict).count()),
    }
}

/// Why nothing can be applied yet.
fn conflict_words(files: usize) -> String {
    let are = if files == 1 { "is" } else { "are" };
    format!(
        "{} {are} in conflict with the workspace: choose in the review, then apply",
        count::of(files, "file")
    )
}

pub(super) fn reason(view: &View, list: &[ListedChange]) -> String {
    if conflicts(list) > 0 {
        // The review has those that wait for an answer of their own, too, and the list marks them.
        return blocked_words(list);
    }
    let unread = view.turn().unread.clone();
    if !unread.is_empty() {
        return unread.join("; ");
    }
    let reasons = view.turn().braked.clone();
    match reasons.is_empty() {
        true => NOTHING_APPLIED.into(),
        false => format!("left pending: {}", reasons.join("; ")),
    }
}

/// The list of the changes, then their patches. For a very large set, some patches are left out and counted.
pub fn overview(of: &ShownChanges, workspace: &Workspace) -> ChangeOverview {
    let mut list = of.rows(|path| workspace.shortened(path));
    leave_out_waiting(&mut list, of.set(), of.classes());
    let (of_set, place) = ((&**of.set(), of.classes()), (of.view(), workspace));
    let mut shown = with_patches(list, of_set, place, |bytes| LeftOut::TooLong { bytes });
    // Most messages have several lines, and the files of such a commit need not be shown twice for them.
    for file in &mut shown.files {
        let commit = shown.list.get(file.row).and_then(|listed| listed.commit.as_ref());
        let Some(message) = commit.map(|commit| commit.message).filter(|message| *message > 0) else {
            continue;
        };
        if file.is_repeated {
            file.patch.truncate(message);
            file.is_repeated = false;
        }
    }
    shown
}

/// The same of what a transaction changed. Nothing of it needs an approval any more.
pub fn applied_overview(entry: &JournalEntry, view: &View, workspace: &Workspace) -> ChangeOverview {
    let (set, classes) = (view.applied_by(entry), ChangeClasses::default());
    let git = view.applied_git_events(entry);
    let list = set.listing(view.objects(), &classes, &git, |path| workspace.shortened(path));
    let too_long = |bytes| LeftOut::OfTransaction { bytes, id: entry.id };
    with_patches(list, (&set, &classes), (view, workspace), too_long)
}

/// `too_long` names the bytes that are left out.
fn with_patches(
    mut list: Vec<ListedChange>,
    (set, classes): (&ChangeSet, &ChangeClasses),
    (view, workspace): (&View, &Workspace),
    too_long: impl Fn(usize) -> LeftOut,
) -> ChangeOverview {
    let renamed = set.listed_renames(classes, view.objects());
    let rows = RowIndex::of(&list);
    let mut room = DIFF;
    let mut files: Vec<FileDiff> = Vec::new();
    // The patch of a file that was moved or renamed has both of its names.
    let has_content = |change: &&FileChange| {
        !change.is_directory_alone() && !change.is_link_alone() && !renamed.is_moved_away(&change.path)
    };
    let shown = set.changes.iter().filter(has_content).take(FILES);
    for change in shown.clone() {
        let PathPatch { path, bytes: mut patch, missing } =
            shown_patch(set, change, &renamed, view.objects(), workspace.cwd());
        let left_out = patch.len().saturating_sub(room);
        patch.truncate(room);
        // What is cut off takes no memory either.
        patch.shrink_to_fit();
        room -= patch.len();
        let left_out = match missing {
            0 if left_out == 0 => None,
            0 => Some(too_long(left_out)),
            bytes if change.is_too_large() => Some(LeftOut::NotInPatch { bytes }),
            bytes => Some(LeftOut::Replaced { bytes }),
        };
        files.push(FileDiff {
            name: visible::path(&workspace.shortened(&path)),
            row: rows.row_of(&path),
            patch,
            left_out,
            ..FileDiff::default()
        });
    }
    files.extend(other_files(set.changes.iter().filter(has_content).skip(FILES), &rows, &too_long));
    let mut commits = Vec::new();
    for (row, listed) in list.iter().enumerate() {
        let Some(CommitPatch { bytes, left_out, runs_later, .. }) = &listed.commit else { continue };
        // What is staged as the files have it is shown with the files.
        if bytes.is_empty() && *left_out == 0 {
            continue;
        }
        let name = listed.text.trim_start().to_string();
        let left_out = (*left_out > 0).then_some(LeftOut::OfCommit { bytes: *left_out });
        let (patch, runs_later) = (bytes.clone(), runs_later.clone());
        commits.push(FileDiff { name, row, patch, left_out, runs_later, is_repeated: false });
    }
    let known = commit_parts::parts_of_files(&list, &files);
    for commit in &mut commits {
        let message =
            list.get(commit.row).and_then(|row| row.commit.as_ref()).map_or(0, |patch| patch.message);
        let files = commit.patch.get(message..).unwrap_or_default();
        commit.is_repeated = commit.left_out.is_none() && commit_parts::is_repeated(files, &known);
    }
    // Of what is staged, only that is shown which the rows of the files do not have.
    let is_staged = |list: &[ListedChange], row: usize| {
        list.get(row).and_then(|row| row.commit.as_ref()).is_some_and(|patch| patch.is_staged)
    };
    let mut notes: Vec<(usize, String)> = Vec::new();
    for commit in commits.iter_mut().filter(|commit| is_staged(&list, commit.row) && !commit.is_repeated) {
        let rest = commit_parts::without_repeated(&commit.patch, &known);
        let Some(rest) = rest.filter(|_| commit.left_out.is_none()) else { continue };
        let name = rest.only_name.map(|name| format!("{name}; ")).unwrap_or_default();
        commit.patch = rest.patch;
        notes.push((commit.row, format!("({name}the rest as listed)")));
    }
    for (row, note) in notes {
        if let Some(row) = list.get_mut(row) {
            row.add_note(&note);
        }
    }
    files.extend(commits);
    ChangeOverview { list, files }
}

/// Which row of a list a path belongs to.
struct RowIndex<'a>(Vec<(&'a Path, usize)>);

impl<'a> RowIndex<'a> {
    fn of(list: &'a [ListedChange]) -> RowIndex<'a> {
        let paths =
            list.iter().enumerate().flat_map(|(at, row)| row.paths.iter().map(move |path| (&**path, at)));
        let mut rows: Vec<(&Path, usize)> = paths.collect();
        rows.sort_unstable();
        RowIndex(rows)
    }

    /// A directory that is created or removed together with its content does not get its own row.
    fn row_of(&self, path: &Path) -> usize {
        let from = self.0.partition_point(|(known, _)| *known < path);
        let at_or_below =
            self.0.get(from..).unwrap_or_default().iter().take_while(|(found, _)| found.starts_with(path));
        // A path in several rows belongs to the last.
        let first = at_or_below.clone().next().map(|(found, _)| *found);
        at_or_below.take_while(|(found, _)| Some(*found) == first).last().map_or(0, |(_, row)| *row)
    }
}

/// The files after the first [`FILES`], one entry for all of a row.
fn other_files<'a>(
    changes: impl Iterator<Item = &'a FileChange>,
    rows: &RowIndex<'_>,
    too_long: &dyn Fn(usize) -> LeftOut,
) -> Vec<FileDiff> {
    let mut others: BTreeMap<usize, (usize, u64)> = BTreeMap::new();
    for change in changes {
        let (files, bytes) = others.entry(rows.row_of(&change.path)).or_default();
        *files += 1;
        *bytes += change.before.size().max(change.after.size());
    }
    let entry = |(row, (files, bytes)): (usize, (usize, u64))| FileDiff {
        name: count::of(files, "other file"),
        row,
        patch: Vec::new(),
        left_out: Some(too_long(usize::try_from(bytes).unwrap_or(usize::MAX))),
        ..FileDiff::default()
    };
    others.into_iter().map(entry).collect()
}
