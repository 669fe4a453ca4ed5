//! Where the parts of a repository are: a `.git` may be a file that names another directory, that one may share its
//! settings and objects with a third, and objects may be borrowed from others.

use super::config::LARGEST;
use super::detect::ALTERNATES;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Reads a file of git's in one state, of at most so many bytes, if it is a regular file there.
pub(crate) type ReadGitFile<'a> = dyn Fn(&Path, u64) -> Option<Vec<u8>> + 'a;

/// The directories of one repository, in one state, as they are named: with `..` where a file says so. Nothing says that
/// they are there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GitDirs {
    /// Its own directory, and the one that it shares with other worktrees.
    pub(crate) dirs: BTreeSet<PathBuf>,
    /// Where it borrows objects.
    pub(crate) borrowed: Vec<PathBuf>,
}

impl GitDirs {
    /// Those of the repository at `git`, a directory or a file that names one.
    pub(crate) fn of(git: &Path, read: &ReadGitFile<'_>) -> GitDirs {
        let own = GitDirs::own(git, read);
        let common = named(&own.join("commondir"), b"", read).unwrap_or_else(|| own.clone());
        let dirs: BTreeSet<PathBuf> = [own, common].into();
        let mut borrowed = Vec::new();
        for dir in &dirs {
            let text = read(&dir.join(ALTERNATES), LARGEST).unwrap_or_default();
            let stores = text.split(|b| *b == b'\n').filter(|l| !l.is_empty() && !l.starts_with(b"#"));
            borrowed.extend(stores.map(|store| dir.join("objects").join(OsStr::from_bytes(store))));
        }
        GitDirs { dirs, borrowed }
    }

    /// The own directory alone.
    pub(crate) fn own(git: &Path, read: &ReadGitFile<'_>) -> PathBuf {
        named(git, b"gitdir:", read).unwrap_or_else(|| git.to_path_buf())
    }
}

/// The path that the first line of `file` names after `prefix`.
fn named(file: &Path, prefix: &[u8], read: &ReadGitFile<'_>) -> Option<PathBuf> {
    let text = read(file, LARGEST)?;
    let line = text.strip_prefix(prefix)?.split(|b| *b == b'\n').next()?.trim_ascii();
    Some(file.parent()?.join(OsStr::from_bytes(line)))
}
