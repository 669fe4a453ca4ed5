//! Repositories that were read, with what they were read from: a question, its list and its apply ask about the same. And
//! copies of the person's repositories as the last command found them.

use super::base_state::CopiedRepository;
use super::pending_repository::PendingRepository;
use crate::workspace::hash::Hash;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(in crate::workspace::view) struct RepositoryMemo {
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
