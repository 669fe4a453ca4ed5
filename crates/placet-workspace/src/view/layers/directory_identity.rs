//! What a directory is, whatever its path is: the number of its inode, and when it was made.
//!
//! The number alone is not enough: a file system gives it to the next directory after a removal. The device is not part of
//! the identity: its number may change when the machine starts. Where the file system does not know when a directory was
//! made, the directory has no identity, and a move is not noticed.

use serde::{Deserialize, Serialize};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::UNIX_EPOCH;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryIdentity {
    inode: u64,
    /// Nanoseconds since 1970.
    made: u64,
}

impl DirectoryIdentity {
    /// `None` where there is no directory, and where its identity is not known.
    pub fn of(dir: &Path) -> Option<DirectoryIdentity> {
        let meta = std::fs::metadata(dir).ok().filter(std::fs::Metadata::is_dir)?;
        let made = meta.created().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(DirectoryIdentity { inode: meta.ino(), made: u64::try_from(made.as_nanos()).ok()? })
    }
}
