//! Exchanges two names in one step, after a look at what is about to go.

use super::sparse::hash_of;
use crate::workspace::Hash;
use rustix::fs::{OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::workspace) enum ExchangeOutcome {
    Done,
    /// Something else was there; it is there again.
    Raced,
}

/// Exchanges a staged file, whose content is `hash`, and a target until the displaced content is the content that was
/// there at the last look. An unexpected displaced content is newer work of another process and goes back in.
pub(in crate::workspace) fn exchange_checked(
    (from, staged): (&OwnedFd, &OsStr),
    (dir, name): (&OwnedFd, &OsStr),
    hash: Hash,
    before: Hash,
) -> rustix::io::Result<ExchangeOutcome> {
    let (mut put, mut expected) = (hash, before);
    // With a limit: another program may write to the file all the time.
    for round in 0..64 {
        match rustix::fs::renameat_with(from, staged, dir, name, RenameFlags::EXCHANGE) {
            // Another program removed the file while placet had its newer content: that content goes back under its
            // name.
            Err(Errno::NOENT) if round > 0 => {
                rustix::fs::renameat_with(from, staged, dir, name, RenameFlags::NOREPLACE)?;
                return Ok(ExchangeOutcome::Raced);
            }
            Err(Errno::NOENT) => return Ok(ExchangeOutcome::Raced),
            other => other?,
        }
        let out = settled_hash(from, staged);
        if out == Some(expected) {
            return Ok(if round == 0 { ExchangeOutcome::Done } else { ExchangeOutcome::Raced });
        }
        // A content that is not readable as a file (a link, a directory) has no hash and goes back unchanged.
        (put, expected) = (out.unwrap_or(hash), put);
    }
    Ok(ExchangeOutcome::Raced)
}

/// The hash of the file that came out, unless it is still being written.
pub(super) fn settled_hash(dir: &OwnedFd, name: &OsStr) -> Option<Hash> {
    let (file, _) = super::path_state::open_anyway(dir, name, OFlags::NONBLOCK).ok()?;
    let stamp = |file: &File| rustix::fs::fstat(file).ok().map(|s| (s.st_size, s.st_mtime, s.st_mtime_nsec));
    let first = stamp(&file);
    let hash = hash_of(&file).ok()?;
    // A moment for a writer that is in the middle of it.
    if super::lease::written_elsewhere(&file) {
        std::thread::yield_now();
    }
    if stamp(&file) == first { Some(hash) } else { hash_of(&file).ok() }
}
