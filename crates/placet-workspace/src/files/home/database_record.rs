//! The record of a database at home that is being replaced: after a kill in the middle, the next placet brings the files of
//! the database together again.
//!
//! Between the moment in which the old log is set aside and the moment in which the new files are in their places, the
//! database at home is without its log. The record names the old database and the new one by their inodes, so that the
//! next placet knows which of them is in its place, and what belongs to it.

use super::database_files::{DATABASE_FILES, lock, set_aside};
use super::keep_error::KeepError;
use crate::files::opening::open_at::open_regular;
use rustix::fs::{AtFlags, FlockOperation, OFlags, RenameFlags, Stat};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::ffi::{OsStr, OsString};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The largest record: three names and a path.
const LARGEST: u64 = 64 << 10;
const DIRECTORY: &str = "replacing";

/// A file by its inode and the time of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::files) struct DatabaseIdentity {
    inode: u64,
    changed: (i64, i64),
}

impl DatabaseIdentity {
    pub(in crate::files) fn of(stat: &Stat) -> DatabaseIdentity {
        DatabaseIdentity {
            inode: stat.st_ino,
            changed: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(in crate::files) struct DatabaseRecord {
    /// The bytes of its path.
    database: Vec<u8>,
    old: DatabaseIdentity,
    /// `None` where only the log is replaced.
    new: Option<DatabaseIdentity>,
    /// New logs that have another name until they are in their places: the end of the log's name, and that other name.
    logs: Vec<(String, Vec<u8>)>,
}

/// What a kill left of a database, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RestoredDatabase {
    /// Its files are together again.
    Restored(PathBuf),
    /// Somebody used the database without its log: the old log has another name, and stays.
    Used(PathBuf),
}

impl DatabaseRecord {
    /// `None` where there is no database yet: nothing can be separated from it.
    pub(in crate::files) fn new(
        database: &Path,
        (old, new): (Option<DatabaseIdentity>, Option<DatabaseIdentity>),
        logs: impl Iterator<Item = (&'static str, OsString)>,
    ) -> Option<DatabaseRecord> {
        let database = database.as_os_str().as_bytes().to_vec();
        let logs = logs.map(|(end, name)| (end.into(), name.into_vec())).collect();
        Some(DatabaseRecord { database, old: old?, new, logs })
    }

    /// On the disk before anything is moved.
    pub(in crate::files) fn write(&self, state: &Path) -> io::Result<WrittenRecord> {
        let dir = state.join(DIRECTORY);
        placet_text::private::make_dir(&dir)?;
        let name = blake3::hash(&self.database).to_hex();
        let file = dir.join(format!("{}.json", name.get(..16).unwrap_or_default()));
        placet_text::private::write(&file, &serde_json::to_vec(self)?)?;
        let locked = std::fs::File::open(&file)?;
        rustix::fs::flock(&locked, FlockOperation::LockExclusive)?;
        Ok(WrittenRecord { file, _locked: locked })
    }

    /// The database and what became of it, unless nothing was to be done.
    fn restore(&self) -> Result<Option<RestoredDatabase>, KeepError> {
        let database = PathBuf::from(OsString::from_vec(self.database.clone()));
        let (Some(parent), Some(name)) = (database.parent(), database.file_name()) else { return Ok(None) };
        let _lock = lock(&database)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = rustix::fs::open(parent, flags, rustix::fs::Mode::empty()).map_err(io::Error::from)?;
        let Some(now) = stat(&dir, name)? else { return Ok(Some(RestoredDatabase::Used(database))) };
        let restored = match self.new.filter(|_| now.st_ino != self.old.inode) {
            Some(new) => self.finish(&dir, name, DatabaseIdentity::of(&now) == new)?,
            None => self.put_back(&dir, name, &now)?,
        };
        rustix::fs::fsync(&dir).map_err(io::Error::from)?;
        Ok(restored.map(|is_whole| match is_whole {
            true => RestoredDatabase::Restored(database),
            false => RestoredDatabase::Used(database),
        }))
    }

    /// The new database is in its place: its logs get their names, and the old ones go. Returns whether that worked, and
    /// `None` where no log was missing.
    fn finish(&self, dir: &OwnedFd, name: &OsStr, is_unused: bool) -> io::Result<Option<bool>> {
        let (mut is_whole, mut is_missing) = (true, false);
        for (end, copy) in &self.logs {
            let (copy, log) = (OsStr::from_bytes(copy), with_end(name, end));
            if stat(dir, copy)?.is_none() {
                continue;
            }
            is_missing = true;
            is_whole &= is_unused && rename(dir, copy, &log)?;
        }
        if is_whole {
            for end in DATABASE_FILES.iter().skip(1) {
                remove(dir, &set_aside(&with_end(name, end)))?;
            }
        }
        Ok(is_missing.then_some(is_whole))
    }

    /// The old database is in its place: it gets its log back, if nothing happened to it without the log. Returns as
    /// [`DatabaseRecord::finish`] does.
    fn put_back(&self, dir: &OwnedFd, name: &OsStr, now: &Stat) -> io::Result<Option<bool>> {
        let [_, logs @ .., index] = DATABASE_FILES;
        let mut aside = Vec::new();
        for end in logs {
            let log = with_end(name, end);
            if stat(dir, &set_aside(&log))?.is_some() {
                aside.push(log);
            }
        }
        let is_missing = !aside.is_empty();
        let mut is_whole = !is_missing || DatabaseIdentity::of(now) == self.old;
        for log in aside {
            is_whole = is_whole && rename(dir, &set_aside(&log), &log)?;
        }
        if is_whole {
            // Who opens the database first makes the index of the log again.
            remove(dir, &set_aside(&with_end(name, index)))?;
        }
        Ok(is_missing.then_some(is_whole))
    }
}

/// A record on the disk. Another placet leaves it alone while it is locked.
pub(in crate::files) struct WrittenRecord {
    file: PathBuf,
    _locked: std::fs::File,
}

impl WrittenRecord {
    /// All is in its place.
    pub(in crate::files) fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.file)
    }
}

/// After a kill: brings the files of databases together that were being replaced. `state` is placet's own directory. A
/// database that somebody has open waits for the next start.
pub fn restore_databases(state: &Path) -> Vec<RestoredDatabase> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(state.join(DIRECTORY)).into_iter().flatten().flatten() {
        match restore_from(&entry.path()) {
            Ok(restored) => found.extend(restored),
            Err(KeepError::IsOpen) => {}
            Err(e) => tracing::warn!("a database that was being replaced cannot be restored: {e}"),
        }
    }
    found
}

