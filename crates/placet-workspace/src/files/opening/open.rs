//! Opening, enforced at the moment of opening.
//!
//! A resolved path has no links in it, so it is opened with none allowed: `openat2` with `RESOLVE_NO_SYMLINKS` and
//! `RESOLVE_BENEATH` on Linux, and where that is missing a walk by directory descriptors with `O_NOFOLLOW`. Either
//! way a directory that became a link since it was resolved is an error and never another file. This is stricter
//! than letting links resolve inside a root, and it needs no re-rooting of absolute links: resolving did that.

pub use super::open_at::OpenedFile;
pub(crate) use super::open_at::{FileKind, dir_at, open_regular, search_at, special, special_words};
use crate::{Hash, ResolvedPath, Workspace, WorkspaceError};
use placet_permission::{Access, AccessLocation, Permit};
use rustix::fs::OFlags;
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// Who approved that a path is opened.
#[derive(Clone, Copy, Debug)]
pub enum OpenConsent<'a> {
    /// Nobody yet: what is inside the workspace may be read.
    Inside,
    /// The policy allowed the call and the permit exists: reading while the call is prepared.
    Prepared,
    /// The permit, which must cover exactly this.
    Permit(&'a Permit),
}

impl Workspace {
    /// Opens a regular file for reading. Never waits: a pipe, a device or a directory is its own error.
    pub fn open(&self, at: &ResolvedPath, consent: OpenConsent<'_>) -> Result<OpenedFile, WorkspaceError> {
        self.consented(at, consent, &at.read())?;
        let real = self.lies(at)?;
        open_regular(&real, OFlags::RDONLY).map_err(|e| e.about(&at.path))
    }

    /// Reads a regular file of at most `most` bytes, and names its content.
    pub fn load(
        &self,
        at: &ResolvedPath,
        consent: OpenConsent<'_>,
        most: u64,
    ) -> Result<(Arc<Vec<u8>>, Hash), WorkspaceError> {
        let mut opened = self.open(at, consent)?;
        let bytes = opened.read_all(&at.path, most)?;
        let hash = blake3::hash(&bytes);
        Ok((Arc::new(bytes), hash))
    }

    /// Opens the directories that make up a directory, topmost first.
    pub fn open_dirs(
        &self,
        at: &ResolvedPath,
        consent: OpenConsent<'_>,
    ) -> Result<Vec<OwnedFd>, WorkspaceError> {
        self.consented(at, consent, &at.read())?;
        let dirs = match self.view() {
            Some(view) => view.dirs(&at.path).map_err(|e| WorkspaceError::from_io(&at.path, e))?,
            None => vec![at.path.clone()],
        };
        if dirs.is_empty() {
            return Err(match self.real(&at.path) {
                Ok(Some(_)) => WorkspaceError::NotDirectory(at.path.clone()),
                _ => WorkspaceError::Missing(at.path.clone()),
            });
        }
        dirs.iter().map(|dir| dir_at(dir).map_err(|e| e.about(&at.path))).collect()
    }

    /// The path on disk of a path's content.
    fn lies(&self, at: &ResolvedPath) -> Result<std::path::PathBuf, WorkspaceError> {
        let real = self.real(&at.path).map_err(|e| WorkspaceError::from_io(&at.path, e))?;
        real.ok_or_else(|| WorkspaceError::Missing(at.path.clone()))
    }

    /// Fails unless `reach`, the access to `at`, was approved.
    pub(crate) fn consented(
        &self,
        at: &ResolvedPath,
        consent: OpenConsent<'_>,
        reach: &Access,
    ) -> Result<(), WorkspaceError> {
        if self.is_hidden(&at.path) {
            return Err(WorkspaceError::Hidden(at.path.clone()));
        }
        let allowed = match consent {
            OpenConsent::Inside => {
                at.place != AccessLocation::Outside && matches!(reach, Access::Read { .. })
            }
            OpenConsent::Prepared => matches!(reach, Access::Read { .. }),
            OpenConsent::Permit(permit) => {
                permit.covers(reach) || matches!(reach, Access::Read { .. }) && permit.covers(&at.write())
            }
        };
        if allowed { Ok(()) } else { Err(WorkspaceError::Outside(at.path.clone())) }
    }
}
