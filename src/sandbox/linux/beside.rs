//! A command beside another one: in the network of a background command, whose server it may want to reach.
//!
//! Both have no way out; they share a loopback interface and nothing else. Whoever makes namespaces is put into those of
//! the other one's shell first, because a network belongs to the user namespace that it was made in.

use rustix::process::{Pid, PidfdFlags, pidfd_open};
use rustix::thread::{ThreadNameSpaceType, move_into_thread_name_spaces};
use std::io;

/// Moves this process, which has one thread, into the network of the command that the supervisor `pid` runs. False when
/// that command is not there any more.
pub(super) fn join(pid: u32) -> io::Result<bool> {
    // The first process inside shows nothing of itself to anybody; the shell that it started does.
    let Some(shell) = child_of(pid).and_then(child_of) else { return Ok(false) };
    let Some(shell) = i32::try_from(shell).ok().and_then(Pid::from_raw) else { return Ok(false) };
    let pidfd = match pidfd_open(shell, PidfdFlags::empty()) {
        Err(rustix::io::Errno::SRCH) => return Ok(false),
        other => other?,
    };
    let both = ThreadNameSpaceType::USER | ThreadNameSpaceType::NETWORK;
    match move_into_thread_name_spaces(std::os::fd::AsFd::as_fd(&pidfd), both) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::SRCH) => Ok(false),
        Err(e) => Err(e.into()),
    }
}

fn child_of(parent: u32) -> Option<u32> {
    let numbers = std::fs::read_dir("/proc").ok()?.flatten();
    let mut numbers: Vec<u32> =
        numbers.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers.into_iter().find(|number| crate::process::parent_of(*number) == Some(parent))
}
