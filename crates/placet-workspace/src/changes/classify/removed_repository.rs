//! A repository that is removed.

use super::large_loss::LargeLoss;
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::repository::is_linked_worktree;
use std::path::Path;

/// The repository that `change` removes, with all of its files.
pub(super) fn removed_repository(set: &ChangeSet, change: &FileChange) -> Option<LargeLoss> {
    if !removes_repository(set, change) {
        return None;
    }
    let path = &change.path;
    let files = set.changes.iter().filter(|c| c.path.starts_with(path) && c.before.is_file()).count();
    Some(LargeLoss::Repository { path: path.to_path_buf(), files })
}

/// True for the repository of a submodule, too; one in another that is removed goes with it. A linked worktree has no commits
/// of its own.
pub(super) fn removes_repository(set: &ChangeSet, change: &FileChange) -> bool {
    let is_gone = |change: &FileChange| change.before.is_directory() && !change.after.is_directory();
    let is_one = |path: &Path| set.repositories.nearest(path) == Some(path) && !is_linked_worktree(path);
    let is_around = |dir: &&Path| is_one(dir) && set.get(dir).is_some_and(is_gone);
    is_gone(change) && is_one(&change.path) && !change.path.ancestors().skip(1).any(|dir| is_around(&dir))
}
