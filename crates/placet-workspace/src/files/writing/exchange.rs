//! Exchanges two names in one step, after a look at what is about to go.

use crate::Hash;
use crate::files::content::sparse::hash_of_sized;
use crate::files::metadata::stat_fields::identity;
use crate::files::opening::lease::{OtherWriters, other_writers};
use rustix::fs::{OFlags, RenameFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExchangeOutcome {
    /// With the stamp of the displaced file, if no process can write to that file any more: it is not hashed again as long
    /// as it has this stamp.
    Done(Option<QuietFile>),
    /// Something else was there; it is there again.
    Raced,
}

/// An open file that no process had open for writing while it was hashed. As long as it still has this stamp and no
/// writer, it has the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuietFile {
    inode: (u64, u64),
    size: i64,
    modified: (i64, u64),
    changed: (i64, u64),
}

impl QuietFile {
    /// `None` where another process can write to the file, by a descriptor or by another name, or where placet cannot
    /// find out.
    fn of(file: &File) -> Option<QuietFile> {
        if other_writers(file) != OtherWriters::None {
            return None;
        }
        let stat = rustix::fs::fstat(file).ok().filter(|stat| stat.st_nlink == 1)?;
        #[allow(
            clippy::useless_conversion,
            clippy::unnecessary_cast,
            reason = "the types depend on the system"
        )]
        Some(QuietFile {
            inode: identity(&stat),
            size: stat.st_size as i64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as u64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as u64),
        })
    }

    pub(crate) fn is_still(self, file: &File) -> bool {
        QuietFile::of(file) == Some(self)
    }
}

/// Exchanges a staged file, whose content is `hash`, and a target until the displaced content is the content that was
/// there at the last look. An unexpected displaced content is newer work of another process and goes back in.
pub(crate) fn exchange_checked(
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
        let (out, quiet) = settled_hash(from, staged);
        if out == Some(expected) {
            return Ok(if round == 0 { ExchangeOutcome::Done(quiet) } else { ExchangeOutcome::Raced });
        }
        // A content that is not readable as a file (a link, a directory) has no hash and goes back unchanged.
        (put, expected) = (out.unwrap_or(hash), put);
    }
    Ok(ExchangeOutcome::Raced)
}

/// The hash of the file that came out, unless it is still being written; and its stamp, if nobody can write to it.
fn settled_hash(dir: &OwnedFd, name: &OsStr) -> (Option<Hash>, Option<QuietFile>) {
    let Ok((file, _)) = crate::files::metadata::path_state::open_anyway(dir, name, OFlags::NONBLOCK) else {
        return (None, None);
    };
    let stamp = |file: &File| {
        let stat = rustix::fs::fstat(file).ok()?;
        Some((u64::try_from(stat.st_size).ok()?, stat.st_mtime, stat.st_mtime_nsec))
    };
    let quiet = QuietFile::of(&file);
    let first = stamp(&file);
    let size = first.map_or(u64::MAX, |(size, ..)| size);
    let Ok(hash) = hash_of_sized(&file, size) else { return (None, None) };
    // A moment for a writer that is in the middle of it.
    if quiet.is_none() && crate::files::opening::lease::written_elsewhere(&file) {
        std::thread::yield_now();
    }
    match stamp(&file) == first {
        true => (Some(hash), quiet),
        false => (hash_of_sized(&file, u64::MAX).ok(), None),
    }
}
