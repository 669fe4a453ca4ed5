//! A command from placet's point of view: started, read, stopped.

use super::command_input::send_pipe;
use crate::supervisor::protocol::{DESCRIBED, PIPED, RUN};
use crate::supervisor::ready::OrderedSupervisor;
use crate::supervisor::start_failure::StartFailure;
use crate::{CommandInput, OutputCapture, ReadySupervisor};
use std::ffi::OsStr;
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use thiserror::Error;
use tokio::net::UnixStream;
use tokio_util::sync::CancellationToken;

/// A command line for `sh -c`.
#[derive(Clone, Debug)]
pub struct ShellCommand {
    pub line: String,
    pub cwd: PathBuf,
    /// placet itself: see `crate::supervisor::supervise`.
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
/// The input and the description of the sandbox, which the supervisor reads when it starts.
pub(crate) type PassedFiles = [Option<tempfile::NamedTempFile>; 2];

type SpawnedSupervisor = (tokio::process::Child, UnixStream, PassedFiles);

/// A supervisor that is about to be started.
pub(crate) struct PreparedSupervisor {
    pub(crate) command: std::process::Command,
    /// placet's end of the line.
    pub(crate) line: std::os::unix::net::UnixStream,
    pub(crate) passed: PassedFiles,
}

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
    /// What the sandbox reported, unread: `sandbox::NetworkRecord::from_words` reads it.
    pub sandbox_report: Option<String>,
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
    pub(crate) fn said(words: &str) -> Result<CommandExit, ProcessError> {
        let (first, _) = words.split_once('\n').unwrap_or((words, ""));
        match first.split_once(' ') {
            Some(("exit", code)) => Ok(code.parse().map_or(CommandExit::Lost, CommandExit::Exit)),
            Some(("signal", number)) => Ok(number.parse().map_or(CommandExit::Lost, CommandExit::Signal)),
            _ => match StartFailure::read(words) {
                Some(failure) => Err(ProcessError::Start(failure.to_string())),
                None => Ok(CommandExit::Lost),
            },
        }
    }

    /// The report of the sandbox, which follows the report about the end.
    pub(crate) fn sandbox_report(words: &str) -> Option<String> {
        words.split_once('\n').map(|(_, report)| report.to_string())
    }
}

impl ShellCommand {
    /// Runs the command to its end, to its timeout, or until `cancel`. Its output is returned in each case. A drop of
    /// the future ends the command as well.
    pub async fn run(
        self,
        cancel: &CancellationToken,
        on_output: impl FnMut(&[u8]) + Send,
    ) -> Result<FinishedCommand, ProcessError> {
        self.begin_foreground_below(None)?.run(cancel, on_output).await
    }

    /// A supervisor whose command writes to `output`, or to the file `log`.
    pub(crate) fn spawn(
        &self,
        log: Option<&Path>,
        output: Option<OwnedFd>,
    ) -> std::io::Result<SpawnedSupervisor> {
        let PreparedSupervisor { mut command, line, passed } = self.prepare()?;
        if let Some(log) = log {
            command.arg("--log").arg(log);
        }
        command.arg("--").arg(&self.line);
        match output {
            Some(write) => command.stdout(Stdio::from(write.try_clone()?)).stderr(Stdio::from(write)),
            None => command.stdout(Stdio::null()).stderr(Stdio::null()),
        };
        self.set_environment(&mut command);
        let child = tokio::process::Command::from(command).spawn()?;
        Ok((child, UnixStream::from_std(line)?, passed))
    }

    /// The same with a supervisor that waits for an order. Fails if it cannot be used; then nothing has run.
    pub(crate) fn order(&self, ready: ReadySupervisor) -> std::io::Result<(OrderedSupervisor, PassedFiles)> {
        let (mut command, passed) = self.described_in_order()?;
        command.arg("--").arg(&self.line);
        self.set_environment(&mut command);
        Ok((ready.order(&command, &self.stdin)?, passed))
    }

    /// The supervisor's program and arguments up to the command line, which the caller adds.
    pub(crate) fn prepare(&self) -> std::io::Result<PreparedSupervisor> {
        let (mut command, passed) = self.described()?;
        let (mine, theirs) = std::os::unix::net::UnixStream::pair()?;
        // tokio and the loop of a terminal expect it.
        mine.set_nonblocking(true)?;
        if let CommandInput::Pipe(pipe) = &self.stdin {
            send_pipe(&mine, pipe)?;
        }
        command.stdin(Stdio::from(OwnedFd::from(theirs)));
        Ok(PreparedSupervisor { command, line: mine, passed })
    }

    fn described(&self) -> std::io::Result<(std::process::Command, PassedFiles)> {
        let (mut command, stdin) = self.without_sandbox()?;
        let sandbox = self.sandbox.as_deref().map(passed_file).transpose()?;
        if let Some(file) = &sandbox {
            command.arg("--sandbox").arg(file.path());
        }
        Ok((command, [stdin, sandbox]))
    }

    /// The same for an order, which has no limit that a description could exceed.
    pub(crate) fn described_in_order(&self) -> std::io::Result<(std::process::Command, PassedFiles)> {
        let (mut command, stdin) = self.without_sandbox()?;
        if let Some(words) = &self.sandbox {
            command.arg(DESCRIBED).arg(OsStr::from_bytes(words));
        }
        Ok((command, [stdin, None]))
    }

    fn without_sandbox(&self) -> std::io::Result<(std::process::Command, Option<tempfile::NamedTempFile>)> {
        let stdin = match &self.stdin {
            CommandInput::Nothing | CommandInput::Pipe(_) => None,
            CommandInput::Bytes(bytes) => Some(passed_file(bytes)?),
        };
        let mut command = std::process::Command::new(&self.supervisor);
        command.arg(RUN);
        if let Some(file) = &stdin {
            command.arg("--stdin").arg(file.path());
        }
        if let CommandInput::Pipe(_) = self.stdin {
            command.arg(PIPED);
        }
        command.current_dir(&self.cwd);
        Ok((command, stdin))
    }

    /// Sets an environment in which no program waits for a person.
    pub(crate) fn set_environment(&self, command: &mut std::process::Command) {
        const NO_EDITOR: &str =
            "echo 'no editor here: pass the text with -m or -F, or use --no-edit' >&2; false";
        for (name, value) in [
            ("PAGER", "cat"),
            ("GIT_PAGER", "cat"),
            ("MANPAGER", "cat"),
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
        // What the person exported for git alone may be a program that waits for nobody: `true`, a script.
        let is_unset = |name: &&str| std::env::var_os(name).is_none_or(|editor| editor.is_empty());
        for name in ["GIT_EDITOR", "GIT_SEQUENCE_EDITOR"].iter().filter(|name| is_unset(name)) {
            command.env(name, NO_EDITOR);
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
