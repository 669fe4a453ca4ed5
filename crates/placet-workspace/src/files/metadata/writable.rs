//! Whether the owner of a file or a directory lets placet write there.
//!
//! placet could often change a mode for a moment and set it back, and an apply does so for what a command in the view has
//! made with such modes. A file tool does not: what its owner closed is closed, as for every other program.

use crate::{ResolvedPath, Workspace, WorkspaceError};
use placet_permission::AccessLocation;
use rustix::fs::{Access, AtFlags, CWD};
use rustix::io::Errno;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

impl Workspace {
    /// Fails unless the file may be made, replaced or removed: its directory, or the nearest one that exists, is open for
    /// that. So is the file, unless the permit was for a read-only file. A file in place of a directory is somebody else's
    /// question: a batch may make a directory of it.
    pub fn refuse_unwritable(&self, at: &ResolvedPath) -> Result<(), WorkspaceError> {
        for dir in at.path.ancestors().skip(1) {
            let real = self.real(dir).map_err(|e| WorkspaceError::from_io(dir, e))?;
            let real = real.filter(|real| real.is_dir());
            match real.map(|real| access(&real, Access::WRITE_OK | Access::EXEC_OK)) {
                None | Some(Err(Errno::NOENT | Errno::NOTDIR)) => {}
                // An access that the system cannot check is checked by the write itself.
                Some(Ok(()) | Err(Errno::NOSYS)) => break,
                Some(Err(e)) => return Err(WorkspaceError::from_io(&at.path, e.into())),
            }
        }
        match at.place != AccessLocation::ReadOnly && self.is_read_only(&at.path) {
            true => Err(WorkspaceError::ReadOnly(at.path.clone())),
            false => Ok(()),
        }
    }

    /// True for a file that nobody may write, or that this user may not.
    pub(crate) fn is_read_only(&self, path: &Path) -> bool {
        let Ok(Some(real)) = self.real(path) else { return false };
        let Ok(meta) = real.symlink_metadata() else { return false };
        let refused = || matches!(access(&real, Access::WRITE_OK), Err(Errno::ACCESS | Errno::PERM));
        meta.is_file() && (meta.permissions().mode() & 0o222 == 0 || refused())
    }
}

fn access(path: &Path, access: Access) -> rustix::io::Result<()> {
    rustix::fs::accessat(CWD, path, access, AtFlags::EACCESS)
}
