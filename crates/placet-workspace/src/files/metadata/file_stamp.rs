//! The version of a file, without reading it.

use rustix::fs::Stat;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The values by which an unchanged file is recognized.
pub(crate) type FileStamp = (u64, u64, i64, i64, i64, i64);

/// `None` where nothing is there.
pub(crate) fn stamp(path: &Path) -> Option<FileStamp> {
    let m = std::fs::symlink_metadata(path).ok()?;
    Some((m.ino(), m.size(), m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec()))
}

/// The same of a file that was looked at.
#[allow(clippy::unnecessary_cast, reason = "the types depend on the system")]
pub(crate) fn stamp_of(stat: &Stat) -> FileStamp {
    (
        stat.st_ino as u64,
        stat.st_size as u64,
        stat.st_mtime as i64,
        stat.st_mtime_nsec as i64,
        stat.st_ctime as i64,
        stat.st_ctime_nsec as i64,
    )
}
