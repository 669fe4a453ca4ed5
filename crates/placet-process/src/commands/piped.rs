//! A command that another part of placet talks to while it runs: a server. Its standard input and output are pipes, its
//! standard error goes to a log.

use super::command::PreparedSupervisor;
use super::output_log::OutputLog;
use crate::close_on_exec;
use crate::supervisor::supervisor_child::SupervisorChild;
use crate::{BackgroundSupervisor, CommandInput, ProcessError, ShellCommand};
use std::io;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use tokio::net::UnixStream;
use tokio::net::unix::pipe::{Receiver, Sender};

/// A running command with pipes. A drop of the supervisor ends the command.
#[derive(Debug)]
pub struct PipedCommand {
    /// Closing it is how a server is asked to end.
    pub input: Sender,
    pub output: Receiver,
    pub supervisor: BackgroundSupervisor,
}

impl ShellCommand {
    /// Starts the command with `environment` in addition to the usual one. Its standard error goes to `log`, which is
    /// emptied first, up to [`crate::LOG`] bytes. [`ShellCommand::stdin`] is not used.
    pub fn begin_piped(
        self,
        environment: &[(String, String)],
        log: &Path,
    ) -> Result<PipedCommand, ProcessError> {
        if !self.cwd.is_dir() {
            return Err(ProcessError::NoDirectory(self.cwd));
        }
        self.spawn_piped(environment, log).map_err(|e| ProcessError::Start(e.to_string()))
    }

    fn spawn_piped(self, environment: &[(String, String)], log: &Path) -> io::Result<PipedCommand> {
        let (input_end, input) = close_on_exec::pipe()?;
        let (output, output_end) = close_on_exec::pipe()?;
        let (errors, errors_end) = close_on_exec::pipe()?;
        let log = OutputLog::create(log)?;
        let command = ShellCommand { stdin: CommandInput::Pipe(Arc::new(input_end)), ..self };
        let PreparedSupervisor { command: mut program, line, passed } = command.prepare()?;
        program.arg("--").arg(&command.line);
        program.stdout(Stdio::from(output_end)).stderr(Stdio::from(errors_end));
        command.set_environment(&mut program);
        for (name, value) in environment {
            program.env(name, value);
        }
        let child = SupervisorChild::Started(tokio::process::Command::from(program).spawn()?);
        let errors = Receiver::from_owned_fd(errors)?;
        let reader = tokio::spawn(async move {
            // A log that cannot be written is not a reason to end a server.
            drop(log.keep(errors).await);
        });
        let supervisor = BackgroundSupervisor::moved(child, UnixStream::from_std(line)?, passed, reader);
        let (input, output) = (Sender::from_owned_fd(input)?, Receiver::from_owned_fd(output)?);
        Ok(PipedCommand { input, output, supervisor })
    }
}
