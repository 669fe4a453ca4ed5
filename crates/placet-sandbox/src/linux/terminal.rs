//! A terminal inside the view, and the job control of process 1.
//!
//! The terminal belongs to the view's own devpts, so that its name is right inside. Its outer end is passed to placet.
//! Process 1 leads the session, and the program leads a group of its own: if the program led the session, its group
//! would be an orphan, and the kernel would discard Ctrl-Z.

use super::super::spec::SandboxSpec;
use super::super::terminal_spec::TerminalSpec;
use super::raw;
use super::setup_error::{SandboxSetupError, at};
use placet_process::{CONTINUE, CONTINUED, ChildPid, JobChange, STOPPED, WaitMode};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::process::Signal;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr, tcsetwinsize};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};

/// How often process 1 looks whether somebody inside continued a stopped command. Its end and placet's word wake it.
const LOOK: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// The terminal of the view, in process 1.
pub(super) struct ViewTerminal {
    /// The program's end.
    inner: OwnedFd,
    separate_errors: bool,
}

/// Opens the terminal that `spec` asks for, if it asks for one, and makes it the terminal of this session. Also returns
/// its outer end.
pub(super) fn open(spec: &SandboxSpec) -> Result<Option<(ViewTerminal, OwnedFd)>, SandboxSetupError> {
    let Some(wanted) = &spec.terminal else { return Ok(None) };
    let (inner, outer) =
        at(pair(wanted), || "open a terminal inside (does this system refuse devpts to containers?)".into())?;
    let own = || -> io::Result<()> {
        // Process 1 changes the foreground group while it is in the background itself.
        raw::ignore_background_writes()?;
        Ok(rustix::process::ioctl_tiocsctty(&inner)?)
    };
    at(own(), || "take the terminal inside".into())?;
    Ok(Some((ViewTerminal { inner, separate_errors: wanted.separate_errors }, outer)))
}

fn pair(wanted: &TerminalSpec) -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let outer = rustix::fs::open("/dev/pts/ptmx", flags, Mode::empty())?;
    unlockpt(&outer)?;
    let inner = ioctl_tiocgptpeer(&outer, OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    if let Some(modes) = &wanted.modes {
        let mut termios = tcgetattr(&inner)?;
        modes.apply(&mut termios);
        tcsetattr(&inner, OptionalActions::Now, &termios)?;
    }
    tcsetwinsize(&inner, wanted.size.into())?;
    Ok((inner, outer))
}

impl ViewTerminal {
    /// Gives the program its terminal. Its input is the terminal unless `has_input`.
    pub(super) fn attach(&self, command: &mut Command, has_input: bool) -> io::Result<()> {
        if !has_input {
            command.stdin(Stdio::from(self.inner.try_clone()?));
        }
        command.stdout(Stdio::from(self.inner.try_clone()?));
        if !self.separate_errors {
            command.stderr(Stdio::from(self.inner.try_clone()?));
        }
        raw::start_in_foreground(command);
        Ok(())
    }

    /// Reaps all processes until the program has ended, and reports how it ended. Reports stops on `line`, and continues
    /// the program when `line` asks for it.
    pub(super) fn reap_until(&self, program: ChildPid, line: &mut UnixStream) -> String {
        // The kernel reports the loss of a terminal to the leader of its session only. The program may be stopped.
        let passed_on = raw::on_hangup(move || {
            let _ = program.signal_group(Signal::HUP);
            let _ = program.signal_group(Signal::CONT);
        });
        if let Err(error) = passed_on {
            return format!("error a hangup cannot be passed on: {error}");
        }
        let mut is_stopped = false;
        loop {
            let mode = if is_stopped { WaitMode::Poll } else { WaitMode::Block };
            match ChildPid::job_change(mode) {
                Ok(JobChange::Ended(pid, status)) if pid == program => {
                    match (status.exit_status(), status.terminating_signal()) {
                        (Some(code), _) => return format!("exit {code}"),
                        (None, Some(signal)) => return format!("signal {signal}"),
                        (None, None) => {}
                    }
                }
                Ok(JobChange::Stopped(pid)) if pid == program && !is_stopped => {
                    is_stopped = true;
                    let _ = line.write_all(format!("{STOPPED}\n").as_bytes());
                }
                Ok(JobChange::Continued(pid)) if pid == program && is_stopped => {
                    is_stopped = false;
                    let _ = line.write_all(format!("{CONTINUED}\n").as_bytes());
                }
                Ok(JobChange::Nothing) => self.wait_for_word(program, line),
                Ok(JobChange::Ended(..) | JobChange::Stopped(_) | JobChange::Continued(_)) => {}
                Ok(JobChange::Nobody) => return "error the shell was lost".into(),
                Err(error) => return format!("error the shell was lost: {error}"),
            }
        }
    }

    /// Waits while the program is stopped: for a word of placet, for the program's end, for a moment.
    fn wait_for_word(&self, program: ChildPid, line: &mut UnixStream) {
        let end = program.open().ok();
        let mut fds = vec![PollFd::new(&*line, PollFlags::IN)];
        fds.extend(end.as_ref().map(|end| PollFd::new(end, PollFlags::IN)));
        let _ = poll(&mut fds, Some(&LOOK));
        let is_word = fds.first().is_some_and(|line| line.revents().contains(PollFlags::IN));
        drop(fds);
        let mut word = [0];
        if is_word && matches!(line.read(&mut word), Ok(1)) && word == [CONTINUE] {
            let _ = program.put_in_foreground(self.inner.as_fd());
            let _ = program.signal_group(Signal::CONT);
        }
    }
}
