//! The journal of one change: what moves, how far it is, and which locks are ours. Written before anything moves.

use super::checkout_files::remove_all;
use super::place::ApplyPlace;
use super::ref_plan::{ExpectedLock, RefPlan};
use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::repository_move::RepositoryMove;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// How far an apply is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MovePhase {
    /// Locks may be held; items moved only where a name had to be free first. Recovery reverts.
    Preparing,
    /// Everything needed is on disk. Recovery completes.
    Committing,
    Done,
}

/// A lock that is ours.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum OwnLock {
    /// Linked from a file of ours: it is ours while both are the same file.
    Linked { lock: GitName, from: GitName },
    /// Taken by `git update-ref` for us: it is ours while it is this file.
    Taken { lock: GitName, device: u64, inode: u64, changed: (i64, i64) },
    /// About to be taken by git, which writes this into it: nothing where it deletes a ref, or only logs. What it writes into
    /// the lock of reftables is not known.
    Expected { lock: GitName, content: Option<GitName> },
}

/// A journal in a directory of placet's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ApplyJournal {
    #[serde(skip)]
    directory: PathBuf,
    pub phase: MovePhase,
    pub git_dir: GitName,
    pub change: RepositoryMove,
    pub(crate) locks: Vec<OwnLock>,
}

const FILE: &str = "journal.json";

impl ApplyJournal {
    pub(crate) fn create(place: ApplyPlace<'_>, change: &RepositoryMove) -> Result<ApplyJournal> {
        fs::create_dir_all(place.journal).map_err(GitError::io("create", place.journal))?;
        let journal = ApplyJournal {
            directory: place.journal.to_path_buf(),
            phase: MovePhase::Preparing,
            git_dir: GitName::from(place.git_dir),
            change: change.clone(),
            locks: Vec::new(),
        };
        journal.save()?;
        Ok(journal)
    }

    /// Reads the journal in a directory.
    pub fn load(directory: &Path) -> Result<ApplyJournal> {
        let path = directory.join(FILE);
        let bytes = fs::read(&path).map_err(GitError::io("read", &path))?;
        let read = serde_json::from_slice::<ApplyJournal>(&bytes);
        let mut journal = read.map_err(|error| GitError::Journal { path, why: error.to_string() })?;
        journal.directory = directory.to_path_buf();
        Ok(journal)
    }

    pub(crate) fn save(&self) -> Result<()> {
        let (path, new) = (self.directory.join(FILE), self.directory.join("journal.new"));
        let bytes = serde_json::to_vec(self)
            .map_err(|error| GitError::Journal { path: path.clone(), why: error.to_string() })?;
        let mut file = File::create(&new).map_err(GitError::io("create", &new))?;
        file.write_all(&bytes).and_then(|()| file.sync_all()).map_err(GitError::io("write", &new))?;
        fs::rename(&new, &path).map_err(GitError::io("write", &path))
    }

    pub(crate) fn set_phase(&mut self, phase: MovePhase) -> Result<()> {
        self.phase = phase;
        self.save()
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A file that is there while git holds locks, and that goes with the end of git, also when placet was killed before:
    /// where it stays, git was killed, too, and could not remove its locks.
    pub(crate) fn guard(&self) -> PathBuf {
        self.directory.join("git-holds-locks")
    }

    /// An empty directory for what is needed only now.
    pub(crate) fn scratch(&self) -> Result<PathBuf> {
        let path = self.directory.join("scratch");
        remove_all(&path)?;
        fs::create_dir(&path).map_err(GitError::io("create", &path))?;
        Ok(path)
    }

    pub(crate) fn remove_scratch(&self) -> Result<()> {
        remove_all(&self.directory.join("scratch"))
    }

    /// Nothing happened.
    pub(crate) fn discard(&self) -> Result<()> {
        remove_all(&self.directory)
    }

    /// Whether no item can have moved before the commit.
    pub(crate) fn is_unmoved(&self) -> bool {
        RefPlan::of(&self.change, (2, 30)).early.is_empty()
    }

    /// Says which locks git will take, and what it writes into them.
    pub(super) fn expect_locks(&mut self, locks: Vec<ExpectedLock>) -> Result<()> {
        self.locks.extend(locks.into_iter().map(|(lock, content)| OwnLock::Expected { lock, content }));
        self.save()
    }

    /// Says which files the prepared transaction holds.
    pub(crate) fn record_ref_locks(&mut self) -> Result<()> {
        let git_dir = self.git_dir.as_path();
        let held = self.locks.iter().filter_map(|lock| match lock {
            OwnLock::Expected { lock, content: Some(_) } => {
                let meta = git_dir.join(lock.as_path()).symlink_metadata().ok()?;
                let changed = (meta.ctime(), meta.ctime_nsec());
                Some(OwnLock::Taken { lock: lock.clone(), device: meta.dev(), inode: meta.ino(), changed })
            }
            // It is written later.
            OwnLock::Expected { .. } => Some(lock.clone()),
            OwnLock::Taken { .. } | OwnLock::Linked { .. } => None,
        });
        self.locks = held.collect();
        self.save()
    }
}
