//! What was read from the terminal and not used yet. It belongs to the next reader.

use std::sync::{Mutex, MutexGuard, PoisonError};

static AHEAD: Mutex<Vec<u8>> = Mutex::new(Vec::new());

/// Everything that waits.
pub fn take() -> Vec<u8> {
    std::mem::take(&mut *lock())
}

/// Gives `bytes` back; they were typed before anything that waits already.
pub fn give_back(bytes: &[u8]) {
    let mut ahead = lock();
    ahead.splice(0..0, bytes.iter().copied());
}

fn lock() -> MutexGuard<'static, Vec<u8>> {
    AHEAD.lock().unwrap_or_else(PoisonError::into_inner)
}
