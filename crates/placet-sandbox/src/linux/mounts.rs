//! Mounts as values: made or copied first, attached later, so that no path is resolved through another mount by
//! accident. No option text is assembled from paths, so a `:` or `,` in a path has no meaning.

use super::init::{SandboxSetupError, at};
use super::raw::{self, MountDepth};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};

/// Attributes of every mount inside: nothing on it gives rights, nothing on it is a device.
pub(super) const TAME: MountAttrFlags =
    MountAttrFlags::MOUNT_ATTR_NOSUID.union(MountAttrFlags::MOUNT_ATTR_NODEV);

/// The layers below the empty upper layer of an overlay, opened before anything is mounted over them.
pub(super) struct OverlayLayers {
    pub(super) target: PathBuf,
    pub(super) lowers: Vec<OwnedFd>,
}

/// A detached mount.
#[derive(Debug)]
pub(super) struct DetachedMount(pub(super) OwnedFd);

impl DetachedMount {
    /// A new file system, with options that are not paths.
    pub(super) fn fresh(
        kind: &str,
        options: &[(&str, &str)],
        attributes: MountAttrFlags,
    ) -> Result<DetachedMount, SandboxSetupError> {
        let make = || -> rustix::io::Result<OwnedFd> {
            let fs = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
            for (key, value) in options {
                match *value {
                    "" => fsconfig_set_flag(&fs, *key)?,
                    value => fsconfig_set_string(&fs, *key, value)?,
                }
            }
            fsconfig_create(&fs)?;
            fsmount(&fs, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
        };
        at(make(), || format!("mount a fresh {kind}")).map(DetachedMount)
    }

    /// The present mount at `path`, with the mounts below it. `None` if there is nothing.
    pub(super) fn copy(path: &Path) -> Result<Option<DetachedMount>, SandboxSetupError> {
        let flags = OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::AT_RECURSIVE
            | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
        match open_tree(CWD, path, flags) {
            Ok(tree) => Ok(Some(DetachedMount(tree))),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
            Err(error) => at(Err(error), || format!("open `{}`", path.display())),
        }
    }

    /// Another mount of the object at `place`.
    pub(super) fn again(place: &OwnedFd) -> rustix::io::Result<DetachedMount> {
        let flags =
            OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::AT_EMPTY_PATH;
        open_tree(place, "", flags).map(DetachedMount)
    }

    pub(super) fn with_attributes(
        self,
        attributes: MountAttrFlags,
    ) -> Result<DetachedMount, SandboxSetupError> {
        let set = raw::set_mount(&self.0, c"", MountDepth::All, u64::from(attributes.bits()));
        at(set, || "restrict a mount".into())?;
        Ok(self)
    }

    /// Attaches the mount over `path`.
    pub(super) fn attach(self, path: &Path) -> Result<(), SandboxSetupError> {
        let moved = move_mount(&self.0, "", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH);
        at(moved, || format!("mount over `{}`", path.display()))
    }

    /// Attaches the mount over `place`, whatever its present name is, restricted by `attributes`.
    pub(super) fn attach_at(self, place: &OwnedFd, attributes: MountAttrFlags) -> std::io::Result<()> {
        raw::set_mount(&self.0, c"", MountDepth::This, u64::from(attributes.bits()))?;
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
        Ok(move_mount(&self.0, "", place, "", flags)?)
    }
}

/// A path descriptor (`O_PATH`), which gives no access to the content.
pub(super) fn place(path: &Path, flags: OFlags) -> rustix::io::Result<OwnedFd> {
    rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | flags, Mode::empty())
}

/// A descriptor as a path: short, and of plain characters.
pub(super) fn by_number(fd: impl AsFd) -> String {
    format!("/proc/self/fd/{}", fd.as_fd().as_raw_fd())
}
