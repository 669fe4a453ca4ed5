//! Open directories of one phase of a transaction: many files of one directory cost one way down to it.
//!
//! Each phase opens them again, so that a directory that was moved away meanwhile is noticed.

use super::ApplyStep;
use crate::workspace::Hash;
use crate::workspace::files::path_state::{PathState, dir_anyway};
use rustix::fs::AtFlags;
use std::collections::HashMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

/// Fewer than any limit on open files.
const MOST: usize = 64;

#[derive(Default)]
pub(super) struct OpenDirs(HashMap<PathBuf, Rc<OwnedFd>>);

impl OpenDirs {
    pub(super) fn at(&mut self, path: &Path) -> io::Result<Rc<OwnedFd>> {
        if let Some(dir) = self.0.get(path) {
            return Ok(dir.clone());
        }
        let dir = Rc::new(dir_anyway(path)?);
        if self.0.len() >= MOST {
            self.0.clear();
        }
        self.0.insert(path.to_path_buf(), dir.clone());
        Ok(dir)
    }

    /// The state of a path.
    pub(super) fn node(&mut self, path: &Path) -> io::Result<PathState> {
        match (path.parent().and_then(|parent| self.at(parent).ok()), path.file_name()) {
            (Some(dir), Some(name)) => PathState::read(&*dir, name),
            _ => super::node_at(path),
        }
    }

    /// The same for a file whose content is not read now, and is taken to be `hash`.
    pub(super) fn node_assuming(&mut self, path: &Path, hash: Hash) -> io::Result<PathState> {
        match (path.parent().and_then(|parent| self.at(parent).ok()), path.file_name()) {
            (Some(dir), Some(name)) => PathState::read_assuming(&*dir, name, hash),
            _ => super::node_at(path),
        }
    }

    /// The name of this transaction that is the same file as this one, if there was one before it.
    pub(super) fn twin(
        &mut self,
        step: &ApplyStep,
        names: &mut HashMap<(u64, u64), Arc<Path>>,
    ) -> Option<Arc<Path>> {
        if !step.before.is_file() {
            return None;
        }
        let dir = self.at(step.path.parent()?).ok()?;
        let stat = rustix::fs::statat(&*dir, step.path.file_name()?, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        if stat.st_nlink < 2 {
            return None;
        }
        let first = names.entry((stat.st_dev, stat.st_ino)).or_insert_with(|| Arc::clone(&step.path));
        (**first != *step.path).then(|| first.clone())
    }
}
