//! Files of a repository that are decided with it and named in a folded row: a person reads what they mean in the rows above.

use super::file::{ReviewBody, ReviewFile, WholeChange};
use placet_text::text::count;
use placet_workspace::{ChangeSet, FileChange, ObjectStore, PathState};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Files that a folded row names.
const SHOWN: usize = 2000;
/// Where git has the files of an operation that takes several commands.
const OPERATIONS: [&str; 3] = ["rebase-merge", "rebase-apply", "sequencer"];

/// The files of a rebase, a cherry-pick or `git am` in progress that have nothing to read, as one folded file: the row of the
/// operation says what they mean. What that row does not prove has a row with its difference.
pub(in crate::review) fn operation_files(
    set: &ChangeSet,
    unit: &Path,
    (group, objects): (&BTreeSet<Arc<Path>>, &ObjectStore),
    name: &dyn Fn(&Path) -> String,
) -> Option<ReviewFile> {
    set.repository_of(unit)?;
    let in_group = group.iter().filter_map(|path| set.get(path));
    let files: Vec<&FileChange> = in_group.filter(|c| is_of_operation(set, c, objects)).collect();
    if files.is_empty() {
        return None;
    }
    let label = format!("{} of the operation", count::of(files.len(), "file"));
    let rows = files.iter().map(|change| format!("{} {}", change.verb().letter(), name(&change.path)));
    Some(folded(unit, ("written by git, decided with the repository", label), rows, name))
}

fn folded(
    unit: &Path,
    (why, label): (&str, String),
    rows: impl ExactSizeIterator<Item = String>,
    name: &dyn Fn(&Path) -> String,
) -> ReviewFile {
    let more = rows.len().saturating_sub(SHOWN);
    let mut words = vec![why.to_string()];
    words.extend(rows.take(SHOWN));
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    ReviewFile {
        name: format!("{}/{label}", name(unit)),
        path: unit.join(&label),
        paths: Vec::new(),
        renamed: None,
        letter: 'A',
        facts: Vec::new(),
        care: Vec::new(),
        runs_later: None,
        decided_with: Some(unit.to_path_buf()),
        body: ReviewBody::Whole(WholeChange { words, is_explained: true, ..WholeChange::default() }),
        key: String::new(),
    }
}

/// True for a file of an operation in which there is nothing to read.
pub(in crate::review) fn is_of_operation(
    set: &ChangeSet,
    change: &FileChange,
    objects: &ObjectStore,
) -> bool {
    let Some(rel) = set
        .repository_of(&change.path)
        .and_then(|dir| change.path.strip_prefix(&dir).ok().map(PathBuf::from))
    else {
        return false;
    };
    let is_empty = || change.bytes(objects).is_some_and(|(a, b)| a.is_empty() && b.is_empty());
    OPERATIONS.iter().any(|dir| rel.starts_with(dir)) && change.is_between_files() && is_empty()
}

/// True for directories, for what is not applied as a file of a repository, and for what goes with a whole repository: there is
/// nothing in them to read.
pub(in crate::review) fn has_no_words(set: &ChangeSet, change: &FileChange) -> bool {
    let is_directory = |node: &PathState| node.is_directory() || node.is_absent();
    let repositories = &set.repositories;
    let is_of_git = || repositories.is_carried_by_git(change) || repositories.is_removed(&change.path);
    // A content of LFS is named by its hash, which is proved.
    is_directory(&change.before) && is_directory(&change.after)
        || change.is_between_files() && (is_of_git() || repositories.is_lfs_content(change))
}
