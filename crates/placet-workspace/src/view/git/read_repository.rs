//! Reads a repository with pending changes by git, once while neither side of it changes.

use super::super::{LayerKind, View};
use super::binary_sizes::with_binary_sizes;
use super::directories::GitDirectory;
use super::layer_source::LayerSource;
use super::pending_repository::{GitNotConfined, GitRunnerStart, PendingContent, PendingRepository};
use crate::changes::change_set::{ChangeSet, FileChange};
use crate::changes::classify::state_of;
use crate::hash::Hash;
use crate::repository::{DirectoryFate, flat};
use placet_git::{
    GitError, GitName, GitRunner, NewRepository, ObjectFact, ObjectId, PlainSource, QuestionSides,
    RepositoryQuestion, RepositoryRows,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Commits whose differences are read for the question. The others have rows without one.
const MOST_PATCHES: usize = 50;
/// Directories that are looked at to know whether a repository is the same.
const MOST_DIRECTORIES: usize = 10_000;

/// Why a repository cannot be read.
#[derive(Debug, Error)]
enum RepositoryReadError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("placet cannot store its objects: {0}")]
    Storage(#[from] io::Error),
    #[error(transparent)]
    NotConfined(#[from] GitNotConfined),
    #[error("the repository of the workspace changed while a command changed it, too")]
    Raced,
}

impl RepositoryReadError {
    /// A call over its time ends the sandbox, which serves the next repository otherwise.
    fn has_ended_sandbox(&self) -> bool {
        matches!(self, RepositoryReadError::Git(GitError::Time { .. } | GitError::NotStarted(_)))
    }
}

/// A sandbox with git, for all repositories that are read together.
struct QuestionRunner {
    git: Box<dyn GitRunner>,
    place: Arc<tempfile::TempDir>,
    /// Repositories that were read with it.
    number: usize,
}

impl View {
    /// Sets what starts git. Only the first call counts.
    pub fn run_git_by(&self, start: Arc<dyn GitRunnerStart>) {
        drop(self.0.git_runner.0.set(start));
    }

    /// The repositories of `set`, which is pending. Each is read once while neither side of it changes.
    pub(super) fn pending_repositories(&self, set: &ChangeSet) -> Vec<Arc<PendingRepository>> {
        if set.repositories.is_empty() {
            return Vec::new();
        }
        let directories = self.git_directories(set);
        self.0.repositories.known().retain(|path, _| directories.iter().any(|dir| dir.path == *path));
        let mut runner = None;
        directories.iter().filter_map(|dir| self.pending_repository(set, dir, &mut runner)).collect()
    }

    fn pending_repository(
        &self,
        set: &ChangeSet,
        dir: &GitDirectory,
        runner: &mut Option<QuestionRunner>,
    ) -> Option<Arc<PendingRepository>> {
        let own = || set.changes.iter().filter(|change| dir.has(set, change));
        // A set of changes that were applied says nothing about what is pending.
        let is_pending =
            |change: &FileChange| self.layer_set(LayerKind::Pending).bases().contains(&change.path);
        if !own().next().is_some_and(is_pending) {
            return None;
        }
        let key = key_of(&dir.path, state_of(own()));
        let known = self.0.repositories.known().get(&dir.path).cloned();
        let is_it =
            |known: &Arc<PendingRepository>| known.staged.values().all(|staged| self.has_same_files(staged));
        if let Some((_, known)) = known.filter(|(of, known)| *of == key && is_it(known)) {
            return Some(known);
        }
        let read = self.question_runner(runner).and_then(|started| self.read_repository(dir, started));
        let read = read.unwrap_or_else(|error| {
            if error.has_ended_sandbox() {
                *runner = None;
            }
            PendingRepository::refused(&dir.path, error.to_string())
        });
        let read = Arc::new(read);
        self.0.repositories.known().insert(dir.path.clone(), (key, Arc::clone(&read)));
        Some(read)
    }

    fn question_runner<'r>(
        &self,
        runner: &'r mut Option<QuestionRunner>,
    ) -> Result<&'r mut QuestionRunner, RepositoryReadError> {
        if let Some(started) = runner {
            return Ok(started);
        }
        placet_text::private::make_dir(&self.git_storage())?;
        let place = Arc::new(tempfile::Builder::new().prefix("read-").tempdir_in(self.git_storage())?);
        let start = self.0.git_runner.0.get();
        let start = start.ok_or_else(|| GitNotConfined("git cannot be confined here".into()))?;
        Ok(runner.insert(QuestionRunner { git: start.start(place.path())?, place, number: 0 }))
    }

    fn read_repository(
        &self,
        dir: &GitDirectory,
        runner: &mut QuestionRunner,
    ) -> Result<PendingRepository, RepositoryReadError> {
        runner.number += 1;
        let at = runner.place.path().join(runner.number.to_string());
        let (agent, scratch, runner) =
            (LayerSource::of(self, &dir.path), Arc::clone(&runner.place), &*runner.git);
        let content = match dir.fate {
            DirectoryFate::Created => {
                PendingContent::Created(Box::new(NewRepository::read(&agent, &at, runner)?))
            }
            DirectoryFate::Changed => {
                let base = self.repository_base(&dir.path)?.ok_or(RepositoryReadError::Raced)?;
                let person = PlainSource::new(&dir.path);
                let sides = QuestionSides { base: &base, person: &person, agent: &agent };
                match RepositoryQuestion::read(sides, &at, runner)? {
                    Some(question) => PendingContent::Changed(Box::new(question)),
                    None => PendingContent::Same,
                }
            }
        };
        let mut read = PendingRepository::of(&dir.path, content, scratch);
        if let Some(question) = read.question() {
            let mut rows = RepositoryRows::read(question, runner)?;
            let patches = patches(question, &rows, runner)?;
            let staged = self.staged_contents(&dir.path, (question, &mut rows), runner)?;
            let takes_away = rows.takes_away(question);
            let through_links = through_links(question, &rows, runner)?;
            let unsigned = unsigned(&dir.path, question, &rows, runner)?;
            (read.rows, read.patches, read.takes_away) = (Some(rows), patches, takes_away);
            (read.staged, read.through_links) = (staged, through_links);
            (read.person, read.unsigned) = (person_email(&dir.path), unsigned);
        }
        Ok(read)
    }
}

