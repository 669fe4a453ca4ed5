//! Puts a command into the network of a background command whose server it may need.
//!
//! Neither command has access to hosts; they share a loopback interface and nothing else. The process that makes
//! namespaces first enters the namespaces of the other command's shell, because a network belongs to the user namespace
//! in which it was made.

use placet_process::{ChildPid, parent_of};
use rustix::thread::{ThreadNameSpaceType, move_into_thread_name_spaces};
use std::io;

/// Moves this process, which has one thread, into the network of the command that `supervisor` runs. False if that
/// command has ended.
pub(crate) fn join(supervisor: ChildPid) -> io::Result<bool> {
    // The first process inside hides its namespaces from everybody; the shell that it started does not.
    let Some((first, shell)) = child_of(supervisor).and_then(|first| Some((first, child_of(first)?))) else {
        return Ok(false);
    };
    let pidfd = match shell.open() {
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        other => other?,
    };
    // The number may have been reused before the process was opened: its namespaces are then unrelated.
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