fn restore_from(file: &Path) -> Result<Option<RestoredDatabase>, KeepError> {
    let record = open_regular(file, OFlags::RDONLY)?.file;
    match rustix::fs::flock(&record, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => {}
        Err(Errno::WOULDBLOCK) => return Ok(None),
        Err(e) => return Err(io::Error::from(e).into()),
    }
    let mut bytes = Vec::new();
    (&record).take(LARGEST).read_to_end(&mut bytes)?;
    let restored = match serde_json::from_slice::<DatabaseRecord>(&bytes) {
        Ok(record) => record.restore()?,
        // It was written before anything was moved.
        Err(_) => None,
    };
    std::fs::remove_file(file)?;
    Ok(restored)
}

fn with_end(name: &OsStr, end: &str) -> OsString {
    let mut name = name.to_os_string();
    name.push(end);
    name
}

fn stat(dir: &OwnedFd, name: &OsStr) -> io::Result<Option<Stat>> {
    match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(e) => Err(e.into()),
    }
}

/// False where the new name is taken: who opened the database without its log made another one.
fn rename(dir: &OwnedFd, from: &OsStr, to: &OsStr) -> io::Result<bool> {
    match rustix::fs::renameat_with(dir, from, dir, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

fn remove(dir: &OwnedFd, name: &OsStr) -> io::Result<()> {
    match rustix::fs::unlinkat(dir, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(e) => Err(e.into()),
    }
}
