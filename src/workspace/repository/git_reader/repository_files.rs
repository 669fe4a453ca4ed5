//! The files of a repository in one of its two states.

use crate::workspace::files::open::{OpenedFile, open_regular};
use rustix::fs::OFlags;
use std::ffi::OsString;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Where the files of one state lie. Paths are absolute and as the person sees them.
pub(in crate::workspace) trait RepositoryFiles {
    /// The path on disk that has the content of `path`, if there is one.
    fn real(&self, path: &Path) -> Option<PathBuf>;
    /// A regular file, open. A state whose contents are stored in another form opens a copy.
    fn open(&self, path: &Path) -> Option<OpenedFile> {
        // Also where the path leads through a link: then it is not opened.
        open_regular(&self.real(path)?, OFlags::RDONLY).ok()
    }
    /// The names in a directory.
    fn names(&self, path: &Path) -> Vec<OsString>;
}

/// An open file that is read in pieces. Nothing is mapped: a file that others cut off while it is read would end the
/// process.
pub(super) struct GitFile {
    file: File,
    pub(super) size: u64,
}

impl GitFile {
    pub(super) fn open(files: &dyn RepositoryFiles, path: &Path) -> Option<GitFile> {
        let opened = files.open(path)?;
        Some(GitFile { file: opened.file, size: opened.size })
    }

    /// Exactly `len` bytes from `at` on.
    pub(super) fn at(&self, at: u64, len: usize) -> Option<Vec<u8>> {
        if at.checked_add(len as u64)? > self.size {
            return None;
        }
        let mut bytes = vec![0; len];
        self.file.read_exact_at(&mut bytes, at).ok()?;
        Some(bytes)
    }

    /// At most `len` bytes from `at` on.
    pub(super) fn up_to(&self, at: u64, len: usize) -> Option<Vec<u8>> {
        let left = usize::try_from(self.size.saturating_sub(at)).unwrap_or(usize::MAX);
        self.at(at, len.min(left))
    }

    fn all(self, most: u64) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        // One byte more shows a file that grew.
        self.file.take(most + 1).read_to_end(&mut bytes).ok()?;
        (bytes.len() as u64 <= most).then_some(bytes)
    }
}

/// A whole file of at most `most` bytes; `None` for what is missing, larger, or no regular file.
pub(super) fn read(files: &dyn RepositoryFiles, path: &Path, most: u64) -> Option<Vec<u8>> {
    let file = GitFile::open(files, path).filter(|file| file.size <= most)?;
    file.all(most)
}

pub(super) fn exists(files: &dyn RepositoryFiles, path: &Path) -> bool {
    files.real(path).is_some_and(|path| path.symlink_metadata().is_ok())
}
