//! What pending changes mean to their repositories, and the list of these meanings for the person.

use super::stack::LayerStack;
use super::{LayerKind, View};
use crate::workspace::changes::change_set::ChangeSet;
use crate::workspace::changes::classify::ChangeClasses;
use crate::workspace::changes::listing::ListedChange;
use crate::workspace::files::open::dir_at;
use crate::workspace::repository::git_reader::{
    GitEvent, GitSides, RepositoryEvents, RepositoryFiles, compare, deadline,
};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

impl View {
    /// One row for each change, as in [`ChangeSet::listing`], with the meaning of the changes of a repository's own
    /// files.
    pub fn listed(
        &self,
        set: &ChangeSet,
        classes: &ChangeClasses,
        shown: impl Fn(&Path) -> PathBuf,
    ) -> Vec<ListedChange> {
        set.listing(self.objects(), classes, &self.git_events(set), shown)
    }

    /// The same as text, a line for each row.
    pub fn listing(
        &self,
        set: &ChangeSet,
        classes: &ChangeClasses,
        shown: impl Fn(&Path) -> PathBuf,
    ) -> Vec<String> {
        self.listed(set, classes, shown).iter().map(ListedChange::line).collect()
    }

    /// What happened to each repository in `set`, which is pending. Reads the repositories, so it is for lists that a
    /// person is shown, not for every prompt.
    pub fn git_events(&self, set: &ChangeSet) -> Vec<RepositoryEvents> {
        let (before, after) = (WorkspaceFiles(self), PendingFiles(self));
        let deadline = deadline();
        let of = |dir: &Path| {
            let changes =
                set.changes.iter().filter(|change| set.repositories.nearest(&change.path) == Some(dir));
            let changed: Vec<(&Path, bool)> =
                changes.map(|change| (&*change.path, change.after.is_absent())).collect();
            let sides = GitSides { dir, before: &before, after: &after, changed: &changed, deadline };
            RepositoryEvents { path: dir.to_path_buf(), events: compare(&sides) }
        };
        // A repository that is removed has nothing to say but that. One of which `HEAD` is no file any more is there.
        let is_there = |dir: &&Path| {
            let has = |name| after.real(&dir.join(name)).is_some_and(|path| path.symlink_metadata().is_ok());
            ["HEAD", "objects", "commondir"].into_iter().any(has)
        };
        let mut found: Vec<RepositoryEvents> = set.repositories.all().filter(is_there).map(of).collect();
        // A linked worktree has its objects from the repository around it, whose rows come first.
        let mut listed = BTreeSet::new();
        for repository in &mut found {
            let linked = is_linked(&repository.path);
            let around = repository.path.ancestors().nth(2).filter(|_| linked).unwrap_or(&repository.path);
            let around = around.to_path_buf();
            // Short names can be made equal, what a commit changes and says cannot be hidden behind one.
            repository.events.retain(|event| match event {
                GitEvent::Commit { id, subject, patch, .. } => {
                    let commit = (around.clone(), id.clone(), subject.clone(), patch.bytes.clone());
                    listed.insert(commit) || !linked
                }
                _ => true,
            });
        }
        found.retain(|repository| !repository.events.is_empty());
        found
    }
}

/// The directory of a linked worktree in its usual place.
fn is_linked(dir: &Path) -> bool {
    dir.parent().is_some_and(|parent| parent.ends_with("worktrees"))
}

/// The workspace as it is.
struct WorkspaceFiles<'a>(&'a View);

/// The workspace as it would be.
struct PendingFiles<'a>(&'a View);

impl RepositoryFiles for WorkspaceFiles<'_> {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        // A repository may name paths anywhere; only the workspace is read.
        self.0.locate(path).map(|_| path.to_path_buf())
    }

    fn names(&self, path: &Path) -> Vec<OsString> {
        let Some((index, rel)) = self.0.locate(path) else { return Vec::new() };
        names(&LayerStack { layers: Vec::new(), root: self.0.root(index) }, &rel)
    }
}

impl RepositoryFiles for PendingFiles<'_> {
    fn real(&self, path: &Path) -> Option<PathBuf> {
        let (index, rel) = self.0.locate(path)?;
        self.0.stack_of(self.0.layer_set(LayerKind::Pending), index).real(&rel).ok()?
    }

    fn names(&self, path: &Path) -> Vec<OsString> {
        let Some((index, rel)) = self.0.locate(path) else { return Vec::new() };
        names(&self.0.stack_of(self.0.layer_set(LayerKind::Pending), index), &rel)
    }
}

/// The names in a directory; none where the path leads through a link.
fn names(stack: &LayerStack<'_>, rel: &Path) -> Vec<OsString> {
    let dirs = stack.dirs(rel).unwrap_or_default();
    match dirs.iter().all(|dir| dir_at(dir).is_ok()) {
        true => stack.children(rel).unwrap_or_default().into_iter().collect(),
        false => Vec::new(),
    }
}
