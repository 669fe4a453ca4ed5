//! Exchanges two names in one step, after a look at what is about to go.

use crate::Hash;
use crate::files::content::sparse::hash_of_sized;
use crate::files::metadata::file_stamp::{FileStamp, stamp_of};
use crate::files::metadata::path_state::{PathState, open_anyway};
use crate::files::opening::lease::{OtherWriters, other_writers};
use rustix::fs::{OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::OwnedFd;

/// The file that came out of an exchange.
#[derive(Debug)]
pub(crate) struct DisplacedFile {
    file: File,
    /// The mode that was opened for a moment, because its owner may not read it.
    mode: Option<u32>,
    hash: Hash,
    stat: Stat,
    /// Its stamp, if no process can write to it any more: it is not hashed again as long as it has this stamp.
    pub(crate) quiet: Option<QuietFile>,
}

impl DisplacedFile {
    pub(crate) fn state(&self) -> std::io::Result<PathState> {
        PathState::of_known(&self.file, &self.stat, (self.mode, self.hash))
    }
}

/// The stamp of a file with one name that no process had open for writing when it was hashed. As long as it has this stamp
/// and no writer, it has the same content. A descriptor for reading leads to it, too, and can be opened again to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QuietFile(FileStamp);

impl QuietFile {
    /// `None` where another process can write to the file, by a descriptor or by another name, or where placet cannot
    /// find out.
    fn of(file: &File) -> Option<QuietFile> {
        if other_writers(file) != OtherWriters::None {
            return None;
        }
        let stat = rustix::fs::fstat(file).ok().filter(|stat| stat.st_nlink == 1)?;
        Some(QuietFile(stamp_of(&stat)))
    }

    pub(crate) fn is_still(self, file: &File) -> bool {
        QuietFile::of(file) == Some(self)
    }
}

/// Exchanges a staged file, whose content is `hash`, and a target until the displaced content is the content that was
/// there at the last look. An unexpected displaced content is newer work of another process and goes back in: then `None`.
pub(crate) fn exchange_checked(
    (from, staged): (&OwnedFd, &OsStr),
    (dir, name): (&OwnedFd, &OsStr),
    hash: Hash,
    before: Hash,
) -> rustix::io::Result<Option<DisplacedFile>> {
    let (mut put, mut expected) = (hash, before);
    // With a limit: another program may write to the file all the time.
    for round in 0..64 {
        match rustix::fs::renameat_with(from, staged, dir, name, RenameFlags::EXCHANGE) {
            // Another program removed the file while placet had its newer content: that content goes back under its
            // name.
            Err(Errno::NOENT) if round > 0 => {
                rustix::fs::renameat_with(from, staged, dir, name, RenameFlags::NOREPLACE)?;
                return Ok(None);
            }
            Err(Errno::NOENT) => return Ok(None),
            other => other?,
        }
        let displaced = settled(from, staged);
        let out = displaced.as_ref().map(|displaced| displaced.hash);
        if let Some(displaced) = displaced.filter(|displaced| displaced.hash == expected) {
            return Ok(Some(displaced).filter(|_| round == 0));
        }
        // A content that is not readable as a file (a link, a directory) has no hash and goes back unchanged.
        (put, expected) = (out.unwrap_or(hash), put);
    }
    Ok(None)
}

/// The file that came out, hashed once it is not being written.
fn settled(dir: &OwnedFd, name: &OsStr) -> Option<DisplacedFile> {
    let (file, mode) = open_anyway(dir, name, OFlags::NONBLOCK).ok()?;
    let quiet = QuietFile::of(&file);
    let first = match quiet {
        Some(QuietFile(stamp)) => stamp,
        None => stamp_of(&rustix::fs::fstat(&file).ok()?),
    };
    let (_, size, ..) = first;
    let hash = hash_of_sized(&file, size).ok()?;
    // A moment for a writer that is in the middle of it.
    if quiet.is_none() && crate::files::opening::lease::written_elsewhere(&file) {
        std::thread::yield_now();
    }
    let stat = rustix::fs::fstat(&file).ok()?;
    let (hash, quiet) = match stamp_of(&stat) == first {
        true => (hash, quiet),
        false => (hash_of_sized(&file, u64::MAX).ok()?, None),
    };
    Some(DisplacedFile { file, mode, hash, stat, quiet })
}
