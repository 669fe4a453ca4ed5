//! Keys while a turn runs, from a thread of our own.
//!
//! It waits for the terminal and for the request to end with one `poll`, so it ends on request, and never reads a byte
//! that is not there. Input that was read and not used belongs to the next reader.

use super::decode::{InputDecoder, InputToken, TerminalInput};
use super::{CHUNK, MOMENT, answering_decoder, typeahead};
use crate::terminal::term;
use placet_process::close_on_exec;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::io;
use std::os::fd::OwnedFd;
use std::thread::JoinHandle;
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

pub(crate) struct AsyncKeyReader {
    tokens: UnboundedReceiver<(InputToken, Instant)>,
    /// Closing it ends the thread.
    stop: Option<OwnedFd>,
    thread: Option<JoinHandle<Vec<u8>>>,
}

impl AsyncKeyReader {
    pub(crate) fn new() -> io::Result<AsyncKeyReader> {
        let (sender, tokens) = unbounded_channel();
        let (stopped, stop) = close_on_exec::pipe()?;
        let thread =
            std::thread::Builder::new().name("keys".into()).spawn(move || listen(&stopped, &sender))?;
        Ok(AsyncKeyReader { tokens, stop: Some(stop), thread: Some(thread) })
    }

    /// What is read next, and when; `None` when the terminal is gone.
    pub(crate) async fn next(&mut self) -> Option<(TerminalInput, Instant)> {
        let (token, at) = self.tokens.recv().await?;
        Some((token.input.unwrap_or(TerminalInput::Ignored), at))
    }

    /// True when nothing waits in the terminal that was not read.
    pub(crate) fn is_idle(&self) -> bool {
        rustix::io::ioctl_fionread(term::input()).is_ok_and(|waiting| waiting == 0)
    }
}

impl Drop for AsyncKeyReader {
    fn drop(&mut self) {
        drop(self.stop.take());
        let rest = self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default();
        let mut unused = Vec::new();
        while let Ok((token, _)) = self.tokens.try_recv() {
            unused.extend_from_slice(&token.raw);
        }
        unused.extend_from_slice(&rest);
        typeahead::give_back(&unused);
    }
}

/// Returns what it read and did not understand yet.
fn listen(stopped: &OwnedFd, sender: &UnboundedSender<(InputToken, Instant)>) -> Vec<u8> {
    let terminal = term::input();
    let mut decoder = InputDecoder::default();
    let send = |tokens: Vec<InputToken>| {
        let at = Instant::now();
        tokens.into_iter().all(|token| sender.send((token, at)).is_ok())
    };
    let mut open = send(answering_decoder::read(&mut decoder, &typeahead::take()));
    let mut buffer = vec![0; CHUNK];
    while open {
        let mut fds = [PollFd::new(&terminal, PollFlags::IN), PollFd::new(stopped, PollFlags::IN)];
        match rustix::event::poll(&mut fds, wait(&decoder).as_ref()) {
            Ok(0) => {
                open = send(answering_decoder::flush_timeout(&mut decoder).into_iter().collect());
                continue;
            }
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => break,
        }
        let [typed, end] = &fds;
        if !end.revents().is_empty() {
            break;
        }
        if typed.revents().contains(PollFlags::IN) {
            match rustix::io::read(terminal, &mut buffer) {
                Ok(0) => break,
                Ok(n) => open = send(answering_decoder::read(&mut decoder, buffer.get(..n).unwrap_or(&[]))),
                Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                Err(_) => break,
            }
        } else if typed.revents().intersects(PollFlags::HUP | PollFlags::ERR) {
            break;
        }
    }
    decoder.finish()
}

/// How long to wait for more: for ever, unless time decides about what has begun.
pub(super) fn wait(decoder: &InputDecoder) -> Option<Timespec> {
    decoder.is_waiting().then(|| timespec(MOMENT))
}

pub(super) fn timespec(duration: std::time::Duration) -> Timespec {
    Timespec {
        tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(duration.subsec_nanos()),
    }
}
