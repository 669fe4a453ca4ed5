//! What a person's repository was when the agent began to change it: the base, to which both sides are compared.
//!
//! A command starts with a copy of the repositories that it may change. The first one that changes something below a git
//! directory makes the copy the base, which goes with the last pending change there. A repository that a command finds
//! somewhere else has no copy: if it changed in the workspace while the command ran, its base is not known, and it waits.

use super::super::stage::StagedEntry;
use super::super::{LayerKind, View};
use super::directories::{GitDirectory, is_repository_on_disk};
use super::pending_repository::PendingContent;
use super::read_repository::key_of_person;
use super::repository_memo::{CopiedRepository, RepositoriesAtStart};
use crate::changes::change_set::ChangeSet;
use crate::hash::Hash;
use crate::view::command::collect::CommandEffects;
use crate::view::command::run_clock::RunStart;
use crate::view::layers::base::BaseRecord;
use placet_git::{PlainSource, RepositoryState, StateCopy};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const STATE: &str = "base";
const PATH: &str = "path";

impl View {
    /// Where this view stores what it knows about repositories, and their new objects.
    pub(super) fn git_storage(&self) -> PathBuf {
        self.dir().join("git")
    }

    fn base_dir(&self, git_dir: &Path) -> PathBuf {
        let name: Hash = blake3::hash(git_dir.as_os_str().as_bytes());
        self.git_storage().join(&*name.to_hex())
    }

    /// Copies the repositories at the roots in which nothing is pending. What did not change since the last command is
    /// not copied again.
    pub(in crate::view) fn repositories_at_start(
        &self,
        shelf: LayerKind,
        since: RunStart,
    ) -> RepositoriesAtStart {
        let mut found = RepositoriesAtStart::not_copied(since);
        if shelf != LayerKind::Pending {
            return found;
        }
        let places = self.roots().iter().flat_map(|root| [root.join(".git"), root.clone()]);
        for git_dir in places.filter(|dir| is_repository_on_disk(dir)) {
            if self.base_dir(&git_dir).join(STATE).exists() {
                continue;
            }
            let key = key_of_person(&git_dir);
            let known = self.0.repositories.copies().get(&git_dir).filter(|(of, _)| *of == key).cloned();
            // Without a copy, only what changes while the command runs is not known.
            let Some((_, copy)) =
                known.or_else(|| Some((key, Arc::new(self.copy_repository(&git_dir).ok()?))))
            else {
                continue;
            };
            self.0.repositories.copies().insert(git_dir.clone(), (key, Arc::clone(&copy)));
            found.copies.push((git_dir, copy));
        }
        found
    }

    fn copy_repository(&self, git_dir: &Path) -> io::Result<CopiedRepository> {
        placet_text::private::make_dir(&self.git_storage())?;
        let place = tempfile::Builder::new().prefix("start-").tempdir_in(self.git_storage())?;
        let state = StateCopy::take(&PlainSource::new(git_dir), &place.path().join("copy"));
        Ok(CopiedRepository::new(state.map_err(io::Error::other)?, place))
    }

    /// Records the repositories that a command changed, where nothing was pending in them before.
    pub(in crate::view) fn record_repository_bases(
        &self,
        shelf: LayerKind,
        effects: &CommandEffects,
        found: &RepositoriesAtStart,
    ) -> io::Result<()> {
        if shelf != LayerKind::Pending {
            return Ok(());
        }
        let repositories = self.repositories(shelf, effects.places.iter().map(|path| &**path));
        for git_dir in repositories.all().filter(|dir| is_repository_on_disk(dir)) {
            if !self.base_dir(git_dir).join(STATE).exists() {
                let copy = found.copies.iter().find(|(dir, _)| dir == git_dir);
                match copy.map(|(_, copy)| copy.state.read()) {
                    Some(Ok(state)) => self.record_base(git_dir, Some(state)).map(drop)?,
                    // A repository that cannot be read waits as a whole, and then says why.
                    Some(Err(_)) => {}
                    None => self.record_present_base(git_dir, Some(found.since)).map(drop)?,
                }
            }
        }
        Ok(())
    }

    /// What the repository is now, if it did not change `since`.
    fn record_present_base(
        &self,
        git_dir: &Path,
        since: Option<RunStart>,
    ) -> io::Result<Option<RepositoryState>> {
        let Ok(copy) = self.copy_repository(git_dir) else { return Ok(None) };
        let Ok(state) = copy.state.read() else { return Ok(None) };
        let period = since.map(|since| since.period(git_dir));
        let is_known = period.is_none_or(|period| !state.changed().any(|time| period.has(time)));
        self.record_base(git_dir, is_known.then_some(state))
    }

