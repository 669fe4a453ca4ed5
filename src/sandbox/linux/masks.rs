//! Masks: things that are there and show nothing.
//!
//! A masked file is a mount of an empty file that nobody may open, a masked directory one of an empty directory. For
//! root no mode forbids opening, so for root it is a device on a file system without devices: that forbids it to all.

use super::super::spec::SandboxSpec;
use super::init::{SandboxSetupError, at};
use super::mounts::{DetachedMount, TAME, place};
use super::scratch_tmpfs::ScratchTmpfs;
use rustix::fs::{FileType, OFlags, fstat};
use rustix::io::Errno;
use rustix::mount::MountAttrFlags;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Where links may lead without being masked: an empty `/usr` would not hide a secret but end every command.
const NEVER: [&str; 11] =
    ["/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/dev", "/sys", "/nix"];

/// An empty file and an empty directory, to be mounted over others.
pub(super) struct MaskSources {
    file: OwnedFd,
    dir: OwnedFd,
}

impl MaskSources {
    pub(super) fn new(ground: &ScratchTmpfs) -> Result<MaskSources, SandboxSetupError> {
        let dir = ground.dir("blank", 0o000)?;
        let make = || -> rustix::io::Result<MaskSources> {
            let (kind, device) = match rustix::process::geteuid().is_root() {
                // The device 0:0 is the one that needs no privilege to make.
                true => (FileType::CharacterDevice, rustix::fs::makedev(0, 0)),
                false => (FileType::RegularFile, 0),
            };
            ground.node("blank-file", kind, device).map(|file| MaskSources { file, dir })
        };
        at(make(), || "make the masks".into())
    }

    fn over(&self, target: &OwnedFd) -> io::Result<()> {
        let kind = FileType::from_raw_mode(fstat(target)?.st_mode);
        let blank = if kind == FileType::Directory { &self.dir } else { &self.file };
        let still = TAME | MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        DetachedMount::again(blank)?.attach_at(target, still)
    }
}

/// Covers everything that `spec` wants masked. What cannot be covered is a fault: nothing is left open silently.
pub(super) fn cover(spec: &SandboxSpec, blank: &MaskSources) -> Result<(), SandboxSetupError> {
    for path in &spec.masked {
        at(cover_one(spec, blank, path), || format!("mask `{}`", path.display()))?;
    }
    Ok(())
}

fn cover_one(spec: &SandboxSpec, blank: &MaskSources, path: &Path) -> io::Result<()> {
    let target = match place(path, OFlags::NOFOLLOW) {
        Ok(target) => target,
        // What is missing here, or out of this process' reach, is so for the command, too.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if FileType::from_raw_mode(fstat(&target)?.st_mode) != FileType::Symlink {
        return match blank.over(&target) {
            // Removed since it was opened, as the sockets of programs that end are: no name leads to it any more.
            Err(error) if error.kind() == io::ErrorKind::NotFound && fstat(&target)?.st_nlink == 0 => Ok(()),
            done => done,
        };
    }
    // The link stays; what it leads to is what must not be seen.
    match std::fs::canonicalize(path) {
        Ok(real) if !is_essential(spec, &real) => blank.over(&place(&real, OFlags::NOFOLLOW)?),
        _ => Ok(()),
    }
}

/// True for a place without which nothing could run. A link to it may have been made by the command before.
fn is_essential(spec: &SandboxSpec, real: &Path) -> bool {
    let needed = spec.overlays.iter().map(|o| &o.target).chain(&spec.writable).chain(&spec.scratch);
    NEVER.iter().any(|never| Path::new(never) == real)
        || ["/usr", "/bin", "/lib", "/lib64", "/proc", "/dev", "/sys"].iter().any(|dir| real.starts_with(dir))
        || needed.chain([&spec.cwd]).any(|path| path.starts_with(real))
}
