//! What pending changes mean to their repositories, and the list of these meanings for the person.

use super::followed_files::FollowBlock;
use super::repository_move::{branch_of, moved_words};
use super::stack::LayerStack;
use super::{LayerKind, View};
use crate::permission::Runner;
use crate::text::{count, visible};
use crate::workspace::changes::change_set::{ChangeSet, FileChange};
use crate::workspace::changes::classify::{
    ChangeClasses, ChangeClassifier, WaitingRepository, git_files, state_of,
};
use crate::workspace::changes::listing::{ListedChange, care_first};
use crate::workspace::files::open::dir_at;
use crate::workspace::files::path_state::PathState;
use crate::workspace::files::resolve::without_links;
use crate::workspace::hash::Hash;
use crate::workspace::repository::files_of_person;
use crate::workspace::repository::git_reader::{
    GitEvent, GitSides, ProtectedContent, ReadDeadline, RepositoryEvents, RepositoryFiles, compare,
    consent_deadline, is_bare, leads_to, moved_worktrees, protected_contents, work_trees,
};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

impl View {
    /// One row for each change, as in [`ChangeSet::listing`], with the meaning of the changes of a repository's own
    /// files.
    pub fn listed(
        &self,
        set: &ChangeSet,
        classes: &ChangeClasses,
        shown: impl Fn(&Path) -> PathBuf,
    ) -> Vec<ListedChange> {
        let mut rows = set.listing(self.objects(), classes, &self.git_events(set), &shown);
        let conflicts = self.conflicts(set);
        let is_conflict =
            |row: &&mut ListedChange| row.paths.iter().any(|path| conflicts.at(path) == Some(true));
        rows.iter_mut().filter(is_conflict).for_each(ListedChange::mark_conflict);
        for (repository, moved) in self.moved_repositories(set, classes) {
            let name = Some(visible::path(&shown(&repository)));
            let row = rows.iter_mut().find(|row| row.repository == name);
            let happened = moved.to_string();
            let follows = self.follow(set, &repository);
            let branch = branch_of(&PendingFiles(self), &repository);
            let advice = moved.advice(matches!(follows, Ok(Err(FollowBlock::NotOnTop))), branch.as_deref());
            row.into_iter().for_each(|row| row.mark_moved((&happened, &moved_words(&happened)), &advice));
        }
        if rows.iter().any(|row| row.is_conflict || row.is_blocked()) {
            rows = care_first(rows);
        }
        if conflicts.not_compared() > 0 {
            rows.insert(0, ListedChange::conflicts_unknown(conflicts.not_compared()));
        }
        rows
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
        // With the short deadline, the same question had more or fewer warnings, as busy as the machine was.
        let (deadline, person_settings) = (consent_deadline(), &*files_of_person());
        let of = |dir: &Path| {
            let changes =
                set.changes.iter().filter(|change| set.repositories.nearest(&change.path) == Some(dir));
            let changed: Vec<(&Path, bool)> =
                changes.map(|change| (&*change.path, change.after.is_absent())).collect();
            let sides =
                GitSides { person_settings, ..GitSides::of(dir, (&before, &after), &changed, deadline) };
            let mut events = compare(&sides);
            // The person's own lines are in the workspace alone.
            events.retain(|event| match event {
                GitEvent::ReflogEntriesRemoved { name, .. } => {
                    !self.only_adds_to_log(&dir.join("logs").join(name))
                }
                _ => true,
            });
            let own = RepositoryEvents { path: dir.to_path_buf(), events };
            let is_listed = |path: &Path| set.repositories.all().any(|dir| dir == path);
            std::iter::once(own).chain(moved_worktrees(&sides, &is_listed))
        };
        let there = set.repositories.all().filter(|dir| is_there(dir, &after));
        let mut found: Vec<RepositoryEvents> = there.flat_map(of).collect();
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
        // The rows of a linked worktree say why objects changed in the repository around it.
        let is_named = |event: &GitEvent| matches!(event, GitEvent::OnlyFiles { .. });
        let with_rows: Vec<PathBuf> = found
            .iter()
            .filter(|repository| !repository.events.iter().all(is_named))
            .map(|repository| repository.path.clone())
            .collect();
        let is_explained =
            |path: &Path| with_rows.iter().any(|inner| inner.as_path() != path && inner.starts_with(path));
        found.retain(|repository| !repository.events.iter().all(is_named) || !is_explained(&repository.path));
        self.mark_files(set, &mut found);
        found
    }

