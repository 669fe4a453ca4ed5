//! Keys for a full screen: waited for on the thread that draws, together with the window's size.

use super::async_key_reader::timespec;
use super::decode::{InputDecoder, InputToken, TerminalInput};
use super::{CHUNK, MOMENT, answering_decoder, typeahead};
use crate::terminal::term;
use rustix::event::{PollFd, PollFlags};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

pub struct BlockingKeyReader {
    decoder: InputDecoder,
    tokens: VecDeque<InputToken>,
    /// A byte arrives with every change of the window's size.
    resizes: UnixStream,
    registered: signal_hook::SigId,
    buffer: Vec<u8>,
    /// Since when a sequence is begun and not whole: a reader that asks in short steps must still see its end.
    begun: Option<Instant>,
}

impl BlockingKeyReader {
    pub fn new() -> io::Result<BlockingKeyReader> {
        let (resizes, told) = UnixStream::pair()?;
        resizes.set_nonblocking(true)?;
        let registered = signal_hook::low_level::pipe::register(signal_hook::consts::SIGWINCH, told)?;
        let mut decoder = InputDecoder::default();
        let tokens = answering_decoder::read(&mut decoder, &typeahead::take()).into();
        Ok(BlockingKeyReader { decoder, tokens, resizes, registered, buffer: vec![0; CHUNK], begun: None })
    }

    /// What was read next, waiting for it as long as `most` and no longer. The error is that the terminal is gone.
    pub fn next(&mut self, most: Duration) -> io::Result<Option<TerminalInput>> {
        Ok(self.next_token(most)?.map(|token| token.input.unwrap_or(TerminalInput::Ignored)))
    }

    /// The same with its bytes; no input for what means nothing.
    pub fn next_token(&mut self, most: Duration) -> io::Result<Option<InputToken>> {
        let end = Instant::now() + most;
        loop {
            if let Some(token) = self.tokens.pop_front() {
                return Ok(Some(token));
            }
            let left = end.saturating_duration_since(Instant::now());
            let due = match self.decoder.is_waiting() {
                true => Some(*self.begun.get_or_insert_with(Instant::now) + MOMENT),
                false => None,
            };
            let wait = due.map_or(left, |due| due.saturating_duration_since(Instant::now()).min(left));
            let terminal = term::input();
            let mut fds = [PollFd::new(&terminal, PollFlags::IN), PollFd::new(&self.resizes, PollFlags::IN)];
            match rustix::event::poll(&mut fds, Some(&timespec(wait))) {
                Ok(0) if due.is_some_and(|due| due <= Instant::now()) => {
                    self.begun = None;
                    self.tokens.extend(answering_decoder::flush_timeout(&mut self.decoder));
                }
                Ok(0) if left.is_zero() => return Ok(None),
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(e) => return Err(e.into()),
            }
            let [typed, resized] = &fds;
            let (typed, resized) = (typed.revents(), !resized.revents().is_empty());
            if resized {
                self.forget_resizes();
                return Ok(Some(InputToken { input: Some(TerminalInput::Resized), raw: Vec::new() }));
            }
            if typed.contains(PollFlags::IN) {
                match rustix::io::read(terminal, &mut self.buffer) {
                    Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                    Ok(n) => {
                        self.begun = None;
                        let bytes = self.buffer.get(..n).unwrap_or(&[]);
                        self.tokens.extend(answering_decoder::read(&mut self.decoder, bytes));
                    }
                    Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => {}
                    Err(e) => return Err(e.into()),
                }
            } else if typed.intersects(PollFlags::HUP | PollFlags::ERR) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }

    /// Gives back what was read last and not used.
    pub(super) fn put_back(&mut self, token: InputToken) {
        self.tokens.push_front(token);
    }

    /// Drops what was typed until now and not used.
    pub(super) fn forget(&mut self) {
        self.tokens.clear();
        self.decoder = InputDecoder::default();
        term::forget_input();
    }

    /// Drops all resize notifications at once: a notification does not contain the size, so the caller asks for it.
    fn forget_resizes(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.resizes.read(&mut bytes), Ok(n) if n > 0) {}
    }
}

impl Drop for BlockingKeyReader {
    fn drop(&mut self) {
        signal_hook::low_level::unregister(self.registered);
        let mut unused: Vec<u8> = self.tokens.drain(..).flat_map(|token| token.raw).collect();
        unused.extend_from_slice(&std::mem::take(&mut self.decoder).finish());
        typeahead::give_back(&unused);
    }
}
