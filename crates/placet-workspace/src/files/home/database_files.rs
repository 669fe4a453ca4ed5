//! The names of the files of a database of SQLite, and the lock on all of them.

use super::keep_error::KeepError;
use crate::files::opening::open_at::open_regular;
use rustix::fs::{FlockOperation, OFlags};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the names of the files of a database end with. The index of the log (`-shm`) is the last one: it is made again by
/// who opens the database first.
pub const DATABASE_FILES: [&str; 4] = ["", "-wal", "-journal", "-shm"];

/// The end of the name of an old log while a new database is put in its place.
const SET_ASIDE: &str = ".placet-old";

pub(in crate::files) fn set_aside(name: &OsStr) -> OsString {
    let mut name = name.to_os_string();
    name.push(SET_ASIDE);
    name
}

/// A lock on the whole database: it fails while a program has the database open with a log, or is writing to it. `None`
/// where there is no database yet.
pub(in crate::files) fn lock(database: &Path) -> Result<Option<File>, KeepError> {
    match database.symlink_metadata() {
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(e.into()),
        Ok(_) => {}
    }
    let file = open_regular(database, OFlags::RDWR)?.file;
    match rustix::fs::fcntl_lock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) if stays_open_elsewhere(&file) => Err(KeepError::IsOpen),
        Ok(()) => Ok(Some(file)),
        Err(Errno::AGAIN | Errno::ACCESS) => Err(KeepError::IsOpen),
        Err(e) => Err(io::Error::from(e).into()),
    }
}

/// Each process that starts another has, for a moment, a copy with all its open files.
fn stays_open_elsewhere(file: &File) -> bool {
    const LOOKS: u32 = 5;
    const BETWEEN: Duration = Duration::from_millis(20);
    (0..LOOKS).all(|look| {
        if look > 0 {
            std::thread::sleep(BETWEEN);
        }
        is_open_elsewhere(file)
    })
}

/// True where a process of this user has the file open. One that is between two transactions holds no lock, and would
/// write to a file that has no name any more.
fn is_open_elsewhere(file: &File) -> bool {
    let Ok(own) = file.metadata() else { return true };
    let is_it = |path: PathBuf| {
        path.metadata().is_ok_and(|found| (found.dev(), found.ino()) == (own.dev(), own.ino()))
    };
    let me = std::process::id().to_string();
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let others = processes.filter(|one| {
        let name = one.file_name();
        name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) && name != me.as_str()
    });
    let opened =
        others.flat_map(|one| std::fs::read_dir(one.path().join("fd")).into_iter().flatten().flatten());
    opened.into_iter().any(|fd| is_it(fd.path()))
}
