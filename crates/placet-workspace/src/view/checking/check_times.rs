//! The times of files as a check sees them.
//!
//! Build systems take a file as unchanged when it is not newer than their output. A change that is rejected gives a file
//! its old content with its old time, and a build would then be taken for one of that content: a check would pass
//! wrongly. So each path that was ever changed for a check has a time that grows with every other content.

use crate::Hash;
use crate::view::command::run_clock::{FileTime, own_time};
use crate::view::layers::layer;
use placet_text::text::regular_file;
use rustix::fs::{AtFlags, Timespec, Timestamps};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The largest list of times that is read. A longer one is begun again, which only costs a build.
const LARGEST: u64 = 64 << 20;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct SeenFile {
    /// The content, unless there was no file.
    hash: Option<String>,
    time: FileTime,
}

/// What the runs of a check saw, by path.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(in crate::view) struct SeenFiles {
    /// Another command has other output.
    command: String,
    /// The last run passed: its output is complete.
    passed: bool,
    files: BTreeMap<String, SeenFile>,
    #[serde(skip)]
    now: FileTime,
}

impl SeenFiles {
    pub(in crate::view) fn read(file: &Path, command: &str) -> SeenFiles {
        let text = regular_file::read_to_string(file, LARGEST).unwrap_or_default();
        let mut seen: SeenFiles = serde_json::from_str(&text).unwrap_or_default();
        if seen.command != command {
            seen.passed = false;
        }
        seen.command = command.into();
        seen.now = own_time();
        seen
    }

    pub(in crate::view) fn write(&self, file: &Path, passed: bool) -> io::Result<()> {
        let seen = SeenFiles { passed, ..self.clone() };
        placet_text::private::write_quick(file, &serde_json::to_vec(&seen).map_err(io::Error::other)?)
    }

    pub(in crate::view) fn paths(&self) -> Vec<PathBuf> {
        self.files.keys().map(PathBuf::from).collect()
    }

    /// The path has no file now.
    pub(in crate::view) fn forget_content(&mut self, path: &Path) {
        if let Some(file) = key(path).and_then(|key| self.files.get_mut(key)) {
            file.hash = None;
        }
    }

    /// The time that the file must have in this run; `None` where the file's own time will do.
    pub(in crate::view) fn time_of(
        &mut self,
        path: &Path,
        hash: Hash,
        natural: FileTime,
    ) -> Option<FileTime> {
        let now = self.now;
        // A path that is not text is never the same as before.
        let Some(key) = key(path) else { return Some(now) };
        let hash = hash.to_hex().to_string();
        let known = self.files.entry(key.into()).or_default();
        // Output of a run that did not pass may be missing, and then older output of others shows through.
        if !self.passed || known.hash.as_ref() != Some(&hash) {
            *known = SeenFile { hash: Some(hash), time: now };
        }
        (natural != known.time).then_some(known.time)
    }
}

fn key(path: &Path) -> Option<&str> {
    path.to_str()
}

/// Puts a copy of `from` with this time at `name`. The file itself may be shared with the pending changes and keeps its
/// time.
pub(in crate::view) fn copy_with_time(
    from: &Path,
    dir: &OwnedFd,
    name: &OsStr,
    time: FileTime,
) -> io::Result<()> {
    let (Some(parent), Some(old)) = (from.parent(), from.file_name()) else { return Ok(()) };
    let parent = crate::files::metadata::path_state::dir_anyway(parent)?;
    let staged = crate::files::writing::atomic_write::fresh_name();
    layer::copy_one(&parent, old, dir, &staged)?;
    let time = Timespec { tv_sec: time.0, tv_nsec: time.1 };
    let times = Timestamps { last_access: time, last_modification: time };
    rustix::fs::utimensat(dir, &staged, &times, AtFlags::SYMLINK_NOFOLLOW)?;
    Ok(rustix::fs::renameat(dir, &staged, dir, name)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_gets_a_later_time_with_every_other_content() {
        let (a, b) = (blake3::hash(b"a"), blake3::hash(b"b"));
        let path = Path::new("/w/x");
        let mut seen = SeenFiles { passed: true, now: (10, 0), ..SeenFiles::default() };
        // Not seen before: output of others may be newer than the file.
        assert_eq!(seen.time_of(path, a, (1, 0)), Some((10, 0)));
        seen.now = (20, 0);
        assert_eq!(seen.time_of(path, a, (1, 0)), Some((10, 0)));
        assert_eq!(seen.time_of(path, a, (10, 0)), None);
        assert_eq!(seen.time_of(path, b, (2, 0)), Some((20, 0)));
        seen.now = (30, 0);
        // The old content again, with its old time.
        assert_eq!(seen.time_of(path, a, (1, 0)), Some((30, 0)));
        seen.forget_content(path);
        seen.now = (40, 0);
        assert_eq!(seen.time_of(path, a, (1, 0)), Some((40, 0)));
        // The run before did not pass.
        seen.passed = false;
        seen.now = (50, 0);
        assert_eq!(seen.time_of(path, a, (1, 0)), Some((50, 0)));
    }
}
