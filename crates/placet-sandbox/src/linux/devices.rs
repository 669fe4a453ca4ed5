//! A `/dev` with the few devices that every program expects and that give access to nothing.

use super::init::{SandboxSetupError, at};
use super::mounts::{DetachedMount, TAME};
use super::scratch_tmpfs::ScratchTmpfs;
use rustix::mount::MountAttrFlags;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

/// `tty` is the terminal of the process that opens it: none, unless the view has one of its own.
const NODES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Directories of the view's own.
const DIRECTORIES: [&str; 2] = ["pts", "shm"];

/// The host's device nodes, copied before its file systems lose their devices.
pub(super) struct DeviceNodes(Vec<(PathBuf, DetachedMount)>);

/// True for a device that a command can get from the host. A disk is none.
pub(super) fn is_device(path: &Path) -> bool {
    path.starts_with("/dev")
        && std::fs::symlink_metadata(path).is_ok_and(|known| known.file_type().is_char_device())
}

/// True for what every view has of its own.
fn is_own(path: &Path) -> bool {
    let mut own = NODES.into_iter().chain(LINKS.map(|(name, _)| name)).chain(DIRECTORIES);
    own.any(|name| path.starts_with(Path::new("/dev").join(name)))
}

/// Those of every view, and those among `more`.
pub(super) fn take(more: &[PathBuf]) -> Result<DeviceNodes, SandboxSetupError> {
    let usual = NODES.map(|name| Path::new("/dev").join(name));
    let mut nodes = Vec::new();
    for path in usual.iter().chain(more.iter().filter(|path| is_device(path) && !is_own(path))) {
        if let Some(node) = DetachedMount::copy(path)? {
            nodes.push((path.clone(), node));
        }
    }
    Ok(DeviceNodes(nodes))
}

impl DeviceNodes {
    /// Mounts a fresh `/dev` over the host's. It contains no terminal; `pts` is a new, empty devpts.
    pub(super) fn mount_dev(self, ground: &ScratchTmpfs) -> Result<(), SandboxSetupError> {
        let dev = Path::new("/dev");
        let still = TAME | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        ground.part("dev", 0o755, still)?.attach(dev)?;
        for (path, node) in self.0 {
            let parent = path.parent().filter(|parent| *parent != dev);
            let made =
                parent.map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&path, b""));
            at(made, || format!("make `{}`", path.display()))?;
            node.attach(&path)?;
        }
        for (name, target) in LINKS {
            at(std::os::unix::fs::symlink(target, dev.join(name)), || format!("make `/dev/{name}`"))?;
        }
        for name in DIRECTORIES {
            at(std::fs::create_dir(dev.join(name)), || format!("make `/dev/{name}`"))?;
        }
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o1777);
        at(std::fs::set_permissions(dev.join("shm"), open), || "make `/dev/shm`".into())?;
        let quiet = MountAttrFlags::MOUNT_ATTR_NOSUID | MountAttrFlags::MOUNT_ATTR_NOEXEC;
        let options = [("newinstance", ""), ("ptmxmode", "0666"), ("mode", "620")];
        // Some containers refuse devpts. Then programs cannot get a terminal of their own.
        match DetachedMount::fresh("devpts", &options, quiet) {
            Ok(pts) => pts.attach(&dev.join("pts")),
            Err(_) => Ok(()),
        }
    }
}
