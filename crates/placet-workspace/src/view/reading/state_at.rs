//! What a path on disk is, without following a link.

use crate::Hash;
use crate::files::metadata::path_state::PathState;
use rustix::fs::Stat;
use std::io;
use std::path::{Path, PathBuf};

/// `root` itself for the empty path: `join` would put a slash behind it.
pub(in crate::view) fn join(root: &Path, rel: &Path) -> PathBuf {
    if rel.as_os_str().is_empty() { root.to_path_buf() } else { root.join(rel) }
}

/// The state at a path without links.
pub(crate) fn node_at(path: &Path) -> io::Result<PathState> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the root directory"));
    };
    match parent_of(parent)? {
        Some(dir) => PathState::read(&dir, name),
        None => Ok(PathState::Absent),
    }
}

/// The same for a file that a tool has read: the content of a large one is taken to be `hash`.
pub(in crate::view) fn node_assuming(path: &Path, hash: Hash) -> io::Result<PathState> {
    let parent = path.parent().map(parent_of).transpose()?.flatten();
    match (parent, path.file_name()) {
        (Some(dir), Some(name)) => PathState::read_assuming(&dir, name, hash),
        _ => node_at(path),
    }
}

/// The same without the content.
pub(crate) fn stat_at(path: &Path) -> io::Result<Option<Stat>> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Ok(rustix::fs::lstat(path).ok());
    };
    match parent_of(parent)? {
        Some(dir) => crate::view::layers::layer::entry(&dir, name),
        None => Ok(None),
    }
}

/// A path behind a link has no state of its own: the file is at the link's target, if anywhere.
pub(in crate::view) fn parent_of(parent: &Path) -> io::Result<Option<std::os::fd::OwnedFd>> {
    use crate::WorkspaceError as E;
    match crate::files::metadata::path_state::search_anyway(parent) {
        Ok(dir) => Ok(Some(dir)),
        Err(E::Missing(_) | E::NotDirectory(_) | E::Moved(_)) => Ok(None),
        Err(e) => Err(io::Error::other(e)),
    }
}
