//! A command from placet's point of view: started, read, stopped.

use super::command_input::send_pipe;
use super::protocol::{DRAIN, PIPED, RUN};
use super::start_failure::StartFailure;
use super::{CommandInput, OutputCapture};
use rustix::pipe::PipeFlags;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};
use thiserror::Error;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::net::unix::pipe::Receiver;
use tokio_util::sync::CancellationToken;

/// How long a supervisor has to end everything before it is killed itself.
pub(super) const GRACE: Duration = Duration::from_secs(4);

/// A command line for `sh -c`.
#[derive(Clone, Debug)]
pub struct ShellCommand {
    pub line: String,
    pub cwd: PathBuf,
    /// placet itself: see `super::supervise`.
    pub supervisor: PathBuf,
    pub timeout: Duration,
    /// Environment variables that the command must not see.
    pub withheld: Vec<String>,
    /// What it reads.
    pub stdin: CommandInput,
    /// The description of the sandbox (`sandbox::Spec::to_words`), passed on unread. Without it the command has all
    /// rights of placet.
    pub sandbox: Option<Vec<u8>>,
}

/// A supervisor, the line to it, and files that it has not read yet.
type SpawnedSupervisor = (tokio::process::Child, UnixStream, [Option<tempfile::NamedTempFile>; 2]);

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandExit {
    Exit(i32),
    Signal(i32),
    TimedOut,
    Cancelled,
    /// The supervisor itself was killed.
    Lost,
}

#[derive(Debug)]
pub struct FinishedCommand {
    pub ending: CommandExit,
    /// Standard output and standard error, in the order in which they were written.
    pub output: OutputCapture,
    pub elapsed: Duration,
}

#[derive(Debug, Error)]
pub enum ProcessError {
    #[error("the working directory `{}` no longer exists", .0.display())]
    NoDirectory(PathBuf),
    #[error("the command could not be started: {0}")]
    Start(String),
}

impl CommandExit {
    /// Parses the supervisor's report about the end of its command.
    pub(super) fn said(words: &str) -> Result<CommandExit, ProcessError> {
        match words.split_once(' ') {
            Some(("exit", code)) => Ok(code.parse().map_or(CommandExit::Lost, CommandExit::Exit)),
            Some(("signal", number)) => Ok(number.parse().map_or(CommandExit::Lost, CommandExit::Signal)),
            _ => match StartFailure::read(words) {
                Some(failure) => Err(ProcessError::Start(failure.to_string())),
                None => Ok(CommandExit::Lost),
            },
        }
    }
}

impl ShellCommand {
    /// Runs the command to its end, to its timeout, or until `cancel`. Its output is returned in each case. A drop of
    /// the future ends the command as well.
    pub async fn run(
        self,
        cancel: &CancellationToken,
        mut on_output: impl FnMut(&[u8]) + Send,
    ) -> Result<FinishedCommand, ProcessError> {
        if !self.cwd.is_dir() {
            return Err(ProcessError::NoDirectory(self.cwd));
        }
        let start = Instant::now();
        let mut started = self.start().map_err(|e| ProcessError::Start(e.to_string()))?;
        let mut output = OutputCapture::default();
        let stopped = started.listen(self.timeout, cancel, |bytes| {
            output.push(bytes);
            on_output(bytes);
        });
        let stopped = stopped.await;
        let ending = started.read_exit_report().await?;
        // For a stopped command, the reason of the stop matters more than how it ended.
        let ending = stopped.unwrap_or(ending);
        Ok(FinishedCommand { ending, output, elapsed: start.elapsed() })
    }

    fn start(&self) -> std::io::Result<RunningSupervisor> {
        let (read, write) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let (child, line, _passed) = self.spawn(None, Some(write))?;
        Ok(RunningSupervisor { child, line, pipe: Receiver::from_owned_fd(read)?, _passed })
    }

