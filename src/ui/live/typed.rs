//! Lines typed while a turn runs without a screen: the terminal itself edits them, and nothing here is drawn.
//!
//! A thread of its own reads them, as for keys; it ends when it is told to and never reads a byte that is not there.
//! Ctrl-C arrives as the end of a line, so that it acts at once.

use crate::ui::{input, term};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::pipe::PipeFlags;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::thread::JoinHandle;
use std::time::Duration;
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
    /// Several lines that came at once, which nobody types.
    Pasted(String),
}

/// Lines that follow each other within this time came at once.
const AT_ONCE: Duration = Duration::from_millis(20);

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
    let lines = text.trim_end_matches(['\n', '\r']).contains(['\n', '\r']);
    match last {
        _ if lines && last != Some(3) => {
            begun.clear();
            Typed::Pasted(text)
        }
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

/// What is there, with every line that follows at once; `None` when the terminal is gone.
fn at_once(terminal: BorrowedFd<'_>, buffer: &mut [u8]) -> Option<Vec<u8>> {
    let mut chunk = Vec::new();
    let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(AT_ONCE.subsec_nanos()) };
    loop {
        match rustix::io::read(terminal, &mut *buffer) {
            Ok(0) => return None,
            Ok(n) => chunk.extend_from_slice(buffer.get(..n).unwrap_or(&[])),
            Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
            Err(_) => return None,
        }
        let mut fds = [PollFd::new(&terminal, PollFlags::IN)];
        let more = rustix::event::poll(&mut fds, Some(&wait)).is_ok_and(|n| n > 0);
        // Only a line that is whole may be followed by another.
        if !more || !matches!(chunk.last(), Some(b'\n' | b'\r')) || chunk.len() > MOST {
            return Some(chunk);
        }
    }
}

/// Bytes of one paste here; the terminal itself cuts lines at 4,095.
const MOST: usize = 10 * 1024 * 1024;

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
            let Some(chunk) = at_once(terminal, &mut buffer) else { return };
            if !chunk.is_empty() && sender.send(chunk).is_err() {
                return;
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
