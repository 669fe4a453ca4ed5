//! Restores the person's terminal if placet is killed while a program runs, or while placet asks about its changes: `kill -9` leaves no moment for it.
//!
//! A process of its own holds the end of a pipe from placet, and knows what would reset the terminal. If the pipe closes
//! before placet has said that it ends by itself, the process writes that. It is no ancestor of the program: the
//! program's processes must not have this terminal.
//!
//! It is started, and has its first message, before placet changes the terminal: there is no moment without it. Nobody
//! waits until it is ready, because the message waits in the pipe.

use crate::sandbox::{self, TerminalModes};
use crate::ui::term;
use rustix::termios::{LocalModes, OptionalActions, OutputModes, tcgetattr, tcsetattr};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};

/// The hidden argument by which placet becomes the guard.
pub(in crate::cli) const GUARD: &str = "__terminal-guard";

/// The largest message: the sequences of a reset are some hundred bytes.
const MOST: u32 = 64 << 10;

/// What a message is about. A message is this byte, its length in four bytes, and its content.
const MODES: u8 = b'M';
const RESET: u8 = b'R';
const DONE: u8 = b'D';

/// The guard of this process. Dropping it ends the guard, which then changes nothing.
#[derive(Debug)]
pub(super) struct TerminalGuard {
    child: Option<Child>,
    pipe: ChildStdin,
}

impl TerminalGuard {
    /// `program` is placet's own executable; `modes` are those of the terminal before placet takes it.
    pub(super) fn start(program: &Path, modes: &TerminalModes) -> io::Result<TerminalGuard> {
        let terminal = term::stdout().try_clone_to_owned()?;
        let mut child = Command::new(program)
            .arg(GUARD)
            .stdin(Stdio::piped())
            .stdout(Stdio::from(terminal))
            .stderr(Stdio::null())
            // From its first moment it gets no signal of the terminal's keys, and no SIGHUP where placet leads the session.
            .process_group(0)
            .spawn()?;
        let pipe = child.stdin.take().ok_or_else(|| io::Error::other("the guard has no pipe"))?;
        let mut guard = TerminalGuard { child: Some(child), pipe };
        guard.say(MODES, &serde_json::to_vec(&modes)?);
        guard.set_reset(&[]);
        Ok(guard)
    }

    /// What the program has set until now is reset by these bytes.
    pub(super) fn set_reset(&mut self, bytes: &[u8]) {
        self.say(RESET, bytes);
    }

    /// Without the guard the program runs all the same.
    fn say(&mut self, about: u8, content: &[u8]) {
        let Ok(length) = u32::try_from(content.len()) else { return };
        let message = [&[about], length.to_le_bytes().as_slice(), content].concat();
        if let Err(e) = self.pipe.write_all(&message) {
            tracing::debug!("the terminal's guard is gone: {e}");
        }
    }
}

/// The guard of a terminal that no program has any more: placet asks its question there. Dropping it ends the guard.
#[derive(Debug)]
pub(in crate::cli) struct QuestionGuard(());

impl QuestionGuard {
    pub(super) fn of(mut guard: TerminalGuard) -> QuestionGuard {
        guard.set_reset(&[]);
        term::watch_full_screen(Some(Box::new(move |is_full| {
            guard.set_reset(if is_full { term::LEAVE_FULL } else { &[] });
        })));
        QuestionGuard(())
    }
}

impl Drop for QuestionGuard {
    fn drop(&mut self) {
        // The watch has the guard.
        term::watch_full_screen(None);
    }
}

impl Drop for TerminalGuard {
    fn drop(&mut self) {
        self.say(DONE, &[]);
        let Some(mut child) = self.child.take() else { return };
        // Nobody waits for its end: the person's next keys are for whatever has the terminal then.
        let waiting = std::thread::Builder::new().name("guard".into());
        drop(waiting.spawn(move || child.wait()));
    }
}

/// The guard itself. Called from `main`, before anything else.
pub(in crate::cli) fn guard() -> ExitCode {
    // Its group is never in the foreground.
    if sandbox::ignore_background_writes().is_err() {
        return ExitCode::FAILURE;
    }
    let mut known = (Option::<TerminalModes>::None, Vec::new());
    let mut pipe = io::stdin().lock();
    loop {
        match message(&mut pipe) {
            Some((MODES, content)) => known.0 = serde_json::from_slice(&content).ok().flatten(),
            Some((RESET, content)) => known.1 = content,
            Some(_) => return ExitCode::SUCCESS,
            None => break,
        }
    }
    restore(&known.0, &known.1);
    ExitCode::SUCCESS
}

/// The next message. `None`: placet is gone.
fn message(pipe: &mut impl Read) -> Option<(u8, Vec<u8>)> {
    let mut head = [0; 5];
    pipe.read_exact(&mut head).ok()?;
    let [about, length @ ..] = head;
    let length = u32::from_le_bytes(length);
    let mut content = Vec::new();
    pipe.take(u64::from(length.min(MOST))).read_to_end(&mut content).ok()?;
    (content.len() == usize::try_from(length).ok()?).then_some((about, content))
}

fn restore(modes: &Option<TerminalModes>, reset: &[u8]) {
    let mut out = io::stdout().lock();
    let is_dumb = std::env::var_os("TERM").is_none_or(|term| term == OsStr::new("dumb"));
    if !is_dumb {
        drop(out.write_all(&[reset, term::RESTORE].concat()).and_then(|()| out.flush()));
    }
    let (Some(modes), Ok(mut now)) = (modes, tcgetattr(out.as_fd())) else { return };
    // A shell that is there again has set the modes of its prompt, in which keys send signals.
    let is_raw =
        !now.output_modes.contains(OutputModes::OPOST) || !now.local_modes.contains(LocalModes::ISIG);
    if is_raw {
        modes.apply(&mut now);
        let _ = tcsetattr(out.as_fd(), OptionalActions::Now, &now);
    }
}
