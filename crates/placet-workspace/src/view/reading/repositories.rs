//! The repositories of a view: which directories are one, in the workspace or in what is pending, and what a change set
//! does to them.

use crate::apply::{ApplyError, ApplyStep, RepositoryTransaction, commit_steps};
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::files::metadata::path_state::PathState;
use crate::files::opening::open::open_regular;
use crate::files::walking::dirs_above::DirsAbove;
use crate::history::file_rename::FileRename;
use crate::history::journal::{JournalEntry, TransactionKind, TransactionLabel};
use crate::history::log_marks::LogMarks;
use crate::repository::{
    ConfiguredFiles, ContentReadError, ContentReaders, ReadOutcome, RepositoryChange, RepositoryChangeKind,
    RepositorySet, facts_of, is_repository, outside_content,
};
use crate::view::layers::stack::{node_at, stat_at};
use crate::view::{LayerKind, View};
use placet_permission::is_git_name;
use rustix::fs::OFlags;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

/// What changes mean to repositories, as a change set has it.
pub(in crate::view) struct RepositoryMeaning {
    repositories: RepositorySet,
    repository_changes: Vec<RepositoryChange>,
    configured: ConfiguredFiles,
}

impl RepositoryMeaning {
    pub(in crate::view) fn is_in(&self, set: &ChangeSet) -> bool {
        self.repositories == set.repositories
            && self.repository_changes == set.repository_changes
            && self.configured == set.configured
    }
}

