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
pub(super) struct OpenDirs {
    open: HashMap<PathBuf, Rc<OwnedFd>>,
    /// The directory of the last path whose state was asked for, where it does not exist. Only for questions: a phase that
    /// makes directories asks for none.
    missing: Option<PathBuf>,
}

impl OpenDirs {
    pub(super) fn at(&mut self, path: &Path) -> io::Result<Rc<OwnedFd>> {
        if let Some(dir) = self.open.get(path) {
            return Ok(dir.clone());
        }
        let dir = Rc::new(dir_anyway(path)?);
        if self.open.len() >= MOST {
            self.open.clear();
        }
        self.open.insert(path.to_path_buf(), dir.clone());
        Ok(dir)
    }

    /// The state of a path.
    pub(super) fn node(&mut self, path: &Path) -> io::Result<PathState> {
        if self.is_missing(path) {
            return Ok(PathState::Absent);
        }
        match (path.parent().and_then(|parent| self.at(parent).ok()), path.file_name()) {
            (Some(dir), Some(name)) => PathState::read(&*dir, name),
            _ => self.below_missing(path),
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