    pub(super) fn record_base(
        &self,
        git_dir: &Path,
        state: Option<RepositoryState>,
    ) -> io::Result<Option<RepositoryState>> {
        let dir = self.base_dir(git_dir);
        placet_text::private::make_dir(&dir)?;
        let scratch = tempfile::tempdir_in(&dir)?;
        std::fs::write(dir.join(PATH), git_dir.as_os_str().as_bytes())?;
        let new = scratch.path().join("new");
        let bytes = state.as_ref().map(RepositoryState::to_bytes).transpose().map_err(io::Error::other)?;
        std::fs::write(&new, bytes.unwrap_or_default())?;
        std::fs::rename(new, dir.join(STATE))?;
        Ok(state)
    }

    /// The base of a repository that has pending changes; `None` where it is not known. Without a record, as for a file that
    /// a tool wrote, it is what the repository is now.
    pub(super) fn repository_base(&self, git_dir: &Path) -> io::Result<Option<RepositoryState>> {
        match std::fs::read(self.base_dir(git_dir).join(STATE)) {
            // It is not known.
            Ok(bytes) if bytes.is_empty() => Ok(None),
            Ok(bytes) => RepositoryState::from_bytes(&bytes).map(Some).map_err(io::Error::other),
            Err(e) if e.kind() == io::ErrorKind::NotFound => self.record_present_base(git_dir, None),
            Err(e) => Err(e),
        }
    }

    /// Puts the bases next to changes that are set aside.
    pub(in crate::view) fn copy_repository_bases(&self, to: &Path) -> io::Result<()> {
        copy_bases(&self.git_storage(), &to.join("git"))
    }

    /// Brings them back with the changes. With refs that were discarded, they take the place of those that are there.
    pub(in crate::view) fn restore_repository_bases(&self, from: &Path, has_refs: bool) -> io::Result<()> {
        let kept = from.join("git");
        for entry in std::fs::read_dir(&kept).into_iter().flatten().flatten().filter(|_| has_refs) {
            drop(std::fs::remove_file(self.git_storage().join(entry.file_name()).join(STATE)));
        }
        self.0.repositories.known().clear();
        copy_bases(&kept, &self.git_storage())
    }

    /// Forgets the bases of repositories in which nothing is pending any more.
    pub(in crate::view) fn drop_unused_bases(&self) {
        let Ok(entries) = std::fs::read_dir(self.git_storage()) else { return };
        let bases = self.layer_set(LayerKind::Pending).bases();
        for dir in entries.filter_map(|entry| Some(entry.ok()?.path())) {
            let Ok(path) = std::fs::read(dir.join(PATH)) else { continue };
            let git_dir = PathBuf::from(OsString::from_vec(path));
            let next = bases.next(Some(&git_dir), 1);
            let is_used =
                bases.contains(&git_dir) || next.first().is_some_and(|base| base.path.starts_with(&git_dir));
            if !is_used {
                drop(std::fs::remove_dir_all(dir));
            }
        }
    }

    /// Drops what a command wrote in repositories without changing anything that is applied, as `git status` and `git gc`
    /// do. True where that was anything.
    pub(in crate::view) fn drop_unchanged_repositories(&self, set: &ChangeSet) -> io::Result<bool> {
        let same = self.pending_repositories(set);
        let same = same.iter().filter(|one| matches!(one.content, PendingContent::Same));
        let same: BTreeSet<PathBuf> = same.map(|one| one.path.clone()).collect();
        if same.is_empty() {
            return Ok(false);
        }
        self.claim()?;
        let directories = self.git_directories(set);
        let gone = |path: &Path| {
            let change = set.get(path);
            let is_of = |dir: &&GitDirectory| change.is_none_or(|change| dir.has(set, change));
            directories
                .iter()
                .filter(|dir| same.contains(&dir.path))
                .any(|dir| path.starts_with(&dir.path) && is_of(&dir))
        };
        let bases: Vec<BaseRecord> = self.layer_set(LayerKind::Pending).bases().iter().collect();
        let keep = bases.into_iter().filter(|base| !gone(&base.path)).map(|base| (base, StagedEntry::Keep));
        self.rebuild(keep.collect())?;
        Ok(true)
    }
}

/// What is there already stays: changes of the same repository are pending.
fn copy_bases(from: &Path, to: &Path) -> io::Result<()> {
    let Ok(entries) = std::fs::read_dir(from) else { return Ok(()) };
    for entry in entries {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if !from.join(STATE).exists() || to.join(STATE).exists() {
            continue;
        }
        placet_text::private::make_dir(&to)?;
        for name in [PATH, STATE] {
            std::fs::copy(from.join(name), to.join(name))?;
        }
    }
    Ok(())
}