/// The differences of commits, stash entries and tagged trees, and the contents of tagged files.
fn patches(
    question: &RepositoryQuestion,
    rows: &RepositoryRows,
    runner: &dyn GitRunner,
) -> Result<BTreeMap<ObjectId, Vec<u8>>, GitError> {
    let commits = rows.commits.iter().take(MOST_PATCHES);
    let mut wanted: Vec<_> =
        commits.map(|commit| (commit.id, (commit.parents.first().copied(), Some(commit.id)))).collect();
    let (added, dropped) = (rows.stash_added.iter(), rows.stash_dropped.iter());
    let stash = added.map(|fact| (fact, false)).chain(dropped.map(|fact| (fact, true)));
    for (fact, is_dropped) in stash.take(MOST_PATCHES) {
        // What was staged is a commit on the same one, and untracked files are on none.
        let on = fact.parents.first().copied();
        let parts = fact.parents.iter().skip(1).copied().zip([on, None]);
        for (id, on) in std::iter::once((fact.entry.id, on)).chain(parts) {
            wanted.push((id, if is_dropped { (Some(id), on) } else { (on, Some(id)) }));
        }
    }
    let objects = rows.objects.iter().take(MOST_PATCHES);
    let trees = objects.clone().filter(|(_, object)| matches!(object, ObjectFact::Tree));
    wanted.extend(trees.map(|(id, _)| (*id, (None, Some(*id)))));
    let sides: Vec<_> = wanted.iter().map(|(_, sides)| *sides).collect();
    let read = with_binary_sizes(question.tree_patches(&sides, runner)?, question, runner)?;
    let mut patches: BTreeMap<ObjectId, Vec<u8>> = wanted.into_iter().map(|(id, _)| id).zip(read).collect();
    for (id, _) in objects.filter(|(_, object)| matches!(object, ObjectFact::Blob)) {
        patches.insert(*id, question.object(*id, runner)?);
    }
    Ok(patches)
}

