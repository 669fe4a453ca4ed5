//! A command that runs in the foreground: its output is read here, while somebody waits for its end. A person can send
//! it to the background; then it runs on, and its output goes to a file.

use super::command_clock::CommandClock;
use super::output_log::OutputLog;
use crate::close_on_exec;
use crate::supervisor::protocol::{DRAIN, GRACE};
use crate::supervisor::ready::OrderedSupervisor;
use crate::supervisor::supervisor_child::SupervisorChild;
use crate::{
    BackgroundSupervisor, ChildPid, CommandExit, FinishedCommand, OutputCapture, ProcessError,
    ReadySupervisor, ShellCommand,
};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

/// Longer than anybody waits; a longer time overflows the clock.
const FAR: Duration = Duration::from_secs(365 * 24 * 3600);

/// A running command whose output is read here. A drop ends the command.
#[derive(Debug)]
pub struct ForegroundCommand {
    child: SupervisorChild,
    /// Closing it ends the command.
    line: UnixStream,
    pipe: Receiver,
    /// Removed when the command has ended.
    passed: [Option<tempfile::NamedTempFile>; 2],
    output: OutputCapture,
    /// Of a command that has ended.
    sandbox_report: Option<String>,
    started: Instant,
    timeout: Duration,
    clock: Arc<CommandClock>,
}

/// Why the output is not read any more.
enum ListenEnd {
    /// There is no more of it. `Some` if the command had to be stopped.
    Output(Option<CommandExit>),
    /// Somebody asked to send the command to the background.
    Asked,
}

impl ShellCommand {
    /// Starts the command, below a supervisor that is ready, if there is one; [`ForegroundCommand::ended`] waits for its end. A
    /// command without a sandbox gets a supervisor of its
    /// own: one that was started before still has the variables that are withheld from the command.
    pub fn begin_foreground_below(
        self,
        ready: Option<ReadySupervisor>,
    ) -> Result<ForegroundCommand, ProcessError> {
        if !self.cwd.is_dir() {
            return Err(ProcessError::NoDirectory(self.cwd));
        }
        let started = Instant::now();
        let failed = |e: std::io::Error| ProcessError::Start(e.to_string());
        // Where the waiting supervisor cannot be used, nothing has run, and another one is started.
        let ordered = ready.filter(|_| self.sandbox.is_some()).and_then(|ready| self.order(ready).ok());
        let (child, line, passed, read) = match ordered {
            Some((OrderedSupervisor { child, line, output }, passed)) => {
                let child = SupervisorChild::started_before(child).map_err(failed)?;
                (child, UnixStream::from_std(line).map_err(failed)?, passed, output)
            }
            None => {
                let (read, write) = close_on_exec::pipe().map_err(|e| failed(e.into()))?;
                let (child, line, passed) = self.spawn(None, Some(write)).map_err(failed)?;
                (SupervisorChild::Started(child), line, passed, read)
            }
        };
        let pipe = Receiver::from_owned_fd(read).map_err(failed)?;
        let (output, sandbox_report, timeout) = (OutputCapture::default(), None, self.timeout);
        let clock = Arc::default();
        Ok(ForegroundCommand { child, line, pipe, passed, output, sandbox_report, started, timeout, clock })
    }
}

impl ForegroundCommand {
    /// Waits for the end of the command, to its timeout, or until `cancel`. `None` when `asked` was notified before: the
    /// command runs on, and the caller either waits again or sends it to the background.
    pub async fn ended(
        &mut self,
        cancel: &CancellationToken,
        asked: &Notify,
        on_output: impl FnMut(&[u8]) + Send,
    ) -> Result<Option<CommandExit>, ProcessError> {
        let stopped = match self.listen(cancel, asked, on_output).await {
            ListenEnd::Asked => return Ok(None),
            ListenEnd::Output(stopped) => stopped,
        };
        let ending = self.read_exit_report().await?;
        // For a stopped command, the reason of the stop matters more than how it ended.
        Ok(Some(stopped.unwrap_or(ending)))
    }

