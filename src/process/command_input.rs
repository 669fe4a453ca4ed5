//! The input of a command: nothing, bytes, or a pipe that somebody still writes to.

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};
use std::fs::File;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
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
pub(super) fn send_pipe(line: &impl AsFd, pipe: &OwnedFd) -> io::Result<()> {
    let descriptors = [pipe.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut attached = SendAncillaryBuffer::new(&mut space);
    attached.push(SendAncillaryMessage::ScmRights(&descriptors));
    // A descriptor can only be sent together with at least one byte.
    retry_on_intr(|| sendmsg(line, &[IoSlice::new(b"i")], &mut attached, SendFlags::empty()))?;
    Ok(())
}

/// Receives the pipe that [`send_pipe`] sent.
pub(super) fn receive_pipe(line: &impl AsFd) -> io::Result<File> {
    let mut byte = [0];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut attached = RecvAncillaryBuffer::new(&mut space);
    let mut parts = [IoSliceMut::new(&mut byte)];
    retry_on_intr(|| recvmsg(line, &mut parts, &mut attached, RecvFlags::CMSG_CLOEXEC))?;
    for message in attached.drain() {
        if let RecvAncillaryMessage::ScmRights(mut descriptors) = message
            && let Some(pipe) = descriptors.next()
        {
            return Ok(File::from(pipe));
        }
    }
    Err(io::Error::other("the pipe for its input was not passed"))
}
