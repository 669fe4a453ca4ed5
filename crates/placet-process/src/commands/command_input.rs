//! The input of a command: nothing, bytes, or a pipe that somebody still writes to.

use crate::pass_descriptors;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

/// A command's standard input.
#[derive(Clone, Debug, Default)]
pub enum CommandInput {
    #[default]
    Nothing,
    Bytes(Vec<u8>),
    /// The end of a pipe to read from.
    Pipe(Arc<OwnedFd>),
}

impl From<Option<Vec<u8>>> for CommandInput {
    fn from(bytes: Option<Vec<u8>>) -> CommandInput {
        bytes.map_or(CommandInput::Nothing, CommandInput::Bytes)
    }
}

/// Sends a pipe to a supervisor, on the line to it.
pub(crate) fn send_pipe(line: &impl AsFd, pipe: &OwnedFd) -> io::Result<()> {
    pass_descriptors::send(line, b"i", &[pipe.as_fd()])
}

/// Receives the pipe that [`send_pipe`] sent.
pub(crate) fn receive_pipe(line: &impl AsFd) -> io::Result<File> {
    let mut passed = Vec::new();
    pass_descriptors::receive(line, &mut [0], &mut passed)?;
    let pipe = passed.into_iter().next();
    pipe.map(File::from).ok_or_else(|| io::Error::other("the pipe for its input was not passed"))
}
