//! The version of a file, without reading it.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The values by which an unchanged file is recognized.
pub(crate) type FileStamp = (u64, u64, i64, i64, i64, i64);

/// `None` where nothing is there.
pub(crate) fn stamp(path: &Path) -> Option<FileStamp> {
    let m = std::fs::symlink_metadata(path).ok()?;
    Some((m.ino(), m.size(), m.mtime(), m.mtime_nsec(), m.ctime(), m.ctime_nsec()))
}
