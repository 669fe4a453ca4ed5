//! Masks: things that are there and show nothing.
//!
//! A masked file is a mount of an empty file that nobody may open, a masked directory one of an empty directory. For
//! root no mode forbids opening, so for root it is a device on a file system without devices: that forbids it to all.

use super::super::spec::Spec;
use super::init::{Fault, at};
use super::mount::{Detached, TAME, place};
use super::raw::{self, Depth};
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, mkdirat, mknodat};
use rustix::io::Errno;
use rustix::mount::MountAttrFlags;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Where links may lead without being masked: an empty `/usr` would not hide a secret but end every command.
const NEVER: [&str; 11] =
    ["/", "/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/proc", "/dev", "/sys", "/nix"];

/// An empty file and an empty directory, to be mounted over others.
pub(super) struct Blank {
    file: OwnedFd,
    dir: OwnedFd,
}

impl Blank {
    /// Lies below `/tmp`, which is covered by a fresh one afterwards, so it can be reached by nobody.
    pub(super) fn new() -> Result<Blank, Fault> {
        let base = Path::new("/tmp");
        let fresh = Detached::fresh("tmpfs", &[("mode", "755"), ("size", "64k")], TAME)?;
        fresh.attach(base)?;
        let make = || -> rustix::io::Result<Blank> {
            let root = place(base, OFlags::DIRECTORY)?;
            let (kind, device) = match rustix::process::geteuid().is_root() {
                // The device 0:0 is the one that needs no privilege to make.
                true => (FileType::CharacterDevice, rustix::fs::makedev(0, 0)),
                false => (FileType::RegularFile, 0),
            };
            mknodat(&root, "file", kind, Mode::empty(), device)?;
            mkdirat(&root, "dir", Mode::empty())?;
            Ok(Blank {
                file: place(&base.join("file"), OFlags::NOFOLLOW)?,
                dir: place(&base.join("dir"), OFlags::NOFOLLOW)?,
            })
        };
        let blank = at(make(), || "make the masks".into())?;
        let still = TAME | MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        at(raw::set_mount(CWD, c"/tmp", Depth::This, u64::from(still.bits())), || "seal the masks".into())?;
        Ok(blank)
    }

    fn over(&self, target: &OwnedFd) -> rustix::io::Result<()> {
        let kind = FileType::from_raw_mode(fstat(target)?.st_mode);
        let blank = if kind == FileType::Directory { &self.dir } else { &self.file };
        Detached::again(blank)?.attach_at(target)
    }
}

/// Covers everything that `spec` wants masked. What cannot be covered is a fault: nothing is left open silently.
pub(super) fn cover(spec: &Spec, blank: &Blank) -> Result<(), Fault> {
    for path in &spec.masked {
        at(cover_one(spec, blank, path), || format!("mask `{}`", path.display()))?;
    }
    Ok(())
}

fn cover_one(spec: &Spec, blank: &Blank, path: &Path) -> rustix::io::Result<()> {
    let target = match place(path, OFlags::NOFOLLOW) {
        Ok(target) => target,
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => return Ok(()),
        Err(error) => return Err(error),
    };
    if FileType::from_raw_mode(fstat(&target)?.st_mode) != FileType::Symlink {
        return blank.over(&target);
    }
    // The link stays; what it leads to is what must not be seen.
    match std::fs::canonicalize(path) {
        Ok(real) if !blinds(spec, &real) => blank.over(&place(&real, OFlags::NOFOLLOW)?),
        _ => Ok(()),
    }
}

/// True for a place without which nothing could run. A link to it may have been made by the command before.
fn blinds(spec: &Spec, real: &Path) -> bool {
    let needed = spec.overlays.iter().map(|o| &o.target).chain(&spec.writable).chain(&spec.scratch);
    NEVER.iter().any(|never| Path::new(never) == real)
        || ["/usr", "/bin", "/lib", "/lib64", "/proc", "/dev", "/sys"].iter().any(|dir| real.starts_with(dir))
        || needed.chain([&spec.cwd]).any(|path| path.starts_with(real))
}
