//! What happened to the repositories of a change set, for lists and for programs.

use super::super::View;
use super::git_words;
use super::lfs;
use super::pending_repository::{PendingContent, PendingRepository};
use super::waiting::{Conflict, happened};
use crate::changes::change_set::ChangeSet;
use crate::changes::classify::{ChangeClasses, ChangeClassifier};
use crate::changes::listing::{ListedChange, care_first};
use crate::repository::WorkTree;
use crate::repository::{GitEvent, GitEventKind, RepositoryChangeKind, RepositoryEvents};
use placet_text::text::visible;
use std::path::{Path, PathBuf};

impl View {
    /// One row for each change, as in [`ChangeSet::listing`], with the meaning of the changes of repositories.
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
        for (repository, conflict) in self.blocked_repositories(set) {
            let name = Some(visible::path(&shown(&repository)));
            let row = rows.iter_mut().find(|row| row.repository == name);
            let words = (&*conflict.happened, &*conflict.happened);
            row.into_iter().for_each(|row| row.mark_moved(words, &conflict.advice));
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

    /// What happened to each repository in `set`, which is pending.
    pub fn git_events(&self, set: &ChangeSet) -> Vec<RepositoryEvents> {
        let mut found: Vec<RepositoryEvents> =
            self.pending_repositories(set).iter().map(|repository| events_of(repository)).collect();
        for repository in &mut found {
            repository.events.extend(lfs::event(set, &repository.path));
        }
        found.retain(|repository| !repository.events.is_empty());
        self.mark_files(set, &mut found);
        found
    }

    /// Repositories of which nothing can be applied, the outermost ones, and why.
    pub(super) fn blocked_repositories(&self, set: &ChangeSet) -> Vec<(PathBuf, Conflict)> {
        let repositories = self.pending_repositories(set);
        let blocked = repositories.iter().filter_map(|repository| {
            let outermost = set.repositories.of(&repository.path)?;
            Some((outermost.to_path_buf(), Conflict::of(repository, &self.name_of(outermost))?))
        });
        blocked.collect()
    }

    /// As in a command that a person types in the first root.
    pub(in crate::view) fn name_of(&self, repository: &Path) -> String {
        let rel = self.roots().first().and_then(|root| repository.strip_prefix(root).ok());
        visible::path(rel.filter(|rel| !rel.as_os_str().is_empty()).unwrap_or(repository))
    }

    /// The same in one sentence, for the row of the repository.
    pub fn moved_repository_facts(&self, set: &ChangeSet) -> Vec<(PathBuf, String)> {
        let facts = self.blocked_repositories(set).into_iter();
        facts.map(|(path, conflict)| (path, format!("{}; {}", conflict.happened, conflict.advice))).collect()
    }

    /// Marks the files of commits that a program runs or obeys later.
    fn mark_files(&self, set: &ChangeSet, repositories: &mut [RepositoryEvents]) {
        let patches =
            |repository: &RepositoryEvents| repository.events.iter().any(|event| event.patch.is_some());
        if !repositories.iter().any(patches) {
            return;
        }
        let protected = self.protected();
        let classifier = &ChangeClassifier::new(set, self.roots(), &protected);
        for repository in repositories {
            let tree = WorkTree::of(&repository.path);
            for event in &mut repository.events {
                let Some(patch) = &mut event.patch else { continue };
                let marked = patch.files.iter().filter_map(|(file, mode)| {
                    Some((file.clone(), classifier.of_committed(tree.place(), file, *mode)?.why))
                });
                patch.runs_later = marked.collect();
            }
        }
    }
}

fn events_of(repository: &PendingRepository) -> RepositoryEvents {
    let mut events = match &repository.content {
        PendingContent::Refused(why) => {
            vec![
                GitEvent::new(GitEventKind::NotRead, format!("not applied: {}", visible::guard_line(why)))
                    .care(),
            ]
        }
        _ => git_words::events(repository),
    };
    if let PendingContent::Changed(question) = &repository.content {
        for item in &question.comparison.conflicts {
            let text = format!("conflict: {}", happened(question, item));
            events.push(GitEvent::new(GitEventKind::Conflict, text).care());
        }
    }
    let fate = match repository.content {
        PendingContent::Created(_) => RepositoryChangeKind::Created,
        _ => RepositoryChangeKind::Changed,
    };
    RepositoryEvents { path: repository.path.clone(), fate, events }
}
