//! What can go wrong with a path.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A path that is not an ordinary file: opening it could wait for ever or have a side effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpecialFile {
    Fifo,
    Socket,
    CharacterDevice,
    BlockDevice,
    Unknown,
}

impl SpecialFile {
    pub fn words(self) -> &'static str {
        match self {
            SpecialFile::Fifo => "a named pipe (FIFO)",
            SpecialFile::Socket => "a socket",
            SpecialFile::CharacterDevice => "a character device",
            SpecialFile::BlockDevice => "a block device",
            SpecialFile::Unknown => "not a regular file",
        }
    }
}

#[derive(Debug, Error)]
pub enum WorkspaceError {
    #[error("the path is empty")]
    Empty,
    #[error("`{}` does not exist", .0.display())]
    Missing(PathBuf),
    #[error("`{}` is a directory", .0.display())]
    Directory(PathBuf),
    #[error("`{}` is not a directory", .0.display())]
    NotDirectory(PathBuf),
    #[error("`{}` is {}: it cannot be read or written as a file", .path.display(), .kind.words())]
    Special { path: PathBuf, kind: SpecialFile },
    #[error("`{}` is hidden from all tools by a rule", .0.display())]
    Hidden(PathBuf),
    #[error("`{}` is outside the workspace, and nobody approved it", .0.display())]
    Outside(PathBuf),
    #[error("`{}` goes through too many symbolic links", .0.display())]
    Loop(PathBuf),
    #[error("`{}` leads to another place than before", .0.display())]
    Moved(PathBuf),
    /// The named path is a link to this file.
    #[error("the name is a link to `{}`: the file would be removed, and the link would stay", .0.display())]
    Link(PathBuf),
    #[error("`{}` already exists", .0.display())]
    Exists(PathBuf),
    #[error("`{}` is read-only", .0.display())]
    ReadOnly(PathBuf),
    #[error("`{}` changed while it was being written; nothing was overwritten", .0.display())]
    Raced(PathBuf),
    #[error("permission denied: `{}`", .0.display())]
    Denied(PathBuf),
    #[error("`{path}`: the home directory of another user is not supported: only `~/` is")]
    Tilde { path: String },
    #[error("the path has {bytes} bytes; the system takes at most {most}")]
    TooLong { bytes: usize, most: usize },
    #[error("invalid pattern `{glob}`: {reason}")]
    Glob { glob: String, reason: String },
    #[error("`{}` is {size} bytes, more than the {most} that can be loaded", .path.display())]
    TooLarge { path: PathBuf, size: u64, most: u64 },
    #[error("`{}`: {error}", .path.display())]
    Io { path: PathBuf, error: io::Error },
}

impl WorkspaceError {
    /// The same error about another path: the requested path, where the content was elsewhere.
    #[must_use]
    pub fn about(mut self, asked: &Path) -> WorkspaceError {
        use WorkspaceError as E;
        match &mut self {
            E::Missing(path)
            | E::Directory(path)
            | E::NotDirectory(path)
            | E::Hidden(path)
            | E::Outside(path)
            | E::Loop(path)
            | E::Moved(path)
            | E::Exists(path)
            | E::Link(path)
            | E::ReadOnly(path)
            | E::Raced(path)
            | E::Denied(path)
            | E::Special { path, .. }
            | E::TooLarge { path, .. }
            | E::Io { path, .. } => *path = asked.to_path_buf(),
            E::Empty | E::Tilde { .. } | E::TooLong { .. } | E::Glob { .. } => {}
        }
        self
    }

    /// The same with another name for its path.
    #[must_use]
    pub fn named(&self, name: impl FnOnce(&Path) -> PathBuf) -> Option<WorkspaceError> {
        use WorkspaceError as E;
        Some(match self {
            E::Missing(path) => E::Missing(name(path)),
            E::Directory(path) => E::Directory(name(path)),
            E::NotDirectory(path) => E::NotDirectory(name(path)),
            E::Hidden(path) => E::Hidden(name(path)),
            E::Outside(path) => E::Outside(name(path)),
            E::Loop(path) => E::Loop(name(path)),
            E::Moved(path) => E::Moved(name(path)),
            E::Link(path) => E::Link(name(path)),
            E::Exists(path) => E::Exists(name(path)),
            E::ReadOnly(path) => E::ReadOnly(name(path)),
            E::Raced(path) => E::Raced(name(path)),
            E::Denied(path) => E::Denied(name(path)),
            E::Special { path, kind } => E::Special { path: name(path), kind: *kind },
            E::TooLarge { path, size, most } => E::TooLarge { path: name(path), size: *size, most: *most },
            E::Io { path, error } => {
                let again = io::Error::new(error.kind(), error.to_string());
                E::Io { path: name(path), error: again }
            }
            E::Empty | E::Tilde { .. } | E::TooLong { .. } | E::Glob { .. } => return None,
        })
    }

    pub fn from_io(path: &Path, error: io::Error) -> WorkspaceError {
        let path = path.to_path_buf();
        if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) {
            return WorkspaceError::Loop(path);
        }
        match error.kind() {
            io::ErrorKind::NotFound => WorkspaceError::Missing(path),
            io::ErrorKind::PermissionDenied => WorkspaceError::Denied(path),
            io::ErrorKind::NotADirectory => WorkspaceError::NotDirectory(path),
            io::ErrorKind::IsADirectory => WorkspaceError::Directory(path),
            io::ErrorKind::AlreadyExists => WorkspaceError::Exists(path),
            io::ErrorKind::ReadOnlyFilesystem => WorkspaceError::ReadOnly(path),
            _ => WorkspaceError::Io { path, error },
        }
    }
}
