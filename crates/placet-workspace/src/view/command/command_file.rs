//! What a file of a command's layer has only because a command in the view made it.

use crate::files::metadata::attributes::{SET_GROUP, is_own_group};
use crate::files::metadata::path_state::{PathState, open_anyway};
use crate::files::metadata::stat_fields::{mode_of, permissions};
use rustix::fs::{Gid, OFlags, fchmod, fchown, flistxattr, fremovexattr, fstat};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;

/// The group that `before` had, if what replaced it, a directory or a file as it was, has the one of the command, `new`. A view maps no other group for a
/// user without privileges: no program there can keep a group, or choose one.
pub(super) fn lost_group(before: &PathState, (new, is_directory): (u32, bool)) -> Option<u32> {
    let had = before.attrs().filter(|_| before.is_directory() == is_directory)?.gid;
    let is_of_command = new == rustix::process::getegid().as_raw() && !rustix::process::geteuid().is_root();
    (had != new && is_of_command && is_own_group(had)).then_some(had)
}

/// Takes away the overlay's own notes on a file it copied up, which mean nothing in another place, and gives it `group`.
pub(super) fn make_ordinary(dir: &OwnedFd, name: &OsStr, group: Option<u32>) {
    /// What the overlay writes on a file that it copies up.
    const MARKS: [&str; 3] = ["user.overlay.origin", "user.overlay.nlink", "user.overlay.metacopy"];
    let Ok((file, own)) = open_anyway(dir, name, OFlags::NONBLOCK) else { return };
    let Ok(stat) = fstat(&file) else { return };
    let mode = own.unwrap_or_else(|| permissions(&stat));
    // Who may not write a file cannot remove its attributes either.
    let shut = mode & 0o200 == 0;
    if shut {
        let _ = fchmod(&file, mode_of(mode | 0o600));
    }
    // Most files have none: one question for all of them.
    let mut names = [0_u8; 64];
    if !matches!(flistxattr(&file, &mut names[..]), Ok(0)) {
        for mark in MARKS {
            let _ = fremovexattr(&file, mark);
        }
    }
    // Nobody gets a group's rights in this way.
    if let Some(group) = group.filter(|_| mode & SET_GROUP == 0) {
        let _ = fchown(&file, None, Some(Gid::from_raw(group)));
    }
    if shut {
        let _ = fchmod(&file, mode_of(mode));
    }
}