impl View {
    /// The repositories of `paths`: those of the workspace, and those that a layer set would make.
    pub(in crate::view) fn repositories<'a>(
        &self,
        shelf: LayerKind,
        paths: impl IntoIterator<Item = &'a Path>,
    ) -> RepositorySet {
        let exists = |path: &Path| self.had(path) || self.has(shelf, path);
        RepositorySet::recognise(paths, self.roots(), &exists)
    }

    /// True when a file tool that writes `path` would write into a repository, or make its directory one.
    pub(crate) fn in_repository(&self, path: &Path) -> bool {
        let exists = |at: &Path| path.starts_with(at) || self.had(at) || self.has(LayerKind::Scratch, at);
        !RepositorySet::recognise([path], self.roots(), &exists).is_empty()
    }

    /// In the workspace as it is.
    fn had(&self, path: &Path) -> bool {
        stat_at(path).ok().flatten().is_some()
    }

    pub(in crate::view) fn has(&self, shelf: LayerKind, path: &Path) -> bool {
        let Some((index, rel)) = self.locate(path) else { return false };
        self.stack(index, self.layer_set(shelf).depth).stat(&rel).ok().flatten().is_some()
    }

    /// Adds to `set` which of its changes belong to a repository, and what they mean there.
    pub(in crate::view) fn with_repositories(&self, shelf: LayerKind, set: ChangeSet) -> ChangeSet {
        let RepositoryMeaning { repositories, repository_changes, configured } =
            self.repositories_in(shelf, &set.changes);
        ChangeSet { repositories, repository_changes, configured, ..set }
    }

    pub(in crate::view) fn repositories_in(
        &self,
        shelf: LayerKind,
        changes: &[FileChange],
    ) -> RepositoryMeaning {
        let mut places: Vec<&Path> = changes.iter().map(|c| place_of(&c.path, &c.before, &c.after)).collect();
        // In their order, those of one directory follow each other.
        places.dedup_by_key(|place| place.as_os_str());
        let repositories = self.repositories(shelf, places);
        let repository_changes: Vec<RepositoryChange> = repositories
            .outermost()
            .map(|repository| {
                let below = changes.iter().filter(|c| c.path.starts_with(repository));
                self.repository_change(shelf, repository, &below.collect::<Vec<_>>(), &repositories)
            })
            .collect();
        let removed = repository_changes.iter().filter(|change| change.fate == RepositoryChangeKind::Removed);
        let removed = removed.map(|change| change.path.clone()).collect();
        let carried = match shelf {
            LayerKind::Pending => self.carried_repositories(&repositories),
            LayerKind::Scratch => BTreeMap::new(),
        };
        let repositories = repositories.clone().with_removed(removed).with_carried(carried);
        let configured = self.configured_files(shelf, changes);
        RepositoryMeaning { repositories, repository_changes, configured }
    }

    fn configured_files(&self, shelf: LayerKind, changes: &[FileChange]) -> ConfiguredFiles {
        let exists = |path: &Path| self.had(path) || self.has(shelf, path);
        let is = |dir: &Path| exists(dir) && is_repository(dir, &exists);
        let before = |path: &Path, most| match self.locate(path) {
            Some(_) => self.content_before(shelf, path, most),
            None => outside_content(path, most),
        };
        let after = |path: &Path, most| self.content_after(shelf, path, most);
        ConfiguredFiles::find(changes.iter().map(|c| &*c.path), &is, &[&before, &after])
    }

    fn repository_change(
        &self,
        shelf: LayerKind,
        repository: &Path,
        changes: &[&FileChange],
        all: &RepositorySet,
    ) -> RepositoryChange {
        let had = |path: &Path| match self.layer_set(shelf).bases().get(path) {
            Some(base) => !base.node.is_absent(),
            None => self.had(path),
        };
        // The repository of a submodule may lie in one of which the view has only that part.
        let has = |path: &Path| match self.locate(path) {
            Some(_) => self.has(shelf, path),
            None => self.had(path),
        };
        let was = had(repository) && is_repository(repository, &had);
        let is = has(repository) && is_repository(repository, &has);
        let fate = match (was, is) {
            (false, true) => RepositoryChangeKind::Created,
            (true, false) => RepositoryChangeKind::Removed,
            _ => RepositoryChangeKind::Changed,
        };
        let before = |path: &Path, most| self.content_before(shelf, path, most);
        let after = |path: &Path, most| self.content_after(shelf, path, most);
        let contents = ContentReaders { before: &before, after: &after, exists: &has };
        facts_of(repository, fate, changes, all, &contents)
    }

    fn content_before(&self, shelf: LayerKind, path: &Path, most: u64) -> ReadOutcome {
        let node = match self.layer_set(shelf).bases().get(path) {
            Some(base) => base.node,
            None => node_at(path)?.into(),
        };
        match &*node {
            PathState::Absent => Ok(None),
            PathState::File { size, .. } if *size > most => Err(ContentReadError::TooLarge(most)),
            PathState::File { hash, .. } => match self.objects().get(*hash) {
                Ok(bytes) => Ok(Some(bytes)),
                Err(_) => read(path, most).map(Some),
            },
            _ => Err(ContentReadError::NotRegular),
        }
    }

    fn content_after(&self, shelf: LayerKind, path: &Path, most: u64) -> ReadOutcome {
        let Some((index, rel)) = self.locate(path) else { return Ok(None) };
        let real = self.stack(index, self.layer_set(shelf).depth).real(&rel)?;
        match real {
            Some(real) if stat_at(&real).ok().flatten().is_some() => read(&real, most).map(Some),
            _ => Ok(None),
        }
    }

    /// The repositories among the paths of a transaction, each with its states before and after: those on disk, and
    /// those that its changes made or removed.
    pub(in crate::view) fn repositories_of_steps<'a>(
        &self,
        changes: impl IntoIterator<Item = (&'a Path, &'a PathState, &'a PathState)>,
    ) -> RepositorySet {
        let (mut named, mut dirs): (HashSet<&OsStr>, DirsAbove<'_>) = Default::default();
        let mut places: Vec<&Path> = Vec::new();
        for (path, before, after) in changes {
            let place = place_of(path, before, after);
            if places.last().map(|last| last.as_os_str()) != Some(place.as_os_str()) {
                places.push(place);
            }
            named.insert(path.as_os_str());
            dirs.new_above(path);
        }
        let exists = |path: &Path| named.contains(path.as_os_str()) || dirs.contains(path) || self.had(path);
        RepositorySet::recognise(places, self.roots(), &exists)
    }

    /// Makes `steps` as one transaction that knows its repositories. `log_marks` are there where the audit log gets an
    /// entry afterwards.
    pub(in crate::view) fn commit_with_repositories(
        &self,
        (label, kind, log_marks): (TransactionLabel, TransactionKind, Option<&LogMarks>),
        (steps, git): (Vec<ApplyStep>, RepositoryTransaction),
        renames: Vec<FileRename>,
    ) -> Result<JournalEntry, ApplyError> {
        let repositories =
            self.repositories_of_steps(steps.iter().map(|s| (&*s.path, &*s.before, &*s.after)));
        let landed = commit_steps(
            self.journal(),
            self.objects(),
            (label, kind, log_marks),
            steps,
            renames,
            (&repositories, git),
            self.apply_progress(),
        );
        // What the next start has to complete is logged by it.
        if let Err(error) = &landed
            && !matches!(error, ApplyError::Half { .. } | ApplyError::Open(_))
            && let Some(marks) = log_marks
        {
            marks.end();
        }
        landed
    }
}

/// Where a repository is searched for from a changed path. A plain file is not a repository, and searching for a
/// repository at each of many files would cost more than all the rest.
fn place_of<'a>(path: &'a Path, before: &PathState, after: &PathState) -> &'a Path {
    let plain = !before.is_directory() && !after.is_directory();
    path.parent().filter(|_| plain && !is_git_name(path)).unwrap_or(path)
}

fn read(path: &Path, most: u64) -> Result<Vec<u8>, ContentReadError> {
    let opened = open_regular(path, OFlags::RDONLY);
    let opened = opened.map_err(|_| ContentReadError::NotRegular)?;
    let mut bytes = Vec::new();
    opened.file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(ContentReadError::TooLarge(most)) } else { Ok(bytes) }
}

#[cfg(test)]
#[path = "repositories_tests.rs"]
mod tests;
