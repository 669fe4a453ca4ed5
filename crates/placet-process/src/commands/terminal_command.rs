//! A command with a terminal inside its view, from placet's point of view.
//!
//! The supervisor passes the outer end of the terminal over its line, and reports there that the command was stopped,
//! continued, or has ended. Nothing here waits: the caller polls the line together with its own descriptors.

use super::command::{PassedFiles, PreparedSupervisor};
use crate::close_on_exec;
use crate::descendants::programs_below;
use crate::supervisor::protocol::{CONTINUE, CONTINUED, ENDING, GRACE, STOPPED, TERMINAL, TERMINAL_PASSED};
use crate::supervisor::ready::OrderedSupervisor;
use crate::{ChildPid, CommandExit, ProcessError, ReadySupervisor, ShellCommand, pass_descriptors};
use std::io::{self, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Where standard error of the command goes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TerminalErrors {
    #[default]
    Terminal,
    /// To a pipe of its own: see [`TerminalSupervisor::take_errors`].
    Pipe,
}

/// What the supervisor reports.
#[derive(Debug)]
pub enum TerminalEvent {
    /// The command runs, and this is the outer end of its terminal.
    Started(OwnedFd),
    Stopped,
    Continued,
    /// The command has ended, and a process that it started has not ended for a while.
    Ending,
    /// The last one.
    Ended(Result<CommandExit, ProcessError>),
}

/// A running supervisor of a command with a terminal. Dropping it ends the command.
#[derive(Debug)]
pub struct TerminalSupervisor {
    /// Absent when it has ended.
    child: Option<Child>,
    line: UnixStream,
    unread: Vec<u8>,
    errors: Option<OwnedFd>,
    sandbox_report: Option<String>,
    /// Removed when the command has ended.
    _passed: PassedFiles,
}

impl ShellCommand {
    /// Starts the command, below a supervisor that is ready, if there is one; [`ShellCommand::sandbox`] must describe a
    /// terminal. Its environment is placet's own, without the withheld variables. Call it on the main thread: the command
    /// ends with the thread that started its supervisor.
    pub fn begin_in_terminal(
        &self,
        errors: TerminalErrors,
        ready: Option<ReadySupervisor>,
    ) -> Result<TerminalSupervisor, ProcessError> {
        if !self.cwd.is_dir() {
            return Err(ProcessError::NoDirectory(self.cwd.clone()));
        }
        // Where the waiting supervisor cannot be used, nothing has run, and another one is started.
        if let Some(supervisor) = ready.and_then(|ready| self.order_for_terminal(ready, errors).ok()) {
            return Ok(supervisor);
        }
        self.spawn_for_terminal(errors).map_err(|e| ProcessError::Start(e.to_string()))
    }

    fn order_for_terminal(
        &self,
        ready: ReadySupervisor,
        errors: TerminalErrors,
    ) -> io::Result<TerminalSupervisor> {
        let (mut command, passed) = self.described_in_order()?;
        self.complete_for_terminal(&mut command);
        let OrderedSupervisor { child, line, output } = ready.order(&command, &self.stdin)?;
        // The program's output goes to its terminal. The pipe has standard error, where that is separate.
        let errors = (errors == TerminalErrors::Pipe).then_some(output);
        Ok(TerminalSupervisor::new(child, line, errors, passed))
    }

    fn complete_for_terminal(&self, command: &mut Command) {
        command.arg(TERMINAL).arg("--").arg(&self.line).env("PLACET_COMMAND", "1");
        for name in &self.withheld {
            command.env_remove(name);
        }
    }

    fn spawn_for_terminal(&self, errors: TerminalErrors) -> io::Result<TerminalSupervisor> {
        let PreparedSupervisor { mut command, line, passed } = self.prepare()?;
        self.complete_for_terminal(&mut command);
        command.stdout(Stdio::null());
        let errors = match errors {
            TerminalErrors::Terminal => {
                command.stderr(Stdio::null());
                None
            }
            TerminalErrors::Pipe => {
                let (read, write) = close_on_exec::pipe()?;
                command.stderr(Stdio::from(write));
                Some(read)
            }
        };
        Ok(TerminalSupervisor::new(command.spawn()?, line, errors, passed))
    }
}

impl AsFd for TerminalSupervisor {
    /// The line, which is readable when there is an event.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.line.as_fd()
    }
}

impl TerminalSupervisor {
    fn new(
        child: Child,
        line: UnixStream,
        errors: Option<OwnedFd>,
        _passed: PassedFiles,
    ) -> TerminalSupervisor {
        let child = Some(child);
        TerminalSupervisor { child, line, unread: Vec::new(), errors, sandbox_report: None, _passed }
    }

