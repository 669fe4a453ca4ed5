//! Repositories that were read, with what they were read from: a question, its list and its apply ask about the same.

use super::pending_repository::PendingRepository;
use crate::workspace::hash::Hash;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug, Default)]
pub(in crate::workspace::view) struct RepositoryMemo(
    Mutex<BTreeMap<PathBuf, (Hash, Arc<PendingRepository>)>>,
);

impl RepositoryMemo {
    pub(super) fn known(&self) -> MutexGuard<'_, BTreeMap<PathBuf, (Hash, Arc<PendingRepository>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
