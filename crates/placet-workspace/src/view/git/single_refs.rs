//! Refs that are decided by themselves: each is named as a path below its repository, `.git/refs/heads/topic`, whether git
//! has it as a file there or not.
//!
//! A ref that is discarded becomes a part of the base: the agent did not move it any more. A ref that is applied moves alone.

use super::super::{ChangeSelection, SelectedPart, View};
use super::git_words;
use super::pending_repository::{PendingContent, PendingRepository};
use super::repository_undo::{fresh_record, staged_at};
use crate::apply::{ApplyError, RepositoryTransaction, RepositoryWork};
use crate::changes::change_set::ChangeSet;
use crate::changes::classify::ChangeClasses;
use crate::history::journal::{AppliedRepository, AppliedRepositoryKind};
use crate::repository::GitEvent;
use placet_git::{GitName, RepositoryQuestion};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Refs by the repository that they are in.
#[derive(Debug, Default)]
pub(in crate::view) struct SingleRefs(BTreeMap<PathBuf, BTreeSet<GitName>>);

impl SingleRefs {
    pub(in crate::view) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::view) fn len(&self) -> usize {
        self.0.values().map(BTreeSet::len).sum()
    }

    /// Every change of their repositories.
    pub(in crate::view) fn paths_around(&self, set: &ChangeSet) -> BTreeSet<Arc<Path>> {
        self.0.keys().flat_map(|repository| set.below(repository)).collect()
    }
}

fn question_of(repository: &PendingRepository) -> Option<&RepositoryQuestion> {
    match &repository.content {
        PendingContent::Changed(question) => Some(question),
        _ => None,
    }
}

impl View {
    /// True for the name of a pending ref that can be decided by itself.
    pub fn is_single_ref(&self, set: &ChangeSet, path: &Path) -> bool {
        let choice = ChangeSelection::from([(Arc::from(path), SelectedPart::Whole)]);
        !self.split_single_refs(set, Cow::Owned(choice)).0.is_empty()
    }

    /// The refs in `choice` that are decided by themselves, and the rest of it. Where anything else of their repository is
    /// chosen that is not applied by its own name, they go with it.
    pub(in crate::view) fn split_single_refs<'c>(
        &self,
        set: &ChangeSet,
        choice: Cow<'c, ChangeSelection>,
    ) -> (SingleRefs, Cow<'c, ChangeSelection>) {
        let mut named: BTreeMap<&Path, Vec<Arc<Path>>> = BTreeMap::new();
        // A choice may have hundreds of thousands of paths.
        for path in choice.keys().filter(|_| !set.repositories.is_empty()) {
            if let Some(repository) = set.repositories.common(path)
                && !set.repositories.is_applied_by_name(path)
            {
                named.entry(repository).or_default().push(Arc::clone(path));
            }
        }
        named.retain(|repository, paths| paths.iter().all(|path| path.starts_with(repository.join("refs"))));
        let mut refs = SingleRefs::default();
        let mut single: BTreeSet<Arc<Path>> = BTreeSet::new();
        let repositories = if named.is_empty() { Vec::new() } else { self.pending_repositories(set) };
        for (repository, paths) in named {
            let pending = repositories.iter().find(|one| one.path == repository);
            let Some(question) = pending.and_then(|pending| question_of(pending)) else { continue };
            let rel = paths.iter().filter_map(|path| path.strip_prefix(repository).ok());
            let names: BTreeSet<GitName> = rel.map(GitName::from).collect();
            if names.iter().all(|name| question.is_single_ref(name)) {
                refs.0.insert(repository.to_path_buf(), names);
                single.extend(paths);
            }
        }
        if single.is_empty() {
            return (refs, choice);
        }
        let mut rest = choice.into_owned();
        rest.retain(|path, _| !single.contains(path));
        (refs, Cow::Owned(rest))
    }

    /// Adds what git does with refs that are applied by themselves.
    pub(in crate::view) fn apply_single_refs(
        &self,
        (set, classes): (&ChangeSet, &ChangeClasses),
        refs: &SingleRefs,
        transaction: &mut RepositoryTransaction,
    ) -> Result<(), ApplyError> {
        if refs.is_empty() {
            return Ok(());
        }
        for repository in self.pending_repositories(set) {
            let Some((names, question)) = refs.0.get(&repository.path).zip(question_of(&repository)) else {
                continue;
            };
            let outermost = set.repositories.of(&repository.path).unwrap_or(&repository.path);
            if let Some(why) = classes.waiting_repository(outermost) {
                let why = why.runner.why.clone();
                return Err(ApplyError::Protected { path: outermost.to_path_buf(), why });
            }
            let change = question.only_refs(names).map_err(|e| ApplyError::Repository(e.to_string()))?;
            let is_of_one = |event: &GitEvent| {
                event.name.as_ref().is_some_and(|name| names.contains(&GitName::from(name.as_str())))
            };
            let events = git_words::events(&repository).into_iter().filter(is_of_one);
            let record = fresh_record();
            let applied = AppliedRepository {
                path: repository.path.clone(),
                kind: AppliedRepositoryKind::Changed,
                staged: staged_at(&repository.path, &record, &|_| false),
                record,
                events: events.map(GitEvent::without_patch).collect(),
                operation: BTreeSet::new(),
            };
            let asked = Arc::<PendingRepository>::clone(&repository);
            let work = RepositoryWork::Apply { repository: asked, change: Box::new(change) };
            transaction.add(applied, work);
        }
        Ok(())
    }

    /// Drops refs from what is pending.
    pub(in crate::view) fn discard_single_refs(&self, set: &ChangeSet, refs: &SingleRefs) -> io::Result<()> {
        for repository in self.pending_repositories(set) {
            let Some((names, question)) = refs.0.get(&repository.path).zip(question_of(&repository)) else {
                continue;
            };
            self.record_base(&repository.path, Some(question.base_with_refs(names)))?;
        }
        self.0.repositories.known().clear();
        Ok(())
    }
}
