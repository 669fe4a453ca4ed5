//! A command that runs in the background: its supervisor writes its output to a file. The command ends by itself, when
//! it is stopped, or with placet, unless it shall outlive placet.

use super::command::GRACE;
use super::protocol::STAY;
use super::{ChildPid, CommandExit, ProcessError, ShellCommand};
use std::path::Path;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// A supervisor of a background command.
#[derive(Debug)]
pub struct BackgroundSupervisor {
    child: tokio::process::Child,
    line: UnixStream,
    /// The supervisor reads these files when it starts; they are removed when it has ended.
    _passed: [Option<tempfile::NamedTempFile>; 2],
}

impl ShellCommand {
    /// Starts the command. Its output goes to `log`, which is emptied first, up to [`super::LOG`] bytes.
    pub fn begin(&self, log: &Path) -> Result<BackgroundSupervisor, ProcessError> {
        if !self.cwd.is_dir() {
            return Err(ProcessError::NoDirectory(self.cwd.clone()));
        }
        let failed = |e: std::io::Error| ProcessError::Start(e.to_string());
        let (child, line, _passed) = self.spawn(Some(log), None).map_err(failed)?;
        Ok(BackgroundSupervisor { child, line, _passed })
    }
}

impl BackgroundSupervisor {
    /// The supervisor: a SIGTERM to it ends the command and all the processes that it started. `None` if it has ended.
    pub fn pid(&self) -> Option<ChildPid> {
        self.child.id().and_then(|id| ChildPid::checked(id).ok())
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
                let _ = self.child.start_kill();
            }
        }
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        let ending = CommandExit::said(&String::from_utf8_lossy(&said))?;
        Ok(stopped.unwrap_or(ending))
    }
}