    /// Waits for the end of the command, to its timeout, or until `cancel`; nobody can send it to the background.
    pub async fn run(
        mut self,
        cancel: &CancellationToken,
        mut on_output: impl FnMut(&[u8]) + Send,
    ) -> Result<FinishedCommand, ProcessError> {
        let never = Notify::new();
        loop {
            if let Some(ending) = self.ended(cancel, &never, &mut on_output).await? {
                return Ok(self.finish(ending));
            }
        }
    }

    /// The result of a command that has ended.
    pub fn finish(self, ending: CommandExit) -> FinishedCommand {
        let ForegroundCommand { output, sandbox_report, started, .. } = self;
        FinishedCommand { ending, output, elapsed: started.elapsed(), sandbox_report }
    }

    /// The supervisor. `None` if it has ended.
    pub fn pid(&self) -> Option<ChildPid> {
        self.child.pid()
    }

    /// When the command was started.
    pub fn started(&self) -> Instant {
        self.started
    }

    /// What stops the time of the command.
    pub fn clock(&self) -> Arc<CommandClock> {
        Arc::clone(&self.clock)
    }

    /// Makes the file for the output of a background command, with the output so far in it.
    pub fn log_to(&mut self, path: &Path) -> std::io::Result<OutputLog> {
        let mut log = OutputLog::create(path)?;
        log.write_first(&self.output.whole())?;
        Ok(log)
    }

    /// The command in the background: from now on its output goes to `log`.
    pub fn into_background(self, log: OutputLog) -> BackgroundSupervisor {
        let ForegroundCommand { child, line, pipe, passed, .. } = self;
        let reader = tokio::spawn(async move { drop(log.keep(pipe).await) });
        BackgroundSupervisor::moved(child, line, passed, reader)
    }

    /// Reads output until there is no more.
    async fn listen(
        &mut self,
        cancel: &CancellationToken,
        asked: &Notify,
        mut on_output: impl FnMut(&[u8]) + Send,
    ) -> ListenEnd {
        let mut stopped = None;
        let mut gone = false;
        let deadline = self.started + self.timeout.min(FAR);
        let timer = tokio::time::sleep_until(deadline.into());
        // Far in the future until the supervisor has ended, or was asked to stop.
        let last = tokio::time::sleep(FAR);
        tokio::pin!(timer, last);
        let mut chunk = vec![0; 65_536];
        loop {
            tokio::select! {
                read = self.pipe.read(&mut chunk) => match read {
                    Ok(0) | Err(_) => return ListenEnd::Output(stopped),
                    Ok(length) => {
                        let bytes = chunk.get(..length).unwrap_or_default();
                        self.output.push(bytes);
                        on_output(bytes);
                    }
                },
                () = cancel.cancelled(), if stopped.is_none() => stopped = Some(CommandExit::Cancelled),
                () = &mut timer, if stopped.is_none() => match self.clock.rest(deadline) {
                    Some(later) => timer.as_mut().reset(later.into()),
                    None => stopped = Some(CommandExit::TimedOut),
                },
                // A command that is ending is not sent anywhere.
                () = asked.notified(), if stopped.is_none() && !gone => return ListenEnd::Asked,
                _ = self.child.wait(), if !gone => {
                    gone = true;
                    last.as_mut().reset(tokio::time::Instant::now() + DRAIN);
                    continue;
                }
                () = &mut last => {
                    // Fails if it has ended already, and only a remaining process keeps the pipe open.
                    self.child.kill();
                    return ListenEnd::Output(stopped);
                }
            }
            if stopped.is_some() && !gone && last.deadline() > tokio::time::Instant::now() + GRACE {
                // Half closed: the last report can still be read.
                let _ = self.line.shutdown().await;
                last.as_mut().reset(tokio::time::Instant::now() + GRACE);
            }
        }
    }

    async fn read_exit_report(&mut self) -> Result<CommandExit, ProcessError> {
        let mut words = String::new();
        let heard = tokio::time::timeout(GRACE, self.line.read_to_string(&mut words)).await;
        if heard.is_err() || words.is_empty() {
            let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        }
        if heard.is_err() {
            return Ok(CommandExit::Lost);
        }
        // After its report the supervisor has nothing left to do, and its end is not waited for.
        self.sandbox_report = CommandExit::sandbox_report(&words);
        CommandExit::said(&words)
    }
}
