//! A repository that stays and loses its history: `rm -r .git/objects`, `: > .git/HEAD`, `rm -rf .git; git init`.

use super::large_loss::LargeLoss;
use super::removed_repository::removes_repository;
use crate::workspace::changes::change_set::{ChangeSet, FileChange};
use crate::workspace::files::path_state::PathState;
use crate::workspace::repository::{GitFileKind, is_damaged};
use std::path::Path;

/// Without one of them git does not see a repository.
const NEEDED: [&str; 4] = ["HEAD", "objects", "refs", "reftable"];

/// The header line of `packed-refs` is shorter, and a ref takes more.
const PACKED_REF: u64 = 64;

/// The repositories of `set` that are not removed and that lose what git needs of them.
pub(super) fn repository_losses(set: &ChangeSet) -> impl Iterator<Item = LargeLoss> {
    set.repositories.all().filter_map(|repository| {
        if repository.ancestors().any(|dir| set.get(dir).is_some_and(|c| removes_repository(set, c))) {
            return None;
        }
        // `git worktree remove` removes all of a linked worktree's directory, in which there are no objects.
        if repository.parent().is_some_and(|dir| dir.ends_with("worktrees")) {
            return None;
        }
        let broken = NEEDED.iter().any(|name| set.get(&repository.join(name)).is_some_and(is_broken));
        if !(broken || loses_packed_refs(set, repository) || loses_objects(set, repository)) {
            return None;
        }
        let files = set.changes.iter().filter(|c| c.path.starts_with(repository) && is_damaged(c)).count();
        Some(LargeLoss::History { path: repository.to_path_buf(), files })
    })
}

/// True when what git needs is not there any more, or is of another kind, or is a file with nothing in it.
fn is_broken(change: &FileChange) -> bool {
    match &*change.before {
        PathState::Absent => false,
        PathState::Directory { .. } => !change.after.is_directory(),
        _ => {
            change.after.is_absent()
                || change.after.is_directory()
                || change.after.is_file() && change.after.size() == 0
        }
    }
}

/// git keeps the file when the last ref in it is deleted, and packs loose refs into it.
fn loses_packed_refs(set: &ChangeSet, repository: &Path) -> bool {
    let Some(change) = set.get(&repository.join("packed-refs")) else { return false };
    let refs = repository.join("refs");
    let loose = || set.changes.iter().any(|c| c.path.starts_with(&refs) && c.after.is_file());
    change.before.size() > PACKED_REF
        && (!change.after.is_file() || change.after.size() <= PACKED_REF)
        && !loose()
}

/// The objects were counted in the whole set, and `set` may be a part of it.
fn loses_objects(set: &ChangeSet, repository: &Path) -> bool {
    let counted = set.repository_changes.iter().any(|change| change.lost_objects.contains_key(repository));
    let objects = repository.join("objects");
    counted && set.changes.iter().any(|c| c.path.starts_with(&objects) && is_damaged(c))
}

/// True for a file whose loss [`repository_losses`] judges: packing objects and a new index are then not losses of
/// files. These are the files that git stores below `objects`, by their exact names, and the index.
pub(super) fn is_judged_there(set: &ChangeSet, path: &Path) -> bool {
    let Some(repository) = set.repositories.nearest(path) else { return false };
    let Ok(rel) = path.strip_prefix(repository) else { return false };
    let is_known = || {
        let outermost = set.repositories.of(path);
        set.repository_changes.iter().any(|change| Some(change.path.as_path()) == outermost)
    };
    (rel.starts_with("objects") || rel == Path::new("index")) && GitFileKind::at(rel).is_some() && is_known()
}
