//! Which repositories an apply changes, and which of the chosen paths git applies.

use super::super::{ChangeSelection, View};
use super::git_words;
use super::lfs;
use super::pending_repository::{PendingContent, PendingRepository};
use super::repository_undo::{fresh_record, staged_at};
use super::waiting::Conflict;
use crate::apply::{ApplyError, AskedRepository, RepositoryTransaction, RepositoryWork};
use crate::changes::change_set::ChangeSet;
use crate::changes::classify::ChangeClasses;
use crate::history::journal::{AppliedRepository, AppliedRepositoryKind};
use crate::repository::{DirectoryFate, GitEvent, GitEventKind};
use placet_git::{ApprovedGroups, GitName, WaitingGroup};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

impl View {
    /// What git does with `choice`, and the paths of `set` below git directories that are not applied as files.
    pub(in crate::view) fn repositories_to_apply(
        &self,
        (set, classes): (&ChangeSet, &ChangeClasses),
        choice: &ChangeSelection,
        title: &str,
    ) -> Result<(RepositoryTransaction, BTreeSet<Arc<Path>>), ApplyError> {
        let mut transaction = RepositoryTransaction::titled(title);
        let mut of_git: BTreeSet<Arc<Path>> = BTreeSet::new();
        let mut repositories = None;
        let contents = set.changes.iter().filter(|change| set.repositories.is_lfs_content(change));
        let mut proved: BTreeMap<Arc<Path>, PathBuf> = BTreeMap::new();
        for content in contents.filter(|content| choice.contains_key(&content.path)) {
            proved.insert(Arc::clone(&content.path), self.prove_content(&content.path)?);
        }
        for directory in self.git_directories(set) {
            let own = set.changes.iter().filter(|change| directory.has(set, change));
            let own: Vec<Arc<Path>> = own.map(|change| Arc::clone(&change.path)).collect();
            let is_chosen = own.iter().any(|path| choice.contains_key(path));
            // Such a file goes with its repository, and waits by its own name: a link, or a place that leads git elsewhere.
            let left_out =
                own.iter().find(|path| !choice.contains_key(*path) && classes.runner(path).is_some());
            let left_out =
                left_out.filter(|_| is_chosen && directory.fate == DirectoryFate::Changed).cloned();
            of_git.extend(own);
            if !is_chosen {
                continue;
            }
            if let Some(path) = left_out {
                let why = classes.runner(&path).map(|runner| runner.why.clone()).unwrap_or_default();
                return Err(ApplyError::Protected { path: path.to_path_buf(), why });
            }
            let read = repositories.get_or_insert_with(|| self.pending_repositories(set));
            let Some(repository) = read.iter().find(|one| one.path == directory.path) else { continue };
            let outermost = set.repositories.of(&repository.path).unwrap_or(&repository.path);
            if let Some(conflict) = Conflict::of(repository, &self.name_of(outermost)) {
                let Conflict { happened, advice } = conflict;
                return Err(ApplyError::Repository(format!("{happened}; {advice}")));
            }
            let own = lfs::contents(set, &repository.path).filter_map(|content| {
                let rel = content.path.strip_prefix(&repository.path).ok()?;
                Some((rel.to_path_buf(), proved.get(&content.path)?.clone()))
            });
            let around = classes.waiting_repositories().find(|waiting| waiting.path == outermost);
            let operation = around.into_iter().flat_map(|waiting| &waiting.files);
            let operation = operation.map(|file| GitName::from(&**file)).collect();
            if let Some((applied, work)) = work_of(repository, choice, own.collect(), operation)? {
                transaction.add(applied, work);
            }
        }
        Ok((transaction, of_git))
    }
}

fn work_of(
    repository: &Arc<PendingRepository>,
    choice: &ChangeSelection,
    contents: Vec<(PathBuf, PathBuf)>,
    operation: BTreeSet<GitName>,
) -> Result<Option<(AppliedRepository, RepositoryWork)>, ApplyError> {
    let is_named = |name: &GitName| choice.contains_key(&*repository.path.join(name.as_path()));
    // A repository that waits was approved as a whole, or it would not be chosen. Files are approved by their names.
    let groups = repository.question().map(|question| question.groups.clone()).unwrap_or_default();
    let approved = groups.into_iter().filter(|group| match (group, &repository.content) {
        (WaitingGroup::File(name), PendingContent::Created(_)) => is_named(name),
        // Of a repository that is there, they are applied as files.
        (WaitingGroup::File(_), _) => false,
        _ => true,
    });
    let approved: ApprovedGroups = approved.collect();
    let asked: Arc<dyn AskedRepository> = Arc::<PendingRepository>::clone(repository);
    let (kind, work) = match &repository.content {
        PendingContent::Changed(question) => {
            let change = question.comparison.selected(&approved);
            let change = change.map_err(|error| ApplyError::Repository(error.to_string()))?;
            if change.is_empty() {
                return Ok(None);
            }
            let work = RepositoryWork::Apply { repository: asked, change: Box::new(change) };
            (AppliedRepositoryKind::Changed, work)
        }
        PendingContent::Created(_) => {
            let work = RepositoryWork::Create { repository: asked, approved, contents };
            (AppliedRepositoryKind::Created, work)
        }
        PendingContent::Same | PendingContent::Refused(_) => return Ok(None),
    };
    let record = fresh_record();
    let staged = staged_at(&repository.path, &record, &|_| false);
    let events =
        git_words::events(repository).into_iter().filter(|event| event.kind != GitEventKind::NotApplied);
    let events = events.map(GitEvent::without_patch).collect();
    let path = repository.path.clone();
    Ok(Some((AppliedRepository { path, kind, record, staged, events, operation }, work)))
}
