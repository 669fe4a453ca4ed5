//! How much is pending, as a person counts it: stored beside the view, because counting reads every change, and each start
//! in the directory says the number.
//!
//! The number is shown, and nothing is decided by it. It counts as long as the view is as it was: no process has claimed
//! the view since, which each does before it changes anything, and the record is the same.

use crate::changes::change_count::ChangeCount;
use crate::files::metadata::file_stamp::stamp;
use crate::view::layers::counted_state::CountedState;
use crate::view::layers::layer::Layer;
use crate::view::{LayerKind, View, ViewInner};
use placet_text::text::regular_file;
use rustix::fs::FlockOperation;
use serde::{Deserialize, Serialize};
use std::io;
use std::sync::PoisonError;

/// The file's name in a view's directory.
const NAME: &str = "count.json";
/// A longer file is not one of placet's.
const MOST: u64 = 4096;

#[derive(Serialize, Deserialize)]
struct StoredCount {
    of: CountedState,
    count: ChangeCount,
}

impl View {
    /// How much is pending, as a person counts it.
    pub fn pending_count(&self) -> io::Result<ChangeCount> {
        if let Some(known) = self.known_count() {
            return Ok(known);
        }
        let of = self.0.counted_state();
        let count = self.count(&self.changes(LayerKind::Pending)?);
        self.remember_count(of, count);
        if !self.is_claimed() && !self.is_claimed_elsewhere() {
            self.0.store_count();
        }
        Ok(count)
    }

    /// The same, if it is known that something is pending without a look at the changes.
    pub(in crate::view) fn known_count(&self) -> Option<ChangeCount> {
        let now = self.0.counted_state();
        let known = match self.is_claimed() {
            true => *self.0.asked.counted.lock().unwrap_or_else(PoisonError::into_inner),
            false => regular_file::read(&self.dir().join(NAME), MOST).ok().and_then(|bytes| {
                let stored: StoredCount = serde_json::from_slice(&bytes).ok()?;
                Some((CountedState { writes: now.writes, ..stored.of }, stored.count))
            }),
        };
        known
            .filter(|(of, count)| *of == now && now.lock.is_some() && count.total() > 0)
            .map(|(_, count)| count)
    }

    pub(in crate::view) fn remember_count(&self, of: CountedState, count: ChangeCount) {
        *self.0.asked.counted.lock().unwrap_or_else(PoisonError::into_inner) = Some((of, count));
    }

    fn is_claimed(&self) -> bool {
        self.0.claim.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn is_claimed_elsewhere(&self) -> bool {
        // Shared: two processes that ask at the same time must not see each other.
        let how = FlockOperation::NonBlockingLockShared;
        regular_file::open(&self.dir().join("lock")).is_ok_and(|lock| rustix::fs::flock(&lock, how).is_err())
    }
}

impl ViewInner {
    pub(in crate::view) fn counted_state(&self) -> CountedState {
        CountedState {
            lock: stamp(&self.places.view.join("lock")),
            record: stamp(&self.places.view.join("pending/base.jsonl")),
            writes: self.pending.layers.iter().map(Layer::writes).sum(),
        }
    }

    /// Stores the count that is remembered, if the view is still as it was then.
    fn store_count(&self) {
        let known = *self.asked.counted.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((of, count)) = known.filter(|(of, _)| *of == self.counted_state()) else { return };
        // Without it, the next start counts.
        if let Ok(bytes) = serde_json::to_vec(&StoredCount { of, count }) {
            drop(placet_text::private::write_quick(&self.places.view.join(NAME), &bytes));
        }
    }
}

impl Drop for ViewInner {
    /// Nothing of this process changes the view any more, and no other process has claimed it yet.
    fn drop(&mut self) {
        if self.claim.get_mut().unwrap_or_else(PoisonError::into_inner).is_some() {
            self.store_count();
        }
    }
}

#[cfg(test)]
#[path = "pending_count_tests.rs"]
mod tests;
