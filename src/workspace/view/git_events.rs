//! What pending changes mean to their repositories, and the list of these meanings for the person.

use super::stack::LayerStack;
use super::{LayerKind, View};
use crate::workspace::changes::change_set::ChangeSet;
use crate::workspace::changes::classify::ChangeClasses;
use crate::workspace::changes::listing::ListedChange;
use crate::workspace::files::open::dir_at;
use crate::workspace::repository::git_reader::{
    GitSides, RepositoryEvents, RepositoryFiles, compare, deadline,
};
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
                changes.map(|change| (change.path.as_path(), change.after.is_absent())).collect();
            let sides = GitSides { dir, before: &before, after: &after, changed: &changed, deadline };
            RepositoryEvents { path: dir.to_path_buf(), events: compare(&sides) }
        };
        // A repository that is removed has nothing to say but that.
        let is_there = |dir: &&Path| after.real(&dir.join("HEAD")).is_some_and(|head| head.is_file());
        let found = set.repositories.all().filter(is_there).map(of);
        found.filter(|repository| !repository.events.is_empty()).collect()
    }
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
