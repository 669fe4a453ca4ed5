//! Masks: paths that exist and show nothing.
//!
//! A masked file is covered by an empty file that nobody may open, a masked directory by an empty directory. For root,
//! a mode does not forbid opening. For root the file is therefore a device on a file system without devices, which
//! nobody can open.

use super::super::spec::{FileCopy, SandboxSpec};
use super::init::{SandboxSetupError, at};
use super::mounts::{DetachedMount, OverlayLayers, TAME, place};
use super::scratch_tmpfs::ScratchTmpfs;
use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, fstat, openat2};
use rustix::io::Errno;
use rustix::mount::MountAttrFlags;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

/// Targets of links that are never masked: an empty `/usr` would not hide a secret but end every command.
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
                // The device 0:0 is the only one that can be made without privileges.
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

/// Covers every path that `spec` masks. A path that cannot be covered is an error: nothing remains readable without a
/// report.
pub(super) fn cover(
    spec: &SandboxSpec,
    blank: &MaskSources,
    layers: &[OverlayLayers],
) -> Result<(), SandboxSetupError> {
    for path in spec.masked.iter().filter(|path| may_exist(spec, layers, path)) {
        at(cover_one(spec, blank, path), || format!("mask `{}`", path.display()))?;
    }
    Ok(())
}

/// Shows the copy in place of its file. Whatever else a command made of the place is masked like any credential file.
pub(super) fn show_copy(
    spec: &SandboxSpec,
    (ground, blank): (&ScratchTmpfs, &MaskSources),
    copy: &FileCopy,
    number: usize,
) -> io::Result<()> {
    let is_file = |target: &OwnedFd| {
        fstat(target).is_ok_and(|known| FileType::from_raw_mode(known.st_mode) == FileType::RegularFile)
    };
    let Some(target) = place(&copy.path, OFlags::NOFOLLOW).ok().filter(is_file) else {
        return cover_one(spec, blank, &copy.path);
    };
    let file = ground.file(&format!("copy-{number}"), copy.text.as_bytes())?;
    let still = TAME | MountAttrFlags::MOUNT_ATTR_RDONLY | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    DetachedMount::again(&file)?.attach_at(&target, still)
}

/// False if no layer has anything at `path`. Most masked paths do not exist, and the layers answer in a fraction of the
/// time of the overlay, where each name is looked up for the first time.
fn may_exist(spec: &SandboxSpec, layers: &[OverlayLayers], path: &Path) -> bool {
    let mut bound = spec.writable.iter().chain(&spec.scratch).chain(&spec.readable);
    // The last overlay is the topmost one.
    let above =
        layers.iter().rev().find_map(|layers| Some((layers, path.strip_prefix(&layers.target).ok()?)));
    let Some((layers, rel)) = above.filter(|_| !bound.any(|bound| path.starts_with(bound))) else {
        return true;
    };
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // A link on the way may lead out of this layer, and a mount hides what the overlay shows. Both are errors here, and so
    // the path is opened in the view.
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let is_in = |layer: &OwnedFd| {
        let found = openat2(layer, rel, flags, Mode::empty(), resolve);
        !matches!(found, Err(Errno::NOENT | Errno::NOTDIR))
    };
    // The upper layer is empty.
    rel.as_os_str().is_empty() || layers.lowers.iter().any(is_in)
}

fn cover_one(spec: &SandboxSpec, blank: &MaskSources, path: &Path) -> io::Result<()> {
    let target = match place(path, OFlags::NOFOLLOW) {
        Ok(target) => target,
        // A path that is missing or inaccessible here is so for the command, too.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP) => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if FileType::from_raw_mode(fstat(&target)?.st_mode) != FileType::Symlink {
        return match blank.over(&target) {
            // Removed since it was opened, like the socket of a program that ends: no name leads to it any more.
            Err(error) if error.kind() == io::ErrorKind::NotFound && fstat(&target)?.st_nlink == 0 => Ok(()),
            done => done,
        };
    }
    // The link itself remains; its target is what must not be read.
    match std::fs::canonicalize(path) {
        Ok(real) if !is_essential(spec, &real) => blank.over(&place(&real, OFlags::NOFOLLOW)?),
        _ => Ok(()),
    }
}

/// True for a path without which nothing could run. The previous command may have made a link to it.
fn is_essential(spec: &SandboxSpec, real: &Path) -> bool {
    let needed = spec.overlays.iter().map(|o| &o.target).chain(&spec.writable).chain(&spec.scratch);
    NEVER.iter().any(|never| Path::new(never) == real)
        || ["/usr", "/bin", "/lib", "/lib64", "/proc", "/dev", "/sys"].iter().any(|dir| real.starts_with(dir))
        || needed.chain([&spec.cwd]).any(|path| path.starts_with(real))
}
