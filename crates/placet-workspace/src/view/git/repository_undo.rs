//! Undo and redo of what git applied: each item goes back to what it was, if it is what it became.

use super::super::View;
use super::waiting::Conflict;
use crate::apply::{RepositoryTransaction, RepositoryWork, kept_in};
use crate::history::journal::{AppliedRepository, AppliedRepositoryKind, JournalEntry};
use crate::repository::{GitEvent, GitEventKind, RepositoryChangeKind, RepositoryEvents};
use placet_git::{
    ApplyJournal, Comparison, GitError, GitFileClass, GitName, RepositoryMove, class_of, has_more,
    undo_question,
};
use placet_text::text::visible;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

const MORE_THAN_MADE: &str = "the repository has refs, stash entries or staged files that were made since; if nobody needs them, remove it by hand";

/// Why a repository does not go back, for a person.
#[derive(Debug, Error)]
#[error("{0}")]
struct StaysApplied(String);

impl From<GitError> for StaysApplied {
    fn from(error: GitError) -> StaysApplied {
        StaysApplied(error.to_string())
    }
}

/// What happens to the repositories of a plan.
#[derive(Debug, Default)]
pub(in crate::view) struct RepositoryUndo {
    parts: Vec<(AppliedRepository, RepositoryWork)>,
}

/// A name for the journal of a repository, and for its place while it comes or goes.
pub(super) fn fresh_record() -> String {
    format!("{:016x}", RandomState::new().build_hasher().finish())
}

/// Next to `path`, in a directory that is there and stays.
pub(super) fn staged_at(path: &Path, record: &str, goes: &dyn Fn(&Path) -> bool) -> PathBuf {
    let there = path.ancestors().skip(1).find(|dir| dir.is_dir() && !goes(dir)).unwrap_or(Path::new("/"));
    there.join(format!(".placet-git-{record}"))
}

impl RepositoryUndo {
    pub(in crate::view) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// How many repositories change.
    pub(in crate::view) fn len(&self) -> usize {
        self.parts.len()
    }

    /// Leaves repositories as they are.
    pub(in crate::view) fn leave(&mut self, stays: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
        self.parts
            .extract_if(.., |(applied, _)| stays(&applied.path))
            .map(|(applied, _)| applied.path)
            .collect()
    }

    /// The repositories that go.
    pub(in crate::view) fn removed(&self) -> impl Iterator<Item = &Path> {
        let gone = self.parts.iter().filter(|(_, work)| matches!(work, RepositoryWork::Remove));
        gone.map(|(applied, _)| applied.path.as_path())
    }

    /// A repository that goes waits for the end outside of the directories that go with it.
    pub(in crate::view) fn stage_outside(&mut self, goes: &dyn Fn(&Path) -> bool) {
        for (applied, _) in &mut self.parts {
            applied.staged = staged_at(&applied.path, &applied.record, goes);
        }
    }

    pub(in crate::view) fn into_transaction(self, title: &str) -> RepositoryTransaction {
        let mut transaction = RepositoryTransaction::titled(title);
        for (applied, work) in self.parts {
            transaction.add(applied, work);
        }
        transaction
    }
}

impl View {
    /// Plans how the repositories of `entries` go back, the oldest entry first. `left` gets those that stay, with the reason.
    pub(in crate::view) fn plan_repositories_back(
        &self,
        entries: &[JournalEntry],
        only: Option<&Path>,
        left: &mut Vec<(PathBuf, String)>,
    ) -> io::Result<RepositoryUndo> {
        let mut all: BTreeMap<&Path, Vec<&AppliedRepository>> = BTreeMap::new();
        for one in entries.iter().flat_map(|entry| &entry.git) {
            all.entry(&one.path).or_default().push(one);
        }
        let mut undo = RepositoryUndo::default();
        for (path, applied) in all {
            // A part of a work tree goes back without its commits.
            if only.is_some_and(|only| !path.starts_with(only)) {
                continue;
            }
            match self.repository_back(path, &applied)? {
                Ok(Some((kind, work))) => {
                    let record = fresh_record();
                    let staged = staged_at(path, &record, &|_| false);
                    let events = applied.iter().rev().flat_map(|one| one.events.iter().cloned()).collect();
                    let (path, kind) = (path.to_path_buf(), kind);
                    let operation = applied.iter().flat_map(|one| one.operation.iter().cloned()).collect();
                    let applied = AppliedRepository { path, kind, record, staged, events, operation };
                    undo.parts.push((applied, work));
                }
                Ok(None) => {}
                Err(StaysApplied(why)) => left.push((path.to_path_buf(), why)),
            }
        }
        Ok(undo)
    }