    /// Marks the files of commits that a program runs or obeys later.
    fn mark_files(&self, set: &ChangeSet, repositories: &mut [RepositoryEvents]) {
        let has_patch = |event: &GitEvent| event.patch().is_some();
        if !repositories.iter().any(|repository| repository.events.iter().any(has_patch)) {
            return;
        }
        let protected = self.protected();
        let classifier = &ChangeClassifier::new(set, self.roots(), &protected);
        for repository in repositories {
            let trees = work_trees(&repository.path, &PendingFiles(self));
            for event in &mut repository.events {
                let Some(patch) = event.patch_mut() else { continue };
                let files = patch.files.iter();
                let marked = files.filter_map(|(file, mode)| {
                    Some((file.clone(), runner(classifier, &trees, file, *mode)?.why))
                });
                patch.runs_later = marked.collect();
            }
        }
    }
}

/// A repository that is removed has nothing to say but that. One of which `HEAD` is no file any more is there.
pub(super) fn is_there(dir: &Path, after: &dyn RepositoryFiles) -> bool {
    let has = |name| after.real(&dir.join(name)).is_some_and(|path| path.symlink_metadata().is_ok());
    ["HEAD", "objects", "commondir"].into_iter().any(has)
}

/// The directory of a linked worktree in its usual place.
fn is_linked(dir: &Path) -> bool {
    dir.parent().is_some_and(|parent| parent.ends_with("worktrees"))
}

impl View {
    /// The repositories of `set`, which is pending, whose new commits or index change files that run later.
    pub(in crate::workspace) fn waiting_repositories(
        &self,
        set: &ChangeSet,
        classifier: &ChangeClassifier<'_>,
    ) -> Vec<WaitingRepository> {
        let mut states = Vec::new();
        for repository in set.repositories.outermost() {
            let from = set.changes.partition_point(|change| &*change.path < repository);
            let rest = set.changes.get(from..).unwrap_or_default();
            let changes = rest.iter().take_while(|change| change.path.starts_with(repository));
            states.extend(changes.clone().next().map(|_| (repository, state_of(changes.clone()))));
        }
        if states.is_empty() {
            return Vec::new();
        }
        let mut key = blake3::Hasher::new();
        for (path, state) in &states {
            key.update(path.as_os_str().as_encoded_bytes()).update(state.as_bytes());
        }
        let key = key.finalize();
        let memo = || self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // A question, its list and its apply ask about the same changes, and must find the same.
        if let Some((_, known)) = memo().known.as_ref().filter(|(known, _)| *known == key) {
            return known.clone();
        }
        let deadline = consent_deadline();
        let waiting = |(path, state): &(&Path, Hash)| {
            let contents = self.protected_contents(set, path, classifier, deadline);
            let runner = contents.iter().find_map(ProtectedContent::runner);
            let by = runner.map_or("git", |runner| &runner.by).to_string();
            let why = reasons(&contents)?;
            Some(WaitingRepository { path: path.to_path_buf(), runner: Runner { by, why }, state: *state })
        };
        let found: Vec<WaitingRepository> = states.iter().filter_map(waiting).collect();
        memo().known = Some((key, found.clone()));
        found
    }