    /// The supervisor. `None` if it has ended.
    pub fn pid(&self) -> Option<ChildPid> {
        self.child.as_ref().and_then(|child| ChildPid::of(child).ok())
    }

    /// The names of the command's processes, as the system shows them: they may contain any character.
    pub fn programs(&self) -> Vec<String> {
        self.pid().map(programs_below).unwrap_or_default()
    }

    /// The pipe with the command's standard error, once.
    pub fn take_errors(&mut self) -> Option<OwnedFd> {
        self.errors.take()
    }

    /// What has been reported since the last call.
    pub fn events(&mut self) -> Vec<TerminalEvent> {
        let mut events = Vec::new();
        loop {
            let (mut bytes, mut passed) = ([0; 4096], Vec::new());
            let read = pass_descriptors::receive(&self.line, &mut bytes, &mut passed);
            let more = match read {
                Ok(0) => false,
                Ok(length) => {
                    self.unread.extend_from_slice(bytes.get(..length).unwrap_or_default());
                    true
                }
                Err(e) if e.kind() == io::ErrorKind::WouldBlock => return events,
                Err(_) => false,
            };
            self.take_lines(passed, &mut events);
            if !more {
                events.push(TerminalEvent::Ended(self.ended()));
                return events;
            }
        }
    }

    /// Complete lines that are events; everything else is the report about the end.
    fn take_lines(&mut self, passed: Vec<OwnedFd>, events: &mut Vec<TerminalEvent>) {
        let mut passed = passed.into_iter();
        while let Some(end) = memchr::memchr(b'\n', &self.unread) {
            let event = match self.unread.get(..end).map(String::from_utf8_lossy).as_deref() {
                Some(TERMINAL_PASSED) => passed.next().map(TerminalEvent::Started),
                Some(STOPPED) => Some(TerminalEvent::Stopped),
                Some(CONTINUED) => Some(TerminalEvent::Continued),
                Some(ENDING) => Some(TerminalEvent::Ending),
                _ => None,
            };
            let Some(event) = event else { return };
            events.push(event);
            self.unread.drain(..=end);
        }
    }

    /// The line is closed: the supervisor has ended every process, or was killed.
    fn ended(&mut self) -> Result<CommandExit, ProcessError> {
        let said = std::mem::take(&mut self.unread);
        match said.is_empty() {
            true => self.wait(),
            // After its report the supervisor has nothing left to do, and its end is not waited for.
            false => self.reap_later(),
        }
        let said = String::from_utf8_lossy(&said);
        self.sandbox_report = CommandExit::sandbox_report(&said);
        CommandExit::said(said.trim_end())
    }

    /// What the sandbox reported when the command ended, unread, as in [`FinishedCommand`](crate::FinishedCommand).
    pub fn sandbox_report(&mut self) -> Option<String> {
        self.sandbox_report.take()
    }

    /// Lets a stopped command continue.
    pub fn resume(&mut self) {
        // If the line is closed, the next event is the end.
        let _ = self.line.write_all(&[CONTINUE]);
    }

    /// Ends the command and everything that it started. The last report can still be read.
    pub fn stop(&self) {
        let _ = self.line.shutdown(Shutdown::Write);
    }

    /// Waits for the supervisor, which has closed its line, and kills it after [`GRACE`].
    fn wait(&mut self) {
        if let Some(child) = self.child.take() {
            wait_or_kill(child);
        }
    }

    /// The same in a thread of its own.
    fn reap_later(&mut self) {
        let Some(child) = self.child.take() else { return };
        let thread = std::thread::Builder::new().name("supervisor".into());
        // Without the thread it is a zombie until placet ends.
        drop(thread.spawn(move || wait_or_kill(child)));
    }
}

fn wait_or_kill(mut child: Child) {
    if !has_ended_within(&mut child, GRACE) {
        let _ = child.kill();
        // A process that waits inside the kernel does not end at once.
        has_ended_within(&mut child, GRACE);
    }
}

fn has_ended_within(child: &mut Child, most: Duration) -> bool {
    let end = Instant::now() + most;
    loop {
        match child.try_wait() {
            Ok(None) if Instant::now() < end => std::thread::sleep(Duration::from_millis(1)),
            Ok(None) => return false,
            Ok(Some(_)) | Err(_) => return true,
        }
    }
}

impl Drop for TerminalSupervisor {
    fn drop(&mut self) {
        self.stop();
        self.wait();
    }
}
