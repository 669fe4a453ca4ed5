//! The interface to a sandbox, which is in a higher module: the supervisor's request, and the answer.

use crate::ChildPid;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::ExitCode;
use thiserror::Error;

/// The request to a sandbox.
#[derive(Debug)]
pub struct ConfineRequest {
    /// [`Command::sandbox`](crate::ShellCommand::sandbox), unread.
    pub words: Vec<u8>,
    /// The command's input; none if absent.
    pub stdin: Option<File>,
    /// For `sh -c`.
    pub line: OsString,
    /// The environment, before the sandbox withholds variables of it.
    pub variables: Vec<(OsString, OsString)>,
}

/// A command that has been started in a sandbox.
#[derive(Debug)]
pub struct ConfinedProcess {
    /// A child of this process; its death means that everything inside is dead.
    pub pid: ChildPid,
    /// Sends `exit 3` or `signal 9` before it ends, if the command ended by itself.
    pub words: Option<UnixStream>,
    /// The outer end of the command's terminal, where it has one. Then `words` also reports that the command was
    /// stopped or continued, and takes [`CONTINUE`](crate::CONTINUE).
    pub terminal: Option<OwnedFd>,
    pub report: Option<SandboxReport>,
}

/// What a sandbox reports about its command when the command has ended: one line, passed on unread to
/// [`FinishedCommand::sandbox_report`](crate::FinishedCommand).
pub struct SandboxReport(Box<dyn Fn() -> String + Send>);

impl SandboxReport {
    /// `report` is called once, after the last process inside has ended. Its result must fit into the buffer of a
    /// socket, because nobody reads until the supervisor has ended.
    pub fn new(report: impl Fn() -> String + Send + 'static) -> SandboxReport {
        SandboxReport(Box::new(report))
    }

    pub(crate) fn line(&self) -> String {
        (self.0)()
    }
}

impl std::fmt::Debug for SandboxReport {
    fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("SandboxReport")
    }
}

/// Why a sandbox was not set up; nothing has run.
#[derive(Debug, Error)]
pub enum ConfineError {
    /// The system refused a copy-on-write layer. The sandbox reports this from another process, as text.
    #[error("{0}")]
    Overlay(String),
    #[error(transparent)]
    Other(#[from] io::Error),
}

/// Starts a command in a sandbox. Called in the supervisor while it has one thread.
pub type ConfineFn = fn(ConfineRequest) -> Result<ConfinedProcess, ConfineError>;

/// The same after [`SandboxStart::prepare`]. A drop ends what was prepared.
pub type PreparedConfine = Box<dyn FnOnce(ConfineRequest) -> Result<ConfinedProcess, ConfineError>>;

/// How a sandbox starts commands.
#[derive(Clone, Copy, Debug)]
pub struct SandboxStart {
    pub confine: ConfineFn,
    /// Does what can be done before the command is known; `None` if nothing can. Called in the supervisor while it has one
    /// thread.
    pub prepare: fn() -> Option<PreparedConfine>,
    /// Is a process that publishes a port of a command; the words are those after [`PUBLISH`](crate::PUBLISH).
    pub publish: fn(&[OsString]) -> ExitCode,
}
