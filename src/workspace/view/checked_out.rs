//! Files of new worktrees that the repository has already: a copy of an approved file needs no approval.

use super::View;
use super::git_events::{PendingFiles, WorkspaceFiles};
use crate::workspace::changes::change_set::{ChangeSet, FileChange};
use crate::workspace::files::path_state::PathState;
use crate::workspace::repository::git_reader::{
    GitSides, WorkTreeFile, checked_out, consent_deadline, leads_to,
};
use crate::workspace::repository::{RepositoryFact, WorktreeFate};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

impl View {
    /// Those of `paths`, changes of `set`, that git checked out in a new worktree from a commit that is in the workspace, with
    /// the `.git` file that leads from the worktree to its repository.
    pub(in crate::workspace) fn checked_out(&self, set: &ChangeSet, paths: &[&Path]) -> BTreeSet<PathBuf> {
        let facts = set.repository_changes.iter().flat_map(|change| &change.facts);
        let added = facts.filter_map(|fact| match fact {
            RepositoryFact::Worktree { file, directory, fate: WorktreeFate::Added } => {
                Some((file.parent()?, directory.as_path()))
            }
            _ => None,
        });
        added.flat_map(|(dir, place)| self.checked_out_at(set, (dir, place), paths)).collect()
    }

    fn checked_out_at(&self, set: &ChangeSet, (dir, place): (&Path, &Path), paths: &[&Path]) -> Vec<PathBuf> {
        let (before, after) = (WorkspaceFiles(self), PendingFiles(self));
        let link = place.join(".git");
        if leads_to(&link, &after).as_deref() != Some(dir) {
            return Vec::new();
        }
        let below = paths.iter().filter(|path| path.starts_with(place) && **path != link);
        let files = below.filter_map(|path| self.work_tree_file(set.get(path)?, place)).collect();
        let sides = GitSides::of(dir, (&before, &after), &[], consent_deadline());
        let Some(known) = checked_out(&sides, files) else { return Vec::new() };
        known.into_iter().map(|path| place.join(path)).chain([link]).collect()
    }

    fn work_tree_file(&self, change: &FileChange, place: &Path) -> Option<WorkTreeFile> {
        let PathState::File { attrs, .. } = &*change.after else { return None };
        let (_, content) = change.bytes(self.objects())?;
        let path = change.path.strip_prefix(place).ok()?.to_path_buf();
        Some(WorkTreeFile { path, mode: attrs.mode, content })
    }
}
