//! Open directories of one phase of a transaction: many files of one directory cost one way down to it.
//!
//! Each phase opens them again, so that a directory that was moved away meanwhile is noticed.

use super::anchor;
use crate::Hash;
use crate::files::metadata::path_state::{PathState, WritableDirGuard, dir_anyway};
use crate::history::journal::JournalEntry;
use crate::history::objects::ObjectStore;
use rustix::fs::{AtFlags, Dev, Stat};
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Fewer than any limit on open files.
const MOST: usize = 64;

#[derive(Default)]
pub(crate) struct OpenDirs {
    /// With whether names in it can be changed as it is.
    open: HashMap<PathBuf, (Rc<OwnedFd>, bool)>,
    /// The file systems of the shards of the object store, which exist.
    shards: HashMap<u8, Dev>,
    /// The directory of the last path whose state was asked for, where it does not exist. Only for questions: a phase that
    /// makes directories asks for none.
    missing: Option<PathBuf>,
    /// The directory of the change that was last asked about, and where its temporary names are.
    anchor: Option<(PathBuf, PathBuf)>,
}

impl OpenDirs {
    pub(super) fn at(&mut self, path: &Path) -> io::Result<Rc<OwnedFd>> {
        Ok(self.open(path)?.0)
    }

    /// The same to change names in it, as long as the guard exists.
    pub(super) fn writable(&mut self, path: &Path) -> io::Result<(Rc<OwnedFd>, WritableDirGuard)> {
        let (dir, is_writable) = self.open(path)?;
        let guard = if is_writable { WritableDirGuard::unneeded() } else { WritableDirGuard::of(&dir) };
        Ok((dir, guard))
    }

    fn open(&mut self, path: &Path) -> io::Result<(Rc<OwnedFd>, bool)> {
        if let Some(dir) = self.open.get(path) {
            return Ok(dir.clone());
        }
        let dir = dir_anyway(path)?;
        let is_writable = rustix::fs::fstat(&dir)?.st_mode & 0o300 == 0o300;
        let dir = (Rc::new(dir), is_writable);
        if self.open.len() >= MOST {
            self.open.clear();
        }
        self.open.insert(path.to_path_buf(), dir.clone());
        Ok(dir)
    }

    /// The file system of the directory that stores this content, made if it is missing.
    pub(super) fn device_of_shard(&mut self, objects: &ObjectStore, hash: Hash) -> io::Result<Dev> {
        let [first, ..] = *hash.as_bytes();
        if let Some(known) = self.shards.get(&first) {
            return Ok(*known);
        }
        let device = objects.prepare(hash)?;
        self.shards.insert(first, device);
        Ok(device)
    }

    /// The directory for a change's temporary names. A phase has one entry, whose changes are sorted: many of them in turn
    /// have one directory, and finding its anchor takes a search for each directory above it.
    pub(super) fn anchor(&mut self, entry: &JournalEntry, index: usize) -> Option<PathBuf> {
        let parent = entry.changes.get(index)?.path.parent()?;
        if let Some((_, known)) =
            self.anchor.as_ref().filter(|(dir, _)| dir.as_os_str() == parent.as_os_str())
        {
            return Some(known.clone());
        }
        let found = anchor(entry, index)?;
        self.anchor = Some((parent.to_path_buf(), found.clone()));
        Some(found)
    }

    /// The state of a path, with what was there before its content was read.
    pub(crate) fn node_with_stat(&mut self, path: &Path) -> io::Result<(PathState, Option<Stat>)> {
        if self.is_missing(path) {
            return Ok((PathState::Absent, None));
        }
        match (path.parent().and_then(|parent| self.at(parent).ok()), path.file_name()) {
            (Some(dir), Some(name)) => PathState::read_with_stat(&*dir, name),
            _ => Ok((self.below_missing(path)?, None)),
        }
    }

    fn is_missing(&self, path: &Path) -> bool {
        self.missing.as_deref().is_some_and(|missing| path.parent() == Some(missing))
    }

    /// The state of a path whose directory cannot be opened. Many files may come into one new directory: that it does not
    /// exist is found out once.
    fn below_missing(&mut self, path: &Path) -> io::Result<PathState> {
        let node = super::node_at(path)?;
        let is_gone =
            |dir: &&Path| std::fs::symlink_metadata(dir).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
        self.missing = path.parent().filter(|_| node.is_absent()).filter(is_gone).map(Path::to_path_buf);
        Ok(node)
    }

    /// The same for a file whose content is not read now, and is taken to be `hash`.
    pub(super) fn node_assuming(&mut self, path: &Path, hash: Hash) -> io::Result<PathState> {
        match (path.parent().and_then(|parent| self.at(parent).ok()), path.file_name()) {
            (Some(dir), Some(name)) => PathState::read_assuming(&*dir, name, hash),
            _ => self.below_missing(path),
        }
    }

    /// What is there, without reading it.
    pub(super) fn stat(&mut self, path: &Path) -> Option<Stat> {
        let dir = self.at(path.parent()?).ok()?;
        rustix::fs::statat(&*dir, path.file_name()?, AtFlags::SYMLINK_NOFOLLOW).ok()
    }
}