/// What links in the trees of new commits lead to, by the names that it has through them: all of it where the link is new, and
/// otherwise what the commits change.
fn through_links(
    question: &RepositoryQuestion,
    rows: &RepositoryRows,
    runner: &dyn GitRunner,
) -> Result<Vec<(ObjectId, PathBuf)>, GitError> {
    let mut found = Vec::new();
    let changes = || rows.commits.iter().flat_map(|commit| &commit.changes);
    let tips = rows.refs.iter().filter_map(|fact| fact.commits.first().copied());
    let tips: Vec<ObjectId> = tips.take(MOST_PATCHES).collect();
    for (tip, links) in tips.iter().copied().zip(question.links(&tips, runner)?) {
        for (path, target) in links.into_iter().take(MOST_PATCHES) {
            let target = question.object(target, runner)?;
            let place =
                path.as_path().parent().unwrap_or(Path::new("")).join(GitName::new(&target).as_path());
            // What an absolute path leads to is no part of the commit.
            if place.is_absolute() {
                continue;
            }
            let place = flat(&Path::new("/").join(&place));
            let Ok(place) = place.strip_prefix("/") else { continue };
            let files: Vec<GitName> = match changes().any(|change| change.path == path) {
                true => question.files_below(tip, &GitName::from(place), runner)?,
                false => changes().map(|change| change.path.clone()).collect(),
            };
            let below = files.iter().filter_map(|file| file.as_path().strip_prefix(place).ok());
            found.extend(below.map(|rel| {
                let is_it = rel.as_os_str().is_empty();
                (tip, if is_it { path.as_path().to_path_buf() } else { path.as_path().join(rel) })
            }));
        }
    }
    Ok(found)
}

/// New commits without a signature, where the person's own are signed.
fn unsigned(
    git_dir: &Path,
    question: &RepositoryQuestion,
    rows: &RepositoryRows,
    runner: &dyn GitRunner,
) -> Result<BTreeSet<ObjectId>, GitError> {
    let is_signing = || placet_git::signs_commits(existing(git_dir)?).ok();
    if rows.commits.is_empty() || is_signing() != Some(true) {
        return Ok(BTreeSet::new());
    }
    placet_git::unsigned_commits(question, &rows.commits, runner)
}

/// The directory of the person's settings for a repository: itself, or what will contain it.
fn existing(git_dir: &Path) -> Option<&Path> {
    git_dir.ancestors().find(|dir| dir.is_dir())
}

/// The address with which the person commits.
fn person_email(git_dir: &Path) -> Option<OsString> {
    let identity = placet_git::person_identity(existing(git_dir)?).ok()?;
    // What is used where git knows nobody.
    (identity.email != "placet@localhost").then_some(identity.email)
}

/// Both sides: the pending files by their content, and the files of the person's that git replaces with each change.
fn key_of(git_dir: &Path, pending: Hash) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(pending.as_bytes());
    hasher.update(key_of_person(git_dir).as_bytes());
    hasher.finalize()
}

/// Adds what a file is; true for a directory.
pub(super) fn add_identity(hasher: &mut blake3::Hasher, path: &Path) -> bool {
    let Ok(meta) = path.symlink_metadata() else { return false };
    hasher.update(path.as_os_str().as_encoded_bytes());
    for number in [meta.ino(), meta.len()] {
        hasher.update(&number.to_le_bytes());
    }
    for number in [meta.ctime(), meta.ctime_nsec()] {
        hasher.update(&number.to_le_bytes());
    }
    meta.is_dir()
}

/// Every file with its identity, without objects, reflogs and single refs: their directories change with them.
pub(super) fn key_of_person(git_dir: &Path) -> Hash {
    let mut hasher = blake3::Hasher::new();
    let mut add = |path: &Path| add_identity(&mut hasher, path);
    add(&git_dir.join("logs/refs/stash"));
    let (mut todo, mut seen) = (vec![git_dir.to_path_buf()], 0);
    while let Some(dir) = todo.pop() {
        seen += 1;
        if seen > MOST_DIRECTORIES {
            break;
        }
        let is_of_refs = dir.starts_with(git_dir.join("refs"));
        let entries = std::fs::read_dir(&dir).into_iter().flatten().filter_map(Result::ok);
        let is_wanted = |entry: &std::fs::DirEntry| {
            let is_outside =
                ["objects", "logs", "lfs", "modules"].iter().any(|name| git_dir.join(name) == entry.path());
            !is_outside && (!is_of_refs || entry.file_type().is_ok_and(|kind| kind.is_dir()))
        };
        let mut paths: Vec<PathBuf> = entries.filter(is_wanted).map(|entry| entry.path()).collect();
        paths.sort();
        todo.extend(paths.into_iter().filter(|path| add(path)));
    }
    hasher.finalize()
}