    /// A supervisor whose command writes to `output`, or to the file `log`.
    pub(super) fn spawn(
        &self,
        log: Option<&Path>,
        output: Option<OwnedFd>,
    ) -> std::io::Result<SpawnedSupervisor> {
        let (mine, theirs) = std::os::unix::net::UnixStream::pair()?;
        // `UnixStream::from_std` below expects it.
        mine.set_nonblocking(true)?;
        let stdin = match &self.stdin {
            CommandInput::Nothing => None,
            CommandInput::Bytes(bytes) => Some(passed_file(bytes)?),
            CommandInput::Pipe(pipe) => {
                send_pipe(&mine, pipe)?;
                None
            }
        };
        let mut command = tokio::process::Command::new(&self.supervisor);
        command.arg(RUN);
        let sandbox = self.sandbox.as_deref().map(passed_file).transpose()?;
        for (name, file) in [("--stdin", &stdin), ("--sandbox", &sandbox)] {
            if let Some(file) = file {
                command.arg(name).arg(file.path());
            }
        }
        if let CommandInput::Pipe(_) = self.stdin {
            command.arg(PIPED);
        }
        if let Some(log) = log {
            command.arg("--log").arg(log);
        }
        command.arg("--").arg(&self.line).current_dir(&self.cwd);
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        match output {
            Some(write) => command.stdout(Stdio::from(write.try_clone()?)).stderr(Stdio::from(write)),
            None => command.stdout(Stdio::null()).stderr(Stdio::null()),
        };
        self.set_environment(&mut command);
        let child = command.spawn()?;
        Ok((child, UnixStream::from_std(mine)?, [stdin, sandbox]))
    }

    /// Sets an environment in which no program waits for a person.
    fn set_environment(&self, command: &mut tokio::process::Command) {
        const NO_EDITOR: &str =
            "echo 'no editor here: pass the text with -m or -F, or use --no-edit' >&2; false";
        for (name, value) in [
            ("PAGER", "cat"),
            ("GIT_PAGER", "cat"),
            ("MANPAGER", "cat"),
            ("GIT_EDITOR", NO_EDITOR),
            ("GIT_SEQUENCE_EDITOR", NO_EDITOR),
            ("EDITOR", "false"),
            ("VISUAL", "false"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("SSH_ASKPASS_REQUIRE", "never"),
            ("DEBIAN_FRONTEND", "noninteractive"),
            ("TERM", "dumb"),
            ("NO_COLOR", "1"),
            ("PLACET_COMMAND", "1"),
        ] {
            command.env(name, value);
        }
        for name in
            ["GIT_ASKPASS", "SSH_ASKPASS", "SUDO_ASKPASS", "CLICOLOR_FORCE", "FORCE_COLOR", "LS_COLORS"]
        {
            command.env_remove(name);
        }
        for name in &self.withheld {
            command.env_remove(name);
        }
    }
}

/// A file that only the supervisor and its starter may read.
fn passed_file(bytes: &[u8]) -> std::io::Result<tempfile::NamedTempFile> {
    let write = || {
        let mut file = tempfile::NamedTempFile::new()?;
        file.write_all(bytes)?;
        file.flush()?;
        Ok(file)
    };
    write().map_err(|e: std::io::Error| {
        let dir = std::env::temp_dir();
        let why = format!(
            "cannot write to `{}`, which placet uses to pass commands: {e}; free space there, or set TMPDIR",
            dir.display()
        );
        std::io::Error::new(e.kind(), why)
    })
}

/// A running supervisor.
struct RunningSupervisor {
    child: tokio::process::Child,
    /// Closing it ends the command.
    line: UnixStream,
    pipe: Receiver,
    /// Removed when the command has ended.
    _passed: [Option<tempfile::NamedTempFile>; 2],
}

impl RunningSupervisor {
    /// Reads output until there is no more. `Some` if the command had to be stopped.
    async fn listen(
        &mut self,
        timeout: Duration,
        cancel: &CancellationToken,
        mut take: impl FnMut(&[u8]),
    ) -> Option<CommandExit> {
        let mut stopped = None;
        let mut gone = false;
        let far = Duration::from_secs(365 * 24 * 3600);
        let timer = tokio::time::sleep(timeout.min(far));
        // Far in the future until the supervisor has ended, or was asked to stop.
        let last = tokio::time::sleep(far);
        tokio::pin!(timer, last);
        let mut chunk = vec![0; 65_536];
        loop {
            tokio::select! {
                read = self.pipe.read(&mut chunk) => match read {
                    Ok(0) | Err(_) => return stopped,
                    Ok(length) => take(chunk.get(..length).unwrap_or_default()),
                },
                () = cancel.cancelled(), if stopped.is_none() => stopped = Some(CommandExit::Cancelled),
                () = &mut timer, if stopped.is_none() => stopped = Some(CommandExit::TimedOut),
                _ = self.child.wait(), if !gone => {
                    gone = true;
                    last.as_mut().reset(tokio::time::Instant::now() + DRAIN);
                    continue;
                }
                () = &mut last => {
                    // Fails if it has ended already, and only a remaining process keeps the pipe open.
                    let _ = self.child.start_kill();
                    return stopped;
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
        let _ = tokio::time::timeout(GRACE, self.child.wait()).await;
        if heard.is_err() {
            return Ok(CommandExit::Lost);
        }
        CommandExit::said(&words)
    }
}
