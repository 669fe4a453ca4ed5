//! What process 1 of a sandbox reports on its line: that a command with a terminal was stopped or continued, and last
//! how the command ended.

use super::protocol::{CONTINUE, CONTINUED, STOPPED};
use std::io::Read;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;

/// What process 1 reports while it lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JobReport {
    /// [`STOPPED`] or [`CONTINUED`].
    Line(&'static str),
    /// The command has ended. Process 1 ends when the last process of the sandbox has ended.
    Closed,
}

/// The line to process 1, read from the supervisor.
pub(crate) enum JobReports {
    /// There is no sandbox.
    Nothing,
    Lines {
        stream: UnixStream,
        unread: Vec<u8>,
        ended: bool,
    },
}

impl JobReports {
    pub(crate) fn of(line: Option<std::os::unix::net::UnixStream>) -> std::io::Result<JobReports> {
        let Some(line) = line else { return Ok(JobReports::Nothing) };
        line.set_nonblocking(true)?;
        Ok(JobReports::Lines { stream: UnixStream::from_std(line)?, unread: Vec::new(), ended: false })
    }

    /// The next report, and [`JobReport::Closed`] once; waits for ever where there is none. A drop of the future loses
    /// nothing.
    pub(crate) async fn next(&mut self) -> JobReport {
        loop {
            let JobReports::Lines { stream, unread, ended } = self else {
                return std::future::pending().await;
            };
            if let Some(end) = memchr::memchr(b'\n', unread) {
                let line: Vec<u8> = unread.drain(..=end).collect();
                match line.strip_suffix(b"\n") {
                    Some(line) if line == STOPPED.as_bytes() => return JobReport::Line(STOPPED),
                    Some(line) if line == CONTINUED.as_bytes() => return JobReport::Line(CONTINUED),
                    _ => continue,
                }
            }
            if *ended {
                return std::future::pending().await;
            }
            *ended = !matches!(stream.read_buf(unread).await, Ok(read) if read > 0);
            if *ended {
                return JobReport::Closed;
            }
        }
    }

    /// Lets the command continue.
    pub(crate) async fn resume(&mut self) {
        if let JobReports::Lines { stream, .. } = self {
            let _ = stream.write_all(&[CONTINUE]).await;
        }
    }

    /// The report about the end. The sandbox's own exit says less: nobody can signal the first process of a namespace.
    pub(crate) fn exit_report(self) -> Option<String> {
        let (line, mut said) = match self {
            JobReports::Nothing => return None,
            JobReports::Lines { stream, unread, .. } => (stream.into_std().ok()?, unread),
        };
        // Its writers have ended by now; a writer that does not end must not be waited for.
        line.set_nonblocking(true).ok()?;
        let _ = (&line).read_to_end(&mut said);
        let said = String::from_utf8_lossy(&said);
        let last = said.trim_end().lines().last().unwrap_or_default();
        Some(last.to_string()).filter(|last| !last.is_empty() && last != STOPPED && last != CONTINUED)
    }
}
