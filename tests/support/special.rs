//! Files that are not regular ones.

use std::path::Path;
use std::process::Command;

/// A named pipe. Not every system has the call that makes one at a path.
pub fn fifo(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success(), "{}", path.display());
}

/// A deleted file, as the kernel writes it in a layer.
#[cfg(target_os = "linux")]
pub fn whiteout(path: &Path) {
    let (kind, mode) = (rustix::fs::FileType::CharacterDevice, rustix::fs::Mode::empty());
    rustix::fs::mknodat(rustix::fs::CWD, path, kind, mode, rustix::fs::makedev(0, 0)).unwrap();
}

#[cfg(not(target_os = "linux"))]
pub fn whiteout(path: &Path) {
    panic!("no layer can have {} here", path.display());
}
