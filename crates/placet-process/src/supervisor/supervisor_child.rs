//! The process of a supervisor, which tasks of a runtime wait for.

use crate::ChildPid;
use std::io;
use std::process::Child;
use tokio::task::JoinHandle;

/// A supervisor, started by the runtime or before there was one.
#[derive(Debug)]
pub(crate) enum SupervisorChild {
    Started(tokio::process::Child),
    StartedBefore(EarlyChild),
}

/// The runtime does not know this child: a thread for blocking work waits for its end.
#[derive(Debug)]
pub(crate) struct EarlyChild {
    pid: ChildPid,
    /// Good for a signal also where the thread has reaped the process a moment ago.
    #[cfg(target_os = "linux")]
    descriptor: std::os::fd::OwnedFd,
    end: JoinHandle<()>,
    has_ended: bool,
}

impl SupervisorChild {
    /// A child that was started without the runtime. Call it within the runtime.
    pub(crate) fn started_before(mut child: Child) -> io::Result<SupervisorChild> {
        let pid = ChildPid::of(&child)?;
        Ok(SupervisorChild::StartedBefore(EarlyChild {
            pid,
            #[cfg(target_os = "linux")]
            descriptor: pid.open()?,
            end: tokio::task::spawn_blocking(move || drop(child.wait())),
            has_ended: false,
        }))
    }

    /// Waits for its end. A call that is dropped loses nothing.
    pub(crate) async fn wait(&mut self) {
        match self {
            SupervisorChild::Started(child) => drop(child.wait().await),
            SupervisorChild::StartedBefore(early) if early.has_ended => {}
            SupervisorChild::StartedBefore(early) => {
                let _ = (&mut early.end).await;
                early.has_ended = true;
            }
        }
    }

    /// Kills it, if it has not ended.
    pub(crate) fn kill(&mut self) {
        match self {
            SupervisorChild::Started(child) => drop(child.start_kill()),
            #[cfg(target_os = "linux")]
            SupervisorChild::StartedBefore(early) => {
                let kill = rustix::process::Signal::KILL;
                let _ = rustix::process::pidfd_send_signal(&early.descriptor, kill);
            }
            // It ends with its line.
            #[cfg(not(target_os = "linux"))]
            SupervisorChild::StartedBefore(_) => {}
        }
    }

    /// `None` if it has ended and was waited for.
    pub(crate) fn pid(&self) -> Option<ChildPid> {
        match self {
            SupervisorChild::Started(child) => child.id().and_then(|id| ChildPid::checked(id).ok()),
            SupervisorChild::StartedBefore(early) => (!early.end.is_finished()).then_some(early.pid),
        }
    }
}
