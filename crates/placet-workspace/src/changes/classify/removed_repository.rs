//! A repository that is removed.

use super::large_loss::LargeLoss;
use crate::changes::change_set::{ChangeSet, FileChange};

/// The repository that `change` removes, with all of its files.
pub(super) fn removed_repository(set: &ChangeSet, change: &FileChange) -> Option<LargeLoss> {
    if !removes_repository(set, change) {
        return None;
    }
    let path = &change.path;
    let files = set.changes.iter().filter(|c| c.path.starts_with(path) && c.before.is_file()).count();
    Some(LargeLoss::Repository { path: path.to_path_buf(), files })
}

pub(super) fn removes_repository(set: &ChangeSet, change: &FileChange) -> bool {
    let is_one = set.repositories.of(&change.path).is_some_and(|repository| *repository == *change.path);
    is_one && change.before.is_directory() && !change.after.is_directory()
}
