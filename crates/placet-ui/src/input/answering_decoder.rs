//! The decoder as the readers of keys use it: it knows when the terminal may answer with its background, and what the
//! terminal answered, also about its name, is noted on the way.

use super::decode::{InputDecoder, InputToken};
use super::{background, terminal_name};
use crate::terminal::term;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::time::{Duration, Instant};

/// How long placet waits for an answer when it ends: the shell would get it. Also before a screen that it decides.
pub const PATIENCE: Duration = Duration::from_millis(100);

/// [`InputDecoder::feed`], with the answer noted.
pub(super) fn feed(decoder: &mut InputDecoder, bytes: &[u8]) -> Vec<InputToken> {
    decoder.expect_color(background::is_expected());
    noted(decoder.feed(bytes))
}

/// [`InputDecoder::read`], with the answer noted.
pub(super) fn read(decoder: &mut InputDecoder, bytes: &[u8]) -> Vec<InputToken> {
    decoder.expect_color(background::is_expected());
    noted(decoder.read(bytes))
}

/// [`InputDecoder::flush_timeout`], as long as an answer may still come.
pub(super) fn flush_timeout(decoder: &mut InputDecoder) -> Option<InputToken> {
    decoder.expect_color(background::is_expected());
    decoder.flush_timeout()
}

fn noted(tokens: Vec<InputToken>) -> Vec<InputToken> {
    for token in &tokens {
        background::note(&token.raw);
        terminal_name::note(&token.raw);
    }
    tokens
}

/// Takes an answer that is on its way, before the terminal is given back to who reads it next, or before a screen that the
/// answer decides; it waits at most `patience`. What else is typed in this time is dropped.
pub fn drain(patience: Duration) {
    let is_due = || background::is_due() || terminal_name::is_due();
    if !is_due() {
        return;
    }
    let end = Instant::now() + patience;
    let mut decoder = InputDecoder::default();
    while is_due() {
        let left = end.saturating_duration_since(Instant::now());
        let terminal = term::input();
        let mut fds = [PollFd::new(&terminal, PollFlags::IN)];
        let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
        if left.is_zero() || !matches!(rustix::event::poll(&mut fds, Some(&wait)), Ok(n) if n > 0) {
            return;
        }
        let mut buffer = [0; 4096];
        match rustix::io::read(terminal, &mut buffer) {
            Ok(n) if n > 0 => drop(feed(&mut decoder, buffer.get(..n).unwrap_or(&[]))),
            _ => return,
        }
    }
}
