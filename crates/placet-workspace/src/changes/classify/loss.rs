//! Large losses: a repository, a root, or more than the loss limit.

use super::large_loss::LargeLoss;
pub(super) use super::removed_repository::{removed_repository, removes_repository};
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::view::LossLimit;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The losses of `set`. Of the files, only those count for which `counted` is true.
pub(super) fn losses(
    set: &ChangeSet,
    roots: &[PathBuf],
    limit: LossLimit,
    counted: &dyn Fn(&Path) -> bool,
) -> Vec<LargeLoss> {
    let mut losses: Vec<LargeLoss> =
        set.changes.iter().filter_map(|change| removed_repository(set, change)).collect();
    losses.extend(roots.iter().filter_map(|root| emptied(set, root)));
    let stated: BTreeSet<&Path> = paths_of(set, &losses, &|_| true);
    let (files, bytes) = removed(set, &|path| counted(path) && !stated.contains(path));
    if files > limit.files || bytes > limit.bytes {
        losses.push(LargeLoss::Files { files, bytes });
    }
    losses
}

/// How many files `set` removes, and their bytes; of those for which `counted` is true.
pub(super) fn removed(set: &ChangeSet, counted: &dyn Fn(&Path) -> bool) -> (usize, u64) {
    let lost = lost(set).filter(|change| counted(&change.path));
    lost.fold((0, 0), |(files, bytes), change| (files + 1, bytes + change.before.size()))
}

/// The paths of `set` that belong to `losses`.
pub(super) fn paths_of<'a>(
    set: &'a ChangeSet,
    losses: &[LargeLoss],
    counted: &dyn Fn(&Path) -> bool,
) -> BTreeSet<&'a Path> {
    let mut paths: BTreeSet<&Path> = BTreeSet::new();
    for loss in losses {
        match loss {
            LargeLoss::Repository { path, .. } => {
                paths.extend(set.changes.iter().map(|c| &*c.path).filter(|at| at.starts_with(path)));
            }
            LargeLoss::Root { path, .. } => {
                // What is there under another name is not lost.
                let moved = moved(set);
                let goes = |c: &&FileChange| {
                    c.after.is_absent() && c.path.starts_with(path) && !moved.contains(&c.path)
                };
                paths.extend(set.changes.iter().filter(goes).map(|c| &*c.path));
            }
            LargeLoss::Files { .. } => {
                paths.extend(lost(set).map(|c| &*c.path).filter(|path| counted(path)));
            }
        }
    }
    paths
}

/// Files that are removed, or that lose more than half of their content: an edit of many files is no loss.
fn lost(set: &ChangeSet) -> impl Iterator<Item = &FileChange> {
    let moved = moved(set);
    // Of what git writes, only what a row names is ever removed: refs, staged files, stash entries.
    let others = set.changes.iter().filter(|c| !set.repositories.is_written_by_git(&c.path));
    others.filter(move |c| {
        let gone = !c.after.is_file() && !moved.contains(&c.path);
        c.before.is_file() && (gone || c.after.is_file() && c.after.size() < c.before.size().div_ceil(2))
    })
}

fn moved(set: &ChangeSet) -> BTreeSet<&Arc<Path>> {
    set.changes.iter().filter_map(|c| c.moved_from.as_ref()).collect()
}

/// A root that had files and has none of them any more. A root cannot be removed itself: commands have it mounted.
fn emptied(set: &ChangeSet, root: &PathBuf) -> Option<LargeLoss> {
    let below = || set.changes.iter().filter(|c| c.path.starts_with(root) && *c.path != **root);
    let gone =
        |path: &std::path::Path| set.get(path).is_some_and(|c| c.after.is_absent() && !c.before.is_absent());
    let is_gone = |c: &&FileChange| c.before.is_file() && c.after.is_absent();
    if !set.changes.iter().filter(is_gone).any(|c| c.path.starts_with(root)) {
        return None;
    }
    let mut entries =
        std::fs::read_dir(root).ok()?.filter_map(Result::ok).map(|entry| entry.path()).peekable();
    entries.peek()?;
    if !entries.all(|path| gone(&path)) {
        return None;
    }
    let moved = moved(set);
    let files = below().filter(|c| c.before.is_file() && !moved.contains(&c.path)).count();
    // In a small project, a file that is renamed or written again under another name is not a loss.
    let came = below().filter(|c| c.before.is_absent() && c.after.is_file()).count();
    (files > came).then(|| LargeLoss::Root { path: root.clone(), files })
}