    fn repository_back(
        &self,
        path: &Path,
        applied: &[&AppliedRepository],
    ) -> io::Result<Result<Option<(AppliedRepositoryKind, RepositoryWork)>, StaysApplied>> {
        let (Some(first), Some(last)) = (applied.first(), applied.last()) else { return Ok(Ok(None)) };
        let record = |one: &AppliedRepository| self.journal().repository_record(one);
        match (first.kind, last.kind) {
            (AppliedRepositoryKind::Created, AppliedRepositoryKind::Removed) => return Ok(Ok(None)),
            (_, AppliedRepositoryKind::Removed) => {
                let kept = kept_in(&record(last));
                let is_there = kept.is_dir();
                let back = (AppliedRepositoryKind::Created, RepositoryWork::Restore { kept });
                return Ok(if is_there {
                    Ok(Some(back))
                } else {
                    Err(StaysApplied("its record was pruned".into()))
                });
            }
            _ => {}
        }
        let mut joined: Option<RepositoryMove> = None;
        let mut journals = Vec::new();
        for one in applied {
            let journal = match ApplyJournal::load(&record(one)) {
                Ok(journal) => journal,
                // A new repository without a commit moved nothing.
                Err(_) if one.kind == AppliedRepositoryKind::Created => continue,
                Err(error) => return Ok(Err(error.into())),
            };
            joined = Some(match joined {
                Some(earlier) => earlier.then(journal.change),
                None => journal.change,
            });
            journals.push(record(one));
        }
        let scratch = tempfile::tempdir()?;
        let operation = joined.as_ref().and_then(operation_file).cloned();
        let is_made = first.kind == AppliedRepositoryKind::Created;
        match is_made.then(|| has_more(joined.as_ref(), path, &scratch.path().join("made"))).transpose() {
            Ok(Some(true)) => return Ok(Err(StaysApplied(MORE_THAN_MADE.into()))),
            Ok(_) => {}
            Err(error) => return Ok(Err(error.into())),
        }
        let compared = joined.map(|joined| undo_question(&joined, path, &scratch.path().join("now")));
        let back = match compared.transpose() {
            Ok(compared) => match compared.map(|compared| selected(&compared)).transpose() {
                Ok(back) => back,
                Err(why) => return Ok(Err(why)),
            },
            Err(error) => return Ok(Err(error.into())),
        };
        // A part of an operation is none: what the person finished stays.
        let is_open = |change: &RepositoryMove, file: &GitName| change.files.contains_key(file);
        if operation.is_some_and(|file| back.as_ref().is_some_and(|change| !is_open(change, &file))) {
            let why = "the operation that was in progress was finished in the meantime; git reflog has what was before";
            return Ok(Err(StaysApplied(why.into())));
        }
        if is_made {
            return Ok(Ok(Some((AppliedRepositoryKind::Removed, RepositoryWork::Remove))));
        }
        let Some(change) = back.filter(|change| !change.is_empty()) else { return Ok(Ok(None)) };
        let work = RepositoryWork::Back { applied: journals, change: Box::new(change) };
        Ok(Ok(Some((AppliedRepositoryKind::Changed, work))))
    }

    /// What happened in each repository in `entries`, the oldest of which comes first.
    pub fn undone_git_events(&self, entries: &[JournalEntry]) -> Vec<RepositoryEvents> {
        let mut found: Vec<RepositoryEvents> = Vec::new();
        for one in entries.iter().rev().flat_map(|entry| &entry.git) {
            match found.iter_mut().find(|known| known.path == one.path) {
                Some(known) => known.events.extend(one.events.iter().cloned()),
                None => {
                    let fate = match one.kind {
                        AppliedRepositoryKind::Created => RepositoryChangeKind::Created,
                        AppliedRepositoryKind::Changed => RepositoryChangeKind::Changed,
                        AppliedRepositoryKind::Removed => RepositoryChangeKind::Removed,
                    };
                    found.push(RepositoryEvents { path: one.path.clone(), fate, events: one.events.clone() });
                }
            }
        }
        found
    }

    /// What a transaction did to its repositories.
    pub fn applied_git_events(&self, entry: &JournalEntry) -> Vec<RepositoryEvents> {
        self.undone_git_events(std::slice::from_ref(entry))
    }

    /// The same as a line for each row, with the repository in front; `name` renders a path. What was removed comes back, and
    /// its line says so.
    pub fn undone_git_rows(&self, entries: &[JournalEntry], name: &dyn Fn(&Path) -> String) -> Vec<String> {
        let line = |path: &Path, event: &GitEvent| {
            let back = match event.kind {
                GitEventKind::RefDeleted | GitEventKind::StashRemoved => " (comes back)",
                _ => "",
            };
            let gap = if event.note.is_empty() { "" } else { " " };
            format!("{}: {}{gap}{}{back}", name(path), event.text, event.note)
        };
        let lines = |repository: RepositoryEvents| -> Vec<String> {
            repository.events.iter().map(|event| line(&repository.path, event)).collect()
        };
        self.undone_git_events(entries).into_iter().flat_map(lines).collect()
    }
}

/// A file of an operation that the change began.
fn operation_file(change: &RepositoryMove) -> Option<&GitName> {
    let begun = change.files.iter().filter(|(_, moved)| moved.before.is_none() && moved.after.is_some());
    begun.map(|(name, _)| name).find(|name| matches!(class_of(name), GitFileClass::Operation(_)))
}

/// Everything of it, or why not.
fn selected(compared: &Comparison) -> Result<RepositoryMove, StaysApplied> {
    if let Some(item) = compared.conflicts.first() {
        let hint = "git revert makes a commit that takes it back";
        let item = Conflict::item(item);
        return Err(StaysApplied(format!("{} changed in the meantime; {hint}", visible::guard_line(&item))));
    }
    Ok(compared.selected(&compared.groups())?)
}
