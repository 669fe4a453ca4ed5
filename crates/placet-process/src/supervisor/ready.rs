//! A supervisor that is started before its command is known.
//!
//! To start a program of this size takes longer than any other part of the start of a command, and here it happens
//! while placet does something else. The supervisor waits for its order on its line, and ends when the line closes.

use super::protocol::{GRACE, RUN, WAIT};
use super::supervisor_order::SupervisorOrder;
use crate::CommandInput;
use crate::close_on_exec;
use crate::commands::command_input::send_pipe;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// See the module. It is for a command in a sandbox, in the foreground or in a terminal.
#[derive(Debug)]
pub struct ReadySupervisor {
    child: Child,
    line: UnixStream,
    /// The end of the pipe with the command's output.
    output: OwnedFd,
}

/// What is left of a supervisor that has its order.
pub(crate) struct OrderedSupervisor {
    pub(crate) child: Child,
    pub(crate) line: UnixStream,
    pub(crate) output: OwnedFd,
}

impl ReadySupervisor {
    /// Starts `program`, which is placet itself. It needs no runtime. Call it on the main thread: a command in a terminal
    /// ends with the thread that started its supervisor.
    pub fn start(program: &Path) -> io::Result<ReadySupervisor> {
        let (line, theirs) = UnixStream::pair()?;
        let (output, write) = close_on_exec::pipe()?;
        let mut command = Command::new(program);
        command.arg(RUN).arg(WAIT).stdin(Stdio::from(OwnedFd::from(theirs)));
        command.stdout(Stdio::from(write.try_clone()?)).stderr(Stdio::from(write));
        Ok(ReadySupervisor { child: command.spawn()?, line, output })
    }

    /// Ends it: no command needs it. Waits until it has ended, which takes some milliseconds.
    pub(crate) fn end(self) {
        let ReadySupervisor { mut child, line, .. } = self;
        drop(line);
        let _ = child.wait();
    }

    /// Lets it supervise `command`, which is a whole command line for [`super::supervise`]. Fails if the supervisor has
    /// ended or does not read; then nothing has run.
    pub(crate) fn order(self, command: &Command, stdin: &CommandInput) -> io::Result<OrderedSupervisor> {
        let ReadySupervisor { child, mut line, output } = self;
        line.set_write_timeout(Some(GRACE))?;
        line.write_all(&SupervisorOrder::of(command).to_bytes())?;
        if let CommandInput::Pipe(pipe) = stdin {
            send_pipe(&line, pipe)?;
        }
        line.set_nonblocking(true)?;
        Ok(OrderedSupervisor { child, line, output })
    }
}
