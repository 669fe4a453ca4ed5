//! A command next to another one: in the network of a background command, whose server it may want to reach.
//!
//! Both have no way out; they share a loopback interface and nothing else. The process that makes namespaces
//! is put into those of the other one's shell first, because a network belongs to the user namespace that it
//! was made in.

use crate::process::{ChildPid, parent_of};
use rustix::thread::{ThreadNameSpaceType, move_into_thread_name_spaces};
use std::io;

/// Moves this process, which has one thread, into the network of the command that `supervisor` runs. False when that
/// command is not there any more.
pub(super) fn join(supervisor: ChildPid) -> io::Result<bool> {
    // The first process inside shows nothing of itself to anybody; the shell that it started does.
    let Some((first, shell)) = child_of(supervisor).and_then(|first| Some((first, child_of(first)?))) else {
        return Ok(false);
    };
    let pidfd = match shell.open() {
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        other => other?,
    };
    // The number may have become another's before it was opened: its namespaces are none of ours.
    if parent_of(shell) != Some(first) || parent_of(first) != Some(supervisor) {
        return Ok(false);
    }
    let both = ThreadNameSpaceType::USER | ThreadNameSpaceType::NETWORK;
    match move_into_thread_name_spaces(std::os::fd::AsFd::as_fd(&pidfd), both) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::SRCH) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

fn child_of(parent: ChildPid) -> Option<ChildPid> {
    let numbers = std::fs::read_dir("/proc").ok()?.flatten();
    let numbers = numbers.filter_map(|entry| entry.file_name().to_str()?.parse::<i64>().ok());
    let mut pids: Vec<ChildPid> = numbers.filter_map(|number| ChildPid::checked(number).ok()).collect();
    pids.sort_unstable();
    pids.into_iter().find(|pid| parent_of(*pid) == Some(parent))
}
