//! Standard input of `placet run`, passed on to the command for as long as it runs. What the command has not
//! been given when it ends stays unread: on a terminal the next lines belong to the question.

use crate::process::{CommandInput, close_on_exec};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

/// A thread that passes input on. Dropped, it stops and is waited for.
pub(super) struct StdinForwarder {
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl StdinForwarder {
    /// The command's end, and the thread that writes to it.
    pub(super) fn start() -> io::Result<(CommandInput, StdinForwarder)> {
        let (command, to) = close_on_exec::nonblocking_pipe()?;
        // Only the end that is written to must not block.
        rustix::fs::fcntl_setfl(&command, rustix::fs::OFlags::empty())?;
        let (stopped, stop) = close_on_exec::pipe()?;
        let work = move || {
            let _ = pass_on(&to, &stopped);
        };
        let thread = std::thread::Builder::new().name("input".into()).spawn(work)?;
        Ok((CommandInput::Pipe(Arc::new(command)), StdinForwarder { stop: Some(stop), thread: Some(thread) }))
    }
}

impl Drop for StdinForwarder {
    fn drop(&mut self) {
        // Its other end hangs up.
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn pass_on(to: &OwnedFd, stopped: &OwnedFd) -> rustix::io::Result<()> {
    let from = io::stdin();
    let mut buffer = vec![0; 64 << 10];
    loop {
        if !ready(&from, PollFlags::IN, stopped)? {
            return Ok(());
        }
        if in_background(&from) {
            // Reading would stop the whole process.
            std::thread::sleep(Duration::from_millis(100));
            if !is_open(stopped)? {
                return Ok(());
            }
            continue;
        }
        let length = match rustix::io::read(&from, &mut buffer) {
            Ok(0) => return Ok(()),
            Err(Errno::INTR | Errno::AGAIN) => continue,
            other => other?,
        };
        let mut rest = buffer.get(..length).unwrap_or_default();
        while !rest.is_empty() {
            if !ready(to, PollFlags::OUT, stopped)? {
                return Ok(());
            }
            match rustix::io::write(to, rest) {
                Ok(written) => rest = rest.get(written..).unwrap_or_default(),
                Err(Errno::INTR | Errno::AGAIN) => {}
                // The command reads no more.
                Err(e) => return Err(e),
            }
        }
    }
}

/// Waits until `fd` is ready or at its end. False when this is to stop.
fn ready(fd: &impl AsFd, what: PollFlags, stopped: &OwnedFd) -> rustix::io::Result<bool> {
    loop {
        let mut both = [PollFd::new(fd, what), PollFd::new(stopped, PollFlags::IN)];
        match poll(&mut both, None) {
            Err(Errno::INTR) => continue,
            other => drop(other?),
        }
        let [fd, stop] = &both;
        if !stop.revents().is_empty() {
            return Ok(false);
        }
        if !fd.revents().is_empty() {
            return Ok(true);
        }
    }
}

fn is_open(stopped: &OwnedFd) -> rustix::io::Result<bool> {
    let mut one = [PollFd::new(stopped, PollFlags::IN)];
    poll(&mut one, Some(&rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 }))?;
    Ok(one.iter().all(|fd| fd.revents().is_empty()))
}

/// A terminal that belongs to another job of the person's shell.
fn in_background(fd: &impl AsFd) -> bool {
    rustix::termios::tcgetpgrp(fd).is_ok_and(|group| group != rustix::process::getpgrp())
}
