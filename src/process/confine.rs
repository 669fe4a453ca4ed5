//! The interface to a sandbox, which is in a higher module: the supervisor's request, and the answer.

use super::ChildPid;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use thiserror::Error;

/// The request to a sandbox.
#[derive(Debug)]
pub struct ConfineRequest {
    /// [`Command::sandbox`](super::ShellCommand::sandbox), unread.
    pub words: Vec<u8>,
    /// The command's input; none if absent.
    pub stdin: Option<File>,
    /// For `sh -c`.
    pub line: OsString,
}

/// A command that has been started in a sandbox.
#[derive(Debug)]
pub struct ConfinedProcess {
    /// A child of this process; its death means that everything inside is dead.
    pub pid: ChildPid,
    /// Sends `exit 3` or `signal 9` before it ends, if the command ended by itself.
    pub words: Option<UnixStream>,
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
