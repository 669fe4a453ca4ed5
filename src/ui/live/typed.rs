//! Lines typed while a turn runs without a screen: the terminal itself edits them, and nothing here is drawn.
//!
//! A thread of its own reads them, as for keys; it ends when it is told to and never reads a byte that is not there.
//! Ctrl-C arrives as the end of a line, so that it acts at once.

use crate::ui::{input, term};
use rustix::event::{PollFd, PollFlags};
use rustix::pipe::PipeFlags;
use std::io;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

/// What came from the terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    /// A line that was sent with Enter.
    Line(String),
    /// The beginning of a line that goes on.
    Begun(String),
    /// Ctrl-C, and what stood in the line.
    Stop(String),
    /// Ctrl-Z, and what stood in the line.
    Suspend(String),
}

pub(super) struct Lines {
    chunks: UnboundedReceiver<Vec<u8>>,
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<()>>,
    begun: Vec<u8>,
}

impl Lines {
    pub(super) fn new() -> io::Result<Lines> {
        let (sender, chunks) = unbounded_channel();
        let (stopped, stop) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
        let thread =
            std::thread::Builder::new().name("lines".into()).spawn(move || listen(&stopped, &sender))?;
        Ok(Lines { chunks, stop: Some(stop), thread: Some(thread), begun: Vec::new() })
    }

    /// What comes next; `None` when the terminal is gone.
    pub(super) async fn next(&mut self) -> Option<Typed> {
        let chunk = self.chunks.recv().await?;
        Some(read(&mut self.begun, &chunk))
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// One read of a terminal that gives lines: it ends with what ended the line, or is the beginning of one.
fn read(begun: &mut Vec<u8>, chunk: &[u8]) -> Typed {
    begun.extend_from_slice(chunk);
    let last = begun.last().copied();
    if matches!(last, Some(b'\n' | b'\r' | 3 | term::SUSPEND)) {
        begun.pop();
    }
    let text = String::from_utf8_lossy(begun).into_owned();
    match last {
        Some(b'\n' | b'\r') => {
            begun.clear();
            Typed::Line(text)
        }
        Some(3) => {
            begun.clear();
            Typed::Stop(text)
        }
        Some(term::SUSPEND) => {
            begun.clear();
            Typed::Suspend(text)
        }
        _ => Typed::Begun(text),
    }
}

fn listen(stopped: &OwnedFd, sender: &UnboundedSender<Vec<u8>>) {
    let terminal = term::input();
    // What was typed ahead at the prompt, line by line as the terminal would give it.
    for chunk in input::take_ahead().split_inclusive(|b| matches!(*b, b'\r' | b'\n' | 3 | term::SUSPEND)) {
        if sender.send(chunk.to_vec()).is_err() {
            return;
        }
    }
    let mut buffer = vec![0; 8192];
    loop {
        let mut fds = [PollFd::new(&terminal, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        match rustix::event::poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return,
        }
        let [typed, end] = &fds;
        if !end.revents().is_empty() {
            return;
        }
        if typed.revents().contains(PollFlags::IN) {
            match rustix::io::read(terminal, &mut buffer) {
                Ok(0) => return,
                Ok(n) if sender.send(buffer.get(..n).unwrap_or(&[]).to_vec()).is_err() => return,
                Ok(_) | Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => return,
            }
        } else if typed.revents().intersects(PollFlags::HUP | PollFlags::ERR) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_may_come_in_pieces_and_ctrl_c_ends_it() {
        let mut begun = Vec::new();
        assert_eq!(read(&mut begun, b"one\n"), Typed::Line("one".into()));
        assert_eq!(read(&mut begun, b"tw"), Typed::Begun("tw".into()));
        assert_eq!(read(&mut begun, b"o\n"), Typed::Line("two".into()));
        assert_eq!(read(&mut begun, b"half\x03"), Typed::Stop("half".into()));
        assert_eq!(read(&mut begun, b"\x03"), Typed::Stop(String::new()));
        assert_eq!(read(&mut begun, b"gone\x1a"), Typed::Suspend("gone".into()));
        assert_eq!(read(&mut begun, "日".as_bytes()), Typed::Begun("日".into()));
    }
}
