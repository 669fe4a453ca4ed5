//! How much is pending, as a person counts it: counting reads every change, and each start in the directory says the
//! number.
//!
//! A process that ends leaves the number in the view's lock, in place of its own id. Each process claims the view before
//! it changes anything, and writes its id over the number. The number is shown, and nothing is decided by it.

use crate::changes::change_count::ChangeCount;
use crate::files::metadata::file_stamp::stamp;
use crate::view::layers::layer::Layer;
use crate::view::{LayerKind, View, ViewInner};
use placet_text::text::regular_file;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::PoisonError;

/// The length of a lock's text. It is always the same: to truncate a file takes milliseconds on some file systems.
const LENGTH: usize = 128;

/// What a lock contains.
fn lock_text(text: &str) -> Vec<u8> {
    format!("{text:<width$}\n", width = LENGTH - 1).into_bytes()
}

impl View {
    /// How much is pending, as a person counts it.
    pub fn pending_count(&self) -> io::Result<ChangeCount> {
        if let Some(known) = self.known_count() {
            return Ok(known);
        }
        let writes = self.writes();
        let count = self.count(&self.changes(LayerKind::Pending)?);
        self.remember_count(writes, count);
        Ok(count)
    }

    /// The same, if it is known that something is pending without a look at the changes.
    pub(in crate::view) fn known_count(&self) -> Option<ChangeCount> {
        let is_claimed = self.0.claim.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let known = if is_claimed { self.0.remembered_count() } else { self.left_count() };
        known.filter(|count| count.total() > 0)
    }

    /// How often the pending layers were opened to be changed; `None` while a command or a decision changes them.
    pub(in crate::view) fn writes(&self) -> Option<u64> {
        self.0.commands.gate.try_lock().ok().map(|_| self.0.all_writes())
    }

    /// `writes` is what [`View::writes`] was before the changes were read.
    pub(in crate::view) fn remember_count(&self, writes: Option<u64>, count: ChangeCount) {
        let counted = writes.map(|writes| (writes, count));
        *self.0.asked.counted.lock().unwrap_or_else(PoisonError::into_inner) = counted;
    }

    /// The same, for a process that has claimed the view now: its id takes the place of the number.
    pub(in crate::view) fn take_left_count(&self, lock: &File) -> io::Result<Option<ChangeCount>> {
        let left = self.left_count();
        lock.write_all_at(&lock_text(&std::process::id().to_string()), 0)?;
        Ok(left)
    }

    /// What the last process that had claimed the view has left, if the record is still the same.
    fn left_count(&self) -> Option<ChangeCount> {
        let text = regular_file::read_to_string(&self.dir().join("lock"), LENGTH as u64).ok()?;
        let (record, count) = text.trim_end().split_once(' ')?;
        let count = serde_json::from_str(count).ok()?;
        (record == self.0.record_version()?).then_some(count)
    }
}

impl ViewInner {
    pub(in crate::view) fn all_writes(&self) -> u64 {
        self.pending.layers.iter().map(Layer::writes).sum()
    }

    fn remembered_count(&self) -> Option<ChangeCount> {
        let counted = *self.asked.counted.lock().unwrap_or_else(PoisonError::into_inner);
        counted.filter(|(writes, _)| *writes == self.all_writes()).map(|(_, count)| count)
    }

    fn record_version(&self) -> Option<String> {
        let (_, length, seconds, nanoseconds, ..) = stamp(&self.places.view.join("pending/base.jsonl"))?;
        Some(format!("{length}-{seconds}.{nanoseconds}"))
    }
}

impl Drop for ViewInner {
    fn drop(&mut self) {
        let left = self.remembered_count().zip(self.record_version());
        let claim = self.claim.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (Some(lock), Some((count, record))) = (claim, left)
            && let Ok(count) = serde_json::to_string(&count)
        {
            let text = lock_text(&format!("{record} {count}"));
            // Without it, or with a text that is cut, the next start counts.
            let _ = lock.write_all_at(text.get(..LENGTH).unwrap_or_default(), 0);
        }
    }
}

#[cfg(test)]
#[path = "pending_count_tests.rs"]
mod tests;