    /// The same of one repository, with those that lie in it.
    fn protected_contents(
        &self,
        set: &ChangeSet,
        outermost: &Path,
        classifier: &ChangeClassifier<'_>,
        deadline: ReadDeadline,
    ) -> Vec<ProtectedContent> {
        let (before, after) = (WorkspaceFiles(self), PendingFiles(self));
        let inside = set.repositories.all().filter(|dir| dir.starts_with(outermost));
        let of = |dir: &Path| {
            let own = set.changes.iter().filter(|change| change.path.starts_with(dir));
            let own = own.filter(|change| set.repositories.nearest(&change.path) == Some(dir));
            let is_state =
                |path: &Path| !set.repositories.is_object(path) || set.repositories.is_object_store(path);
            let (state, objects): (Vec<&FileChange>, Vec<_>) = own.partition(|change| is_state(&change.path));
            let changed: Vec<(&Path, bool)> =
                state.iter().map(|change| (&*change.path, change.after.is_absent())).collect();
            let objects = objects.iter().map(|change| (&*change.path, &*change.after));
            let comes = |node: &PathState| !node.is_absent() && !node.is_directory();
            let loose_objects: Vec<&Path> =
                objects.filter(|(_, after)| comes(after)).map(|(path, _)| path).collect();
            let trees = self.places(set, dir, &after);
            let has_known_place = trees.is_some();
            let trees = trees.unwrap_or_default();
            let judge = |rel: &Path, mode: u32| runner(classifier, &trees, rel, mode);
            let sides = GitSides {
                loose_objects: &loose_objects,
                ..GitSides::of(dir, (&before, &after), &changed, deadline)
            };
            protected_contents(&sides, &judge, has_known_place)
        };
        inside.filter(|dir| is_there(dir, &after)).flat_map(of).collect()
    }
}

impl View {
    /// Where the files of the repository at `dir` are checked out; none where nothing says so. `None` where that is not
    /// known.
    fn places(&self, set: &ChangeSet, dir: &Path, after: &dyn RepositoryFiles) -> Option<Vec<PathBuf>> {
        let trees = work_trees(dir, after);
        if !trees.is_empty() {
            return Some(trees);
        }
        // Only a `.git` somewhere in the workspace may say so. A repository that says it is bare today may say the opposite
        // tomorrow, so that counts only where the workspace is too large to be searched.
        let mut files = Vec::new();
        for root in self.roots() {
            match git_files(root) {
                Some(found) => files.extend(found),
                None if is_bare(dir, after) => {}
                None => return None,
            }
        }
        let changed = set.changes.iter().map(|change| change.path.to_path_buf());
        files.extend(changed.filter(|path| path.ends_with(".git")));
        files.retain(|file| leads_to(file, after).is_some_and(|found| without_links(&found) == dir));
        Some(files.iter().filter_map(|file| Some(file.parent()?.to_path_buf())).collect())
    }
}

/// Who runs or obeys the file of a commit, where it is checked out in one of `trees`.
fn runner(classifier: &ChangeClassifier<'_>, trees: &[PathBuf], file: &Path, mode: u32) -> Option<Runner> {
    match trees {
        [] => classifier.of_committed(None, file, mode),
        trees => trees.iter().find_map(|tree| classifier.of_committed(Some(tree), file, mode)),
    }
}

/// The first reason, and how many there are besides.
fn reasons(contents: &[ProtectedContent]) -> Option<String> {
    let words = contents.first()?.words(&visible::path);
    Some(match contents.len() {
        1 => words,
        many => format!("{words}; and {}", count::of(many - 1, "more change")),
    })
}

/// The workspace as it is.
pub(super) struct WorkspaceFiles<'a>(pub(super) &'a View);

/// The workspace as it would be.
pub(super) struct PendingFiles<'a>(pub(super) &'a View);

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
pub(super) fn names(stack: &LayerStack<'_>, rel: &Path) -> Vec<OsString> {
    let dirs = stack.dirs(rel).unwrap_or_default();
    match dirs.iter().all(|dir| dir_at(dir).is_ok()) {
        true => stack.children(rel).unwrap_or_default().into_iter().collect(),
        false => Vec::new(),
    }
}
