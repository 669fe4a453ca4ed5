//! Directories of a layer that are open to be changed, and how often that was done: what was found out about the layer
//! before is checked by that number.

use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How often something in a layer was changed.
#[derive(Clone, Debug, Default)]
pub(in crate::view) struct LayerWrites(Arc<AtomicU64>);

impl LayerWrites {
    pub(in crate::view) fn count(&self) -> u64 {
        self.0.load(Ordering::Acquire)
    }

    pub(in crate::view) fn add(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

/// It counts as a change when it is dropped, which is after the change.
#[derive(Debug)]
pub(in crate::view) struct WrittenDir {
    dir: OwnedFd,
    writes: LayerWrites,
}

impl WrittenDir {
    pub(in crate::view) fn new(dir: OwnedFd, writes: &LayerWrites) -> WrittenDir {
        WrittenDir { dir, writes: writes.clone() }
    }
}

impl Deref for WrittenDir {
    type Target = OwnedFd;

    fn deref(&self) -> &OwnedFd {
        &self.dir
    }
}

impl AsFd for WrittenDir {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.dir.as_fd()
    }
}

impl Drop for WrittenDir {
    fn drop(&mut self) {
        self.writes.add();
    }
}
