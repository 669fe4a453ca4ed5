//! Why a link that nobody looked at may lead to a changed file: the search for links is bounded, and what it did not see
//! counts as a link with a protected name.

use placet_permission::Runner;
use placet_text::text::{count, visible};
use rustix::io::Errno;
use std::fs::{DirEntry, FileType};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How far links are searched for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SearchBounds {
    /// Entries of the directories above changed paths, and of those with a protected name in them.
    pub(super) near: usize,
    pub(super) directories: usize,
    pub(super) entries: usize,
    pub(super) longest: Duration,
}

/// A second takes some 60,000 directories that the system has in memory, or 8,000 that it reads from a disk.
const BOUNDS: SearchBounds = SearchBounds {
    near: 5_000_000,
    directories: 300_000,
    entries: 5_000_000,
    longest: Duration::from_secs(10),
};

impl SearchBounds {
    /// In a debug build `PLACET_SEARCH_MOST=N` makes them smaller, for tests.
    pub(super) fn of_program() -> SearchBounds {
        #[cfg(debug_assertions)]
        if let Some(most) = std::env::var("PLACET_SEARCH_MOST").ok().and_then(|most| most.parse().ok()) {
            return SearchBounds { near: most, directories: most, entries: most, ..BOUNDS };
        }
        BOUNDS
    }
}

/// What ended the search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UnseenLinks {
    /// More entries than this near the changed paths.
    Near(usize),
    /// More than this in the workspace.
    Directories(usize),
    Entries(usize),
    Time(Duration),
    Unreadable(PathBuf, io::ErrorKind),
}

impl UnseenLinks {
    pub(super) fn unreadable(dir: &Path, error: &io::Error) -> UnseenLinks {
        UnseenLinks::Unreadable(dir.to_path_buf(), error.kind())
    }

    /// For a person.
    fn words(&self) -> String {
        let most = |most: usize, what: &str| {
            format!("the workspace is too large to look through: more than {}", count::of(most, what))
        };
        let why = match self {
            UnseenLinks::Near(entries) => {
                format!(
                    "the directories around it are too large to look through: more than {}",
                    count::of(*entries, "name")
                )
            }
            UnseenLinks::Directories(directories) => most(*directories, "directory"),
            UnseenLinks::Entries(entries) => most(*entries, "name"),
            UnseenLinks::Time(longest) => {
                format!(
                    "the workspace is too large to look through in {}",
                    count::of(longest.as_secs(), "second")
                )
            }
            UnseenLinks::Unreadable(dir, error) => {
                format!("the directory {} cannot be read: {error}", visible::path(dir))
            }
        };
        format!("a link with a protected name may lead to it; {why}")
    }

    pub(super) fn runner(&self) -> Runner {
        Runner { by: Runner::PLACET.into(), why: self.words() }
    }
}

/// True where nobody finds a link: the directory is not there, leads round in a circle, or the person may not look into it.
pub(super) fn is_closed(error: &io::Error) -> bool {
    error.raw_os_error() == Some(Errno::LOOP.raw_os_error())
        || matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied
        )
}

/// Visits the entries of a directory while `visit` returns true; none where nobody finds a link. Fails where an entry may
/// have been missed.
pub(super) fn each_entry(dir: &Path, visit: &mut dyn FnMut(&DirEntry, FileType) -> bool) -> io::Result<()> {
    let entries = match std::fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(e) if is_closed(&e) => return Ok(()),
        Err(e) => return Err(e),
    };
    for entry in entries {
        let entry = entry?;
        let goes_on = match entry.file_type() {
            Ok(kind) => visit(&entry, kind),
            Err(e) if is_closed(&e) => true,
            Err(e) => return Err(e),
        };
        if !goes_on {
            break;
        }
    }
    Ok(())
}
