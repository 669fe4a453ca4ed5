//! The files of a git directory, as far as placet itself reads them: regular files below a limit, never through links.

use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::limit;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a name in a directory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceKind {
    File,
    Directory,
    Link,
    /// A FIFO, a socket or a device.
    Other,
}

/// A name in a directory.
#[derive(Clone, Debug)]
pub struct SourceEntry {
    pub name: GitName,
    pub kind: SourceKind,
}

/// A regular file with what tells whether it is still the same.
#[derive(Clone, Debug)]
pub struct SourceFile {
    pub bytes: Vec<u8>,
    pub is_executable: bool,
    pub identity: SourceIdentity,
}

/// Changes with each write of a file: git replaces its files, and the time of the inode cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct SourceIdentity {
    pub device: u64,
    pub inode: u64,
    pub size: u64,
    /// Seconds and nanoseconds.
    pub changed: (i64, i64),
}

/// Two writes within it can have the same time: the clock of files of a kernel has steps of 10 ms at most.
const STEP: Duration = Duration::from_millis(20);
/// The same where a file system has whole seconds, and some have every second one.
const STEP_IN_SECONDS: Duration = Duration::from_secs(3);

impl SourceIdentity {
    /// The identity of a file that was read at `now`, or one that no file has, if a write after that could have the same.
    #[must_use]
    pub fn unless_recent(self, now: SystemTime) -> SourceIdentity {
        let (seconds, nanoseconds) = self.changed;
        let changed = u64::try_from(seconds).ok().zip(u32::try_from(nanoseconds).ok());
        let step = if nanoseconds == 0 { STEP_IN_SECONDS } else { STEP };
        let is_settled = changed.is_some_and(|(seconds, nanoseconds)| {
            UNIX_EPOCH + Duration::new(seconds, nanoseconds) + step < now
        });
        if is_settled { self } else { SourceIdentity { changed: self.changed, ..SourceIdentity::default() } }
    }
}

/// A common git directory, of the person or of the agent. Paths are relative to it.
///
/// placet implements it over the layers of a view, and [`PlainSource`] over a directory.
pub trait RepositorySource: Sync {
    /// The names in a directory, none if there is no directory.
    fn entries(&self, directory: &Path) -> Result<Vec<SourceEntry>>;
    /// A regular file, or `None` if there is nothing. A link, a FIFO, a device, and a file over the limit are errors.
    fn read(&self, file: &Path, most: u64) -> Result<Option<SourceFile>>;
    /// The size and the time of a change of anything, to tell whether it changed.
    fn identity(&self, file: &Path) -> Result<Option<SourceIdentity>>;
    /// Where git, as the runner starts it, finds this git directory.
    fn path(&self) -> &Path;

    /// The directories that have its objects, where the runner finds them. A view has those of its layers first.
    fn stores(&self) -> Vec<PathBuf> {
        vec![self.path().join("objects")]
    }
}

/// A git directory in the file system.
#[derive(Clone, Debug)]
pub struct PlainSource {
    path: PathBuf,
}

impl PlainSource {
    /// A common git directory, by its absolute path.
    pub fn new(path: &Path) -> PlainSource {
        PlainSource { path: path.to_path_buf() }
    }

    /// Opens component by component, so that no link is followed below the git directory.
    fn open(&self, path: &Path, last: OFlags) -> Result<Option<OwnedFd>> {
        let whole = self.path.join(path);
        let directory = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
        let opened = rustix::fs::open(&self.path, directory, Mode::empty());
        let mut at = match opened {
            Ok(at) => at,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
            Err(error) => return Err(GitError::io("open", &whole)(error.into())),
        };
        let mut names = path.components().peekable();
        while let Some(name) = names.next() {
            let Component::Normal(name) = name else { continue };
            let flags = if names.peek().is_some() { directory } else { last | OFlags::CLOEXEC };
            at = match rustix::fs::openat(&at, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(opened) => opened,
                Err(Errno::NOENT) => return Ok(None),
                // A link in place of a directory must not look like an empty one.
                Err(Errno::NOTDIR) => match rustix::fs::statat(&at, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) if FileType::from_raw_mode(stat.st_mode) == FileType::Symlink => {
                        return Err(not_regular(path));
                    }
                    _ => return Ok(None),
                },
                Err(Errno::LOOP | Errno::MLINK | Errno::NXIO) => return Err(not_regular(path)),
                Err(error) => return Err(GitError::io("open", &whole)(error.into())),
            };
        }
        Ok(Some(at))
    }
}

fn not_regular(path: &Path) -> GitError {
    GitError::NotRegular(GitName::from(path).escaped())
}

impl RepositorySource for PlainSource {
    fn entries(&self, directory: &Path) -> Result<Vec<SourceEntry>> {
        let whole = self.path.join(directory);
        let Some(opened) = self.open(directory, OFlags::RDONLY | OFlags::DIRECTORY)? else {
            return Ok(Vec::new());
        };
        let error = |errno: Errno| GitError::io("list", &whole)(errno.into());
        let mut found = Vec::new();
        for entry in Dir::read_from(&opened).map_err(error)? {
            let entry = entry.map_err(error)?;
            let name = entry.file_name();
            if name == c"." || name == c".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => match rustix::fs::statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(stat) => FileType::from_raw_mode(stat.st_mode),
                    Err(Errno::NOENT) => continue,
                    Err(errno) => return Err(error(errno)),
                },
                kind => kind,
            };
            let kind = match kind {
                FileType::RegularFile => SourceKind::File,
                FileType::Directory => SourceKind::Directory,
                FileType::Symlink => SourceKind::Link,
                _ => SourceKind::Other,
            };
            found.push(SourceEntry { name: GitName::new(name.to_bytes()), kind });
            if found.len() > limit::OBJECT_FILES {
                return Err(GitError::TooMany("files in one directory", limit::OBJECT_FILES));
            }
        }
        Ok(found)
    }

    fn read(&self, path: &Path, most: u64) -> Result<Option<SourceFile>> {
        // Without blocking: opening a FIFO would wait for its other end.
        let Some(opened) = self.open(path, OFlags::RDONLY | OFlags::NONBLOCK)? else { return Ok(None) };
        let whole = self.path.join(path);
        let mut file = File::from(opened);
        let meta = file.metadata().map_err(GitError::io("read", &whole))?;
        if !meta.is_file() {
            return Err(not_regular(path));
        }
        let too_large = || GitError::TooLarge(GitName::from(path).escaped(), most);
        if meta.len() > most {
            return Err(too_large());
        }
        let mut bytes = Vec::with_capacity(usize::try_from(meta.len()).unwrap_or(0) + 1);
        (&mut file).take(most + 1).read_to_end(&mut bytes).map_err(GitError::io("read", &whole))?;
        if bytes.len() as u64 > most {
            return Err(too_large());
        }
        Ok(Some(SourceFile { bytes, is_executable: meta.mode() & 0o100 != 0, identity: identity_of(&meta) }))
    }

    fn identity(&self, path: &Path) -> Result<Option<SourceIdentity>> {
        let whole = self.path.join(path);
        match std::fs::symlink_metadata(&whole) {
            Ok(meta) => Ok(Some(identity_of(&meta))),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => Ok(None),
            Err(error) => Err(GitError::io("read", &whole)(error)),
        }
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

pub(crate) fn identity_of(meta: &std::fs::Metadata) -> SourceIdentity {
    SourceIdentity {
        device: meta.dev(),
        inode: meta.ino(),
        size: meta.len(),
        changed: (meta.ctime(), meta.ctime_nsec()),
    }
}
