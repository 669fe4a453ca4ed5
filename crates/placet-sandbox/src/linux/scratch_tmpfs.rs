//! One fresh file system in memory that contains every fresh directory of the view: creating and destroying a file
//! system costs more than mounting a part of one.

use super::init::{SandboxSetupError, at};
use super::mounts::{DetachedMount, TAME, place};
use rustix::fs::{AtFlags, Dev, FileType, Mode, OFlags, chmodat, fchmod, mkdirat, mknodat, openat};
use rustix::mount::MountAttrFlags;
use std::os::fd::OwnedFd;
use std::path::Path;

/// The share of the machine's memory, so that a command cannot fill all of it with files.
const SIZE: &str = "25%";

/// It is below `/tmp`, which a part of it covers afterwards, so that nobody can access its root.
pub(super) struct ScratchTmpfs(OwnedFd);

impl ScratchTmpfs {
    pub(super) fn create() -> Result<ScratchTmpfs, SandboxSetupError> {
        let base = Path::new("/tmp");
        DetachedMount::fresh("tmpfs", &[("mode", "700"), ("size", SIZE)], TAME)?.attach(base)?;
        at(place(base, OFlags::DIRECTORY), || "open fresh memory".into()).map(ScratchTmpfs)
    }

    /// A new directory in it.
    pub(super) fn dir(&self, name: &str, mode: u16) -> Result<OwnedFd, SandboxSetupError> {
        let make = || -> rustix::io::Result<OwnedFd> {
            let mode = Mode::from_raw_mode(mode.into());
            mkdirat(&self.0, name, Mode::RWXU)?;
            // Independent of the umask.
            chmodat(&self.0, name, mode, AtFlags::empty())?;
            openat(&self.0, name, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
        };
        at(make(), || format!("make a fresh `{name}`"))
    }

    /// A new directory, as a detached mount.
    pub(super) fn part(
        &self,
        name: &str,
        mode: u16,
        attributes: MountAttrFlags,
    ) -> Result<DetachedMount, SandboxSetupError> {
        let dir = self.dir(name, mode)?;
        at(DetachedMount::again(&dir), || format!("mount a fresh `{name}`"))?.with_attributes(attributes)
    }

    /// A new node that nobody may open.
    pub(super) fn node(&self, name: &str, kind: FileType, device: Dev) -> rustix::io::Result<OwnedFd> {
        mknodat(&self.0, name, kind, Mode::empty(), device)?;
        openat(&self.0, name, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
    }

    /// A new file that everybody may read.
    pub(super) fn file(&self, name: &str, content: &[u8]) -> rustix::io::Result<OwnedFd> {
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::CLOEXEC;
        let file = openat(&self.0, name, flags, mode)?;
        // Independent of the umask.
        fchmod(&file, mode)?;
        if rustix::io::write(&file, content)? != content.len() {
            return Err(rustix::io::Errno::NOSPC);
        }
        openat(&self.0, name, OFlags::PATH | OFlags::CLOEXEC | OFlags::NOFOLLOW, Mode::empty())
    }
}
