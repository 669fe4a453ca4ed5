//! A repository whose new commits or index change files that run later, or in which an operation is in progress: it is
//! applied as a whole, so the whole of it waits for an approval of its own, with the files that the operation wrote.

use super::class::{ChangeClasses, WaitingRepository};
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::files::metadata::path_state::PathState;
use crate::hash::Hash;
use placet_permission::Runner;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

impl ChangeClasses {
    /// The repository that waits as a whole, and with which the change at `path` waits. Hooks and settings that run
    /// programs are approved by themselves; a file of an operation is not, whoever runs it.
    pub fn waiting_repository(&self, path: &Path) -> Option<&WaitingRepository> {
        let is_of_it = |one: &&WaitingRepository| {
            one.files.contains(path) || path.starts_with(&one.path) && self.runner(path).is_none()
        };
        self.waiting.iter().find(is_of_it)
    }

    /// The repository with whose operation a file outside of it waits.
    pub fn operation_around(&self, path: &Path) -> Option<&WaitingRepository> {
        self.waiting_repository(path).filter(|repository| repository.files.contains(path))
    }

    /// The repository that an approval of exactly `path` is about: the path is the repository itself, or one of its changes.
    /// Nobody who names a file that did not change, or one of the work tree, has seen the repository.
    pub fn waiting_at(&self, set: &ChangeSet, path: &Path) -> Option<&WaitingRepository> {
        let waiting = self.waiting_repository(path).filter(|waiting| path.starts_with(&waiting.path))?;
        (waiting.path == path || set.get(path).is_some()).then_some(waiting)
    }

    /// The repositories that wait as a whole.
    pub fn waiting_repositories(&self) -> impl Iterator<Item = &WaitingRepository> {
        self.waiting.iter()
    }

    /// Who runs or obeys later what changes at `path`: the file itself, or files in commits of its repository.
    pub fn reason_to_wait(&self, path: &Path) -> Option<&Runner> {
        self.runner(path).or_else(|| self.waiting_repository(path).map(|repository| &repository.runner))
    }

    /// The changes that a person means who names `path`: those at or below it, and the files that wait with a repository there.
    pub fn named_by(&self, set: &ChangeSet, path: &Path) -> BTreeSet<Arc<Path>> {
        let waiting = self.waiting.iter().filter(|repository| repository.path.starts_with(path));
        let files = waiting.flat_map(|one| &one.files).filter(|file| set.get(file).is_some()).cloned();
        set.below(path).into_iter().chain(files).collect()
    }

    /// The changes of `set` that the approval of exactly `path` is about.
    pub fn approved_with(&self, set: &ChangeSet, path: &Path) -> BTreeSet<Arc<Path>> {
        let mut below = set.below(path);
        if let Some(repository) = self.waiting_repository(path).filter(|one| one.path == path) {
            below.retain(|path| self.waiting_repository(path).is_some());
            below.extend(repository.files.iter().filter(|file| set.get(file).is_some()).cloned());
        }
        below.extend(self.group_around(set, path));
        below
    }
}

/// What the files of a repository would be, as one hash. `changes` are those of the repository, in their order.
pub(crate) fn state_of<'a>(changes: impl Iterator<Item = &'a FileChange>) -> Hash {
    let mut hasher = blake3::Hasher::new();
    for change in changes {
        let path = change.path.as_os_str().as_encoded_bytes();
        hasher.update(&path.len().to_le_bytes()).update(path);
        for node in [&*change.before, &*change.after] {
            match node {
                PathState::Absent => hasher.update(b"a"),
                PathState::Directory { .. } => hasher.update(b"d"),
                PathState::Special { .. } => hasher.update(b"s"),
                PathState::File { hash, .. } => hasher.update(b"f").update(hash.as_bytes()),
                PathState::Link { target } => {
                    let target = target.as_os_str().as_encoded_bytes();
                    hasher.update(b"l").update(&target.len().to_le_bytes()).update(target)
                }
            };
        }
    }
    hasher.finalize()
}
