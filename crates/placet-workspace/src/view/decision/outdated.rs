//! How far the workspace has changed below what is pending, and what a view takes on the disk.

use crate::view::{LayerKind, View};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use std::io;
use std::os::fd::AsFd;

/// Files that are compared at most, and bytes of them: this is asked at each prompt.
const MOST_FILES: usize = 500;
const MOST_BYTES: u64 = 16 << 20;

/// Pending changes that were made to another state of their file than the workspace has now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutdatedChanges {
    pub files: usize,
    /// Not all were compared: there are too many, or they are too large.
    pub is_partial: bool,
}

impl View {
    /// Counts the pending changes whose file was changed in the workspace since. The files of a repository are left out:
    /// they are compared when it is applied.
    ///
    /// Reads at most 500 files of 16 MiB together.
    pub fn outdated(&self) -> io::Result<OutdatedChanges> {
        let mut found = OutdatedChanges::default();
        if self.is_empty(LayerKind::Pending) {
            return Ok(found);
        }
        let set = self.changes(LayerKind::Pending)?;
        let mut room = MOST_BYTES;
        for (number, change) in set.changes.iter().enumerate() {
            let size = change.before.size();
            if number >= MOST_FILES || size > room {
                found.is_partial = true;
                break;
            }
            if set.repository_of(&change.path).is_some() {
                continue;
            }
            let Some((index, rel)) = self.locate(&change.path) else { continue };
            let below = self.stack(index, 2);
            let is_of_same_size = match below.stat(&rel)? {
                None => change.before.is_absent(),
                Some(stat) => {
                    !change.before.is_file() || u64::try_from(stat.st_size).is_ok_and(|now| now == size)
                }
            };
            if is_of_same_size {
                room -= size;
            }
            // What an apply compares: attributes alone are no reason to merge.
            let is_same = is_of_same_size && below.node(&rel)?.same_content(&change.before);
            found.files += usize::from(!is_same);
        }
        Ok(found)
    }

    /// The bytes of the view's own files: pending changes and stored discards. Links between them count once each.
    pub fn disk_bytes(&self) -> io::Result<u64> {
        match rustix::fs::openat(rustix::fs::CWD, self.dir(), dir_flags(), Mode::empty()) {
            Ok(dir) => bytes_below(dir),
            Err(rustix::io::Errno::NOENT) => Ok(0),
            Err(e) => Err(e.into()),
        }
    }
}

fn dir_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

fn bytes_below(dir: impl AsFd) -> io::Result<u64> {
    let mut sum = 0;
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let name = entry.file_name();
        if matches!(name.to_bytes(), b"." | b"..") {
            continue;
        }
        // Another process may have removed it.
        let Ok(stat) = rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        if FileType::from_raw_mode(stat.st_mode) == FileType::Directory {
            // A command may have left a directory that its owner cannot read.
            if let Ok(below) = rustix::fs::openat(&dir, name, dir_flags(), Mode::empty()) {
                sum += bytes_below(below)?;
            }
        } else {
            sum += u64::try_from(stat.st_blocks).unwrap_or(0) * 512;
        }
    }
    Ok(sum)
}
