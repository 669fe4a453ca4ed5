//! A command that runs in the background: its supervisor writes its output to a file. The command ends by itself, when
//! it is stopped, or with placet, unless it shall outlive placet.

use super::command::PassedFiles;
use crate::supervisor::protocol::{DRAIN, GRACE, STAY};
use crate::supervisor::supervisor_child::SupervisorChild;
use crate::{ChildPid, CommandExit, ProcessError, ShellCommand};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// A supervisor of a background command.
#[derive(Debug)]
pub struct BackgroundSupervisor {
    child: SupervisorChild,
    line: UnixStream,
    sandbox_report: Option<String>,
    /// The supervisor reads these files when it starts; they are removed when it has ended.
    _passed: PassedFiles,
    /// Writes the log of a command that began in the foreground; otherwise the supervisor does.
    reader: Option<JoinHandle<()>>,
}

impl ShellCommand {
    /// Starts the command. Its output goes to `log`, which is emptied first, up to [`crate::LOG`] bytes.
    pub fn begin(&self, log: &Path) -> Result<BackgroundSupervisor, ProcessError> {
        if !self.cwd.is_dir() {
            return Err(ProcessError::NoDirectory(self.cwd.clone()));
        }
        let failed = |e: std::io::Error| ProcessError::Start(e.to_string());
        let (child, line, _passed) = self.spawn(Some(log), None).map_err(failed)?;
        let child = SupervisorChild::Started(child);
        Ok(BackgroundSupervisor { child, line, sandbox_report: None, _passed, reader: None })
    }
}

impl BackgroundSupervisor {
    /// The supervisor of a command that began in the foreground. `reader` ends with the command's output.
    pub(crate) fn moved(
        child: SupervisorChild,
        line: UnixStream,
        _passed: PassedFiles,
        reader: JoinHandle<()>,
    ) -> BackgroundSupervisor {
        BackgroundSupervisor { child, line, sandbox_report: None, _passed, reader: Some(reader) }
    }

    /// True if the output reaches the log without this process.
    pub fn writes_own_log(&self) -> bool {
        self.reader.is_none()
    }

    /// The supervisor: a SIGTERM to it ends the command and all the processes that it started. `None` if it has ended.
    pub fn pid(&self) -> Option<ChildPid> {
        self.child.pid()
    }

    /// Waits for its end, for `timeout`, or for `cancel`; either of the last two ends the command. After `stay` the
    /// command outlives this process; a drop before `stay` ends the command.
    pub async fn ended(
        &mut self,
        timeout: Duration,
        cancel: &CancellationToken,
        stay: &Notify,
    ) -> Result<CommandExit, ProcessError> {
        let timer = tokio::time::sleep(timeout.min(Duration::from_secs(365 * 24 * 3600)));
        tokio::pin!(timer);
        let mut said = Vec::new();
        let stopped = loop {
            tokio::select! {
                read = self.line.read_buf(&mut said) => match read {
                    Ok(0) | Err(_) => break None,
                    Ok(_) => {}
                },
                () = cancel.cancelled() => break Some(CommandExit::Cancelled),
                () = &mut timer => break Some(CommandExit::TimedOut),
                () = stay.notified() => drop(self.line.write_all(&[STAY]).await),
            }
        };
        if stopped.is_some() {
            // Half closed: the last report can still be read.
            let _ = self.line.shutdown().await;
            let rest = tokio::time::timeout(GRACE, self.line.read_to_end(&mut said)).await;
            if rest.is_err() {
                self.child.kill();
            }
        }
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        if let Some(mut reader) = self.reader.take()
            && tokio::time::timeout(DRAIN, &mut reader).await.is_err()
        {
            // Only a process that escaped its supervisor still has the pipe open.
            reader.abort();
        }
        let said = String::from_utf8_lossy(&said);
        let ending = CommandExit::said(&said)?;
        self.sandbox_report = CommandExit::sandbox_report(&said);
        Ok(stopped.unwrap_or(ending))
    }

    /// What the sandbox reported when the command ended, unread, as in [`FinishedCommand`](crate::FinishedCommand).
    pub fn sandbox_report(&mut self) -> Option<String> {
        self.sandbox_report.take()
    }
}
