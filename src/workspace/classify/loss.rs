//! Large losses: a repository, a root, or more than the loss limit.

use crate::workspace::change::{Change, ChangeSet};
use crate::workspace::view::Brake;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// What a change set takes away that a person must not lose unasked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LargeLoss {
    /// The repository at this path is removed: its history, with all that is only there.
    Repository { path: PathBuf, files: usize },
    /// Every file that was in this root is removed, and what came instead is less.
    Root { path: PathBuf, files: usize },
    /// More files or bytes are deleted or overwritten than the loss limit allows.
    Files { files: usize, bytes: u64 },
}

/// The repository that `change` removes, with all that goes with it.
pub(super) fn removed_repository(set: &ChangeSet, change: &Change) -> Option<LargeLoss> {
    if !removes_repository(set, change) {
        return None;
    }
    let path = &change.path;
    let files = set.changes.iter().filter(|c| c.path.starts_with(path) && c.before.is_file()).count();
    Some(LargeLoss::Repository { path: path.clone(), files })
}

pub(super) fn removes_repository(set: &ChangeSet, change: &Change) -> bool {
    let is_one = set.repositories.of(&change.path).is_some_and(|repository| repository == change.path);
    is_one && change.before.is_directory() && !change.after.is_directory()
}

pub(super) fn losses(set: &ChangeSet, roots: &[PathBuf], limit: Brake) -> Vec<LargeLoss> {
    let mut losses: Vec<LargeLoss> =
        set.changes.iter().filter_map(|change| removed_repository(set, change)).collect();
    losses.extend(roots.iter().filter_map(|root| emptied(set, root)));
    let (files, bytes) = removed(set);
    if files > limit.files || bytes > limit.bytes {
        losses.push(LargeLoss::Files { files, bytes });
    }
    losses
}

/// Files that are gone or hardly there any more, and their bytes: an edit of many files is no loss, and a file that is
/// emptied is one.
fn removed(set: &ChangeSet) -> (usize, u64) {
    let moved = moved(set);
    let lost = set.changes.iter().filter(|c| {
        let gone = !c.after.is_file() && !moved.contains(&c.path);
        c.before.is_file() && (gone || c.after.is_file() && c.after.size() < c.before.size() / 2)
    });
    lost.fold((0, 0), |(files, bytes), c| (files + 1, bytes + c.before.size()))
}

fn moved(set: &ChangeSet) -> BTreeSet<&PathBuf> {
    set.changes.iter().filter_map(|c| c.moved_from.as_ref()).collect()
}

/// A root that had files and has none of them any more. A root cannot be removed itself: commands have it mounted.
fn emptied(set: &ChangeSet, root: &PathBuf) -> Option<LargeLoss> {
    let below = || set.changes.iter().filter(|c| c.path.starts_with(root) && c.path != *root);
    let gone =
        |path: &std::path::Path| set.get(path).is_some_and(|c| c.after.is_absent() && !c.before.is_absent());
    if !below().any(|c| c.before.is_file() && c.after.is_absent()) {
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
    // A file that is renamed or written anew under another name in a small project is no loss.
    let came = below().filter(|c| c.before.is_absent() && c.after.is_file()).count();
    (files > came).then(|| LargeLoss::Root { path: root.clone(), files })
}
