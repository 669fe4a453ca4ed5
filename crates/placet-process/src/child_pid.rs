//! The pid of a child, as a type that always means exactly one process.
//!
//! `kill`, `waitpid` and `setns` accept every number: 0 is the caller's group, -1 is every process of the user, a
//! negative number is a group, and the group of process 1 is again every process. A failed `clone` returns -1, and a
//! release build once sent SIGKILL to it. Therefore numbers become a [`ChildPid`] only here, and every call that takes
//! a pid takes a [`ChildPid`]. `tests/architecture.rs` checks that no other file makes such a call.

use rustix::process::{Pid, Signal, WaitOptions, WaitStatus};
use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// The pid of one process below this one: at least 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChildPid(i32);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the system returned {0}, which cannot be the pid of a child process")]
pub struct InvalidChildPid(pub i64);

impl From<InvalidChildPid> for io::Error {
    fn from(error: InvalidChildPid) -> io::Error {
        io::Error::other(error)
    }
}

/// The result of a search for ended children.
#[derive(Debug)]
pub enum ReapResult {
    Ended(ChildPid, WaitStatus),
    /// There are children, and all of them run.
    Running,
    /// There are no children.
    Nobody,
}

/// What happened to a child, for a process that also watches jobs being stopped and continued.
#[cfg(target_os = "linux")]
#[derive(Debug)]
pub enum JobChange {
    Ended(ChildPid, WaitStatus),
    Stopped(ChildPid),
    Continued(ChildPid),
    /// There are children, and nothing happened to them.
    Nothing,
    /// There are no children.
    Nobody,
}

/// Whether to wait until something happens.
#[cfg(target_os = "linux")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitMode {
    Block,
    Poll,
}

impl ChildPid {
    /// The only constructor. It refuses 1, too: process 1 of a namespace is nobody's child in it.
    pub fn checked(number: impl Into<i64>) -> Result<ChildPid, InvalidChildPid> {
        let number = number.into();
        match i32::try_from(number) {
            Ok(pid) if pid >= 2 => Ok(ChildPid(pid)),
            _ => Err(InvalidChildPid(number)),
        }
    }

    /// The pid of a child that was started and not yet waited for.
    pub fn of(child: &std::process::Child) -> Result<ChildPid, InvalidChildPid> {
        ChildPid::checked(child.id())
    }

    fn pid(self) -> rustix::io::Result<Pid> {
        Pid::from_raw(self.0).ok_or(rustix::io::Errno::SRCH)
    }

    /// For a sandbox's description, which is JSON; the number is checked again when it is read.
    pub fn number(self) -> u32 {
        self.0.unsigned_abs()
    }

    /// `/proc/PID`.
    pub fn proc_dir(self) -> PathBuf {
        PathBuf::from(format!("/proc/{}", self.0))
    }

    /// Only for a child that was not waited for: afterwards another process may have the number.
    pub fn signal(self, signal: Signal) -> rustix::io::Result<()> {
        rustix::process::kill_process(self.pid()?, signal)
    }

    /// Signals the group that this child leads. As with [`ChildPid::signal`], the child must not have been waited for:
    /// as long as it is at least a zombie, no other group can have its number.
    pub fn signal_group(self, signal: Signal) -> rustix::io::Result<()> {
        rustix::process::kill_process_group(self.pid()?, signal)
    }

    /// A descriptor of this process, which remains valid when another process gets the number.
    #[cfg(target_os = "linux")]
    pub fn open(self) -> rustix::io::Result<std::os::fd::OwnedFd> {
        rustix::process::pidfd_open(self.pid()?, rustix::process::PidfdFlags::empty())
    }

    /// Waits for its end.
    #[cfg(target_os = "linux")]
    pub fn wait(self) -> rustix::io::Result<Option<WaitStatus>> {
        loop {
            match rustix::process::waitpid(Some(self.pid()?), WaitOptions::empty()) {
                Err(rustix::io::Errno::INTR) => {}
                ended => return Ok(ended?.map(|(_, status)| status)),
            }
        }
    }

    /// Waits for the end of any child.
    #[cfg(target_os = "linux")]
    pub fn wait_any() -> rustix::io::Result<ReapResult> {
        reap(WaitOptions::empty())
    }

    /// Waits for the next change of any child, or asks whether there was one.
    #[cfg(target_os = "linux")]
    pub fn job_change(mode: WaitMode) -> rustix::io::Result<JobChange> {
        let changes = WaitOptions::UNTRACED | WaitOptions::CONTINUED;
        let options = if mode == WaitMode::Poll { changes | WaitOptions::NOHANG } else { changes };
        loop {
            return match rustix::process::wait(options) {
                Ok(Some((pid, status))) => match ChildPid::checked(pid.as_raw_nonzero().get()) {
                    Ok(child) if status.stopped() => Ok(JobChange::Stopped(child)),
                    Ok(child) if status.continued() => Ok(JobChange::Continued(child)),
                    Ok(child) => Ok(JobChange::Ended(child, status)),
                    Err(_) => continue,
                },
                Ok(None) => Ok(JobChange::Nothing),
                Err(rustix::io::Errno::INTR) => continue,
                Err(rustix::io::Errno::CHILD) => Ok(JobChange::Nobody),
                Err(error) => Err(error),
            };
        }
    }

    /// Makes the group that this child leads the foreground group of its terminal.
    #[cfg(target_os = "linux")]
    pub fn put_in_foreground(self, terminal: impl rustix::fd::AsFd) -> rustix::io::Result<()> {
        rustix::termios::tcsetpgrp(terminal, self.pid()?)
    }

    /// Reaps a child that has ended, if there is one.
    pub fn reap_any() -> rustix::io::Result<ReapResult> {
        reap(WaitOptions::NOHANG)
    }
}

impl std::fmt::Display for ChildPid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

fn reap(options: WaitOptions) -> rustix::io::Result<ReapResult> {
    loop {
        return match rustix::process::wait(options) {
            Ok(Some((pid, status))) => match ChildPid::checked(pid.as_raw_nonzero().get()) {
                Ok(child) => Ok(ReapResult::Ended(child, status)),
                Err(_) => continue,
            },
            Ok(None) => Ok(ReapResult::Running),
            Err(rustix::io::Errno::INTR) => continue,
            Err(rustix::io::Errno::CHILD) => Ok(ReapResult::Nobody),
            Err(error) => Err(error),
        };
    }
}

/// Whether a process with this number, which comes from a file name, exists. A process that this user may not signal
/// exists as well.
pub fn is_running(number: i32) -> bool {
    let Some(pid) = ChildPid::checked(number).ok().and_then(|pid| pid.pid().ok()) else { return false };
    !matches!(rustix::process::test_kill_process(pid), Err(rustix::io::Errno::SRCH))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_failed_call_returns_is_never_a_pid() {
        for number in
            [i64::MIN, -4_294_967_295, i64::from(i32::MIN), -2, -1, 0, 1, 1 << 31, 1 << 32, i64::MAX]
        {
            assert_eq!(ChildPid::checked(number), Err(InvalidChildPid(number)));
        }
        for number in [2, 4711, i64::from(i32::MAX)] {
            assert_eq!(ChildPid::checked(number).map(|pid| pid.to_string()), Ok(number.to_string()));
        }
        assert!(!is_running(-1) && !is_running(0), "neither is one process");
    }
}
