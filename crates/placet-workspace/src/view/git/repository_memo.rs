//! Repositories that were read, with what they were read from: a question, its list and its apply ask about the same. And
//! copies of the person's repositories as the last command found them.

use super::pending_repository::PendingRepository;
use crate::hash::Hash;
use crate::view::command::run_clock::RunStart;
use placet_git::StateCopy;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A repository of the person's as it was, in a directory of its own.
#[derive(Debug)]
pub(super) struct CopiedRepository {
    pub(super) state: StateCopy,
    _place: tempfile::TempDir,
}

impl CopiedRepository {
    pub(super) fn new(state: StateCopy, place: tempfile::TempDir) -> CopiedRepository {
        CopiedRepository { state, _place: place }
    }
}

/// What a command found.
#[derive(Debug)]
pub(in crate::view) struct RepositoriesAtStart {
    pub(super) copies: Vec<(PathBuf, Arc<CopiedRepository>)>,
    pub(super) since: RunStart,
}

impl RepositoriesAtStart {
    /// Of a command whose placet was killed.
    pub(in crate::view) fn not_copied(since: RunStart) -> RepositoriesAtStart {
        RepositoriesAtStart { copies: Vec::new(), since }
    }
}

#[derive(Debug, Default)]
pub(in crate::view) struct RepositoryMemo {
    known: Mutex<Keyed<PendingRepository>>,
    copies: Mutex<Keyed<CopiedRepository>>,
}

/// By its place, with the key of what it was made from.
type Keyed<T> = BTreeMap<PathBuf, (Hash, Arc<T>)>;

impl RepositoryMemo {
    pub(super) fn known(&self) -> MutexGuard<'_, Keyed<PendingRepository>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn copies(&self) -> MutexGuard<'_, Keyed<CopiedRepository>> {
        self.copies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
