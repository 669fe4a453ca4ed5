//! Keys while a turn runs, from a thread of our own.
//!
//! Not crossterm's `EventStream`: its thread may still wait for a key, holding the lock of all reading, after the
//! stream was dropped, and then takes the first key of whoever reads next. This thread waits for the terminal and for
//! its own end with one `poll`, so it ends when it is told to, and never reads a byte that is not there.

use crossterm::event::Event;
use rustix::event::{PollFd, PollFlags};
use rustix::pipe::PipeFlags;
use std::io;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// Not zero: with that, crossterm's reader of terminals never reads.
const MOMENT: Duration = Duration::from_millis(2);

pub(super) struct Keys {
    events: UnboundedReceiver<Event>,
    /// Closing it ends the thread.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
}

impl Keys {
    pub(super) fn new() -> io::Result<Keys> {
        let (sender, events) = unbounded_channel();
        let (stopped, stop) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let thread =
            std::thread::Builder::new().name("keys".into()).spawn(move || listen(&stopped, &sender))?;
        Ok(Keys { events, stop: Some(stop), thread: Some(thread) })
    }

    /// The next event; `None` when the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Stops listening; returns what was typed and not taken yet.
    pub(super) fn finish(mut self) -> Vec<Event> {
        self.end();
        let mut rest = Vec::new();
        while let Ok(event) = self.events.try_recv() {
            rest.push(event);
        }
        rest
    }

    fn end(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        self.end();
    }
}

fn listen(stopped: &OwnedFd, sender: &UnboundedSender<Event>) {
    let terminal = rustix::stdio::stdin();
    loop {
        let mut fds = [PollFd::new(&terminal, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        match rustix::event::poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        let [typed, end] = &fds;
        if typed.revents().contains(PollFlags::IN) && !take(sender) {
            return;
        }
        let hung_up = typed.revents().intersects(PollFlags::HUP | PollFlags::ERR);
        if hung_up || !end.revents().is_empty() {
            return;
        }
    }
}

/// Takes everything that is there; false when nobody listens or the terminal is gone.
fn take(sender: &UnboundedSender<Event>) -> bool {
    loop {
        match crossterm::event::poll(MOMENT) {
            Ok(true) => {
                let Ok(event) = crossterm::event::read() else { return false };
                if sender.send(event).is_err() {
                    return false;
                }
            }
            Ok(false) => return true,
            Err(_) => return false,
        }
    }
}
