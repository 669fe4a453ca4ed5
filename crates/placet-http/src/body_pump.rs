//! A body that is read ahead: a task appends what arrives to a buffer, and the reader takes all of it at once.
//!
//! hyper hands a body over frame by frame. A server that streams sends each piece of an answer as a frame of its own, and
//! without the buffer the reader is woken for every one of them, on another thread. Once a body is known to be a stream,
//! its pieces are collected before the reader is woken, those of a slow server for as long as the screen shows a frame.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::{Instant, sleep, timeout};

/// With more than this in the buffer, the task waits for the reader: the server is slowed down, as without a buffer.
const MOST: usize = 256 << 10;

/// A body is a stream when it has taken this long, and this many pieces. Shorter ones are handed over piece by piece.
const STREAM_AGE: Duration = Duration::from_millis(100);
const STREAM_PIECES: usize = 8;

/// How long the pieces of a slow stream are collected: about the time of a frame on the screen.
const COLLECT: Duration = Duration::from_millis(48);

/// A stream is slow while fewer bytes than this are collected at once.
const SLOW: usize = 4 << 10;

/// With this much in the buffer, or when nothing has come for this long, the reader is woken.
const ENOUGH: usize = 16 << 10;
const QUIET: Duration = Duration::from_millis(1);

/// Ends its task when it is dropped, and with it the connection.
#[derive(Debug)]
pub(super) struct BodyPump {
    shared: Arc<PumpShared>,
    task: AbortHandle,
}

#[derive(Debug, Default)]
struct PumpShared {
    buffer: Mutex<PumpBuffer>,
    /// Something is in the buffer, or the body has ended.
    filled: Notify,
    /// The buffer was taken.
    taken: Notify,
}

#[derive(Debug, Default)]
struct PumpBuffer {
    bytes: Vec<u8>,
    end: Option<BodyEnd>,
}

#[derive(Debug)]
enum BodyEnd {
    Whole,
    Broken(reqwest::Error),
}

impl BodyPump {
    pub(super) fn new(response: reqwest::Response) -> BodyPump {
        let shared = Arc::new(PumpShared::default());
        let task = tokio::spawn(fill(response, Arc::clone(&shared))).abort_handle();
        BodyPump { shared, task }
    }

    /// Everything that has arrived since the last call, at least one byte; `None` at the end. Safe to drop and to call
    /// again.
    pub(super) async fn take(&self) -> Result<Option<Vec<u8>>, reqwest::Error> {
        loop {
            {
                let mut buffer = self.shared.buffer();
                if !buffer.bytes.is_empty() {
                    let bytes = std::mem::take(&mut buffer.bytes);
                    self.shared.taken.notify_one();
                    return Ok(Some(bytes));
                }
                match buffer.end.take() {
                    None => {}
                    Some(BodyEnd::Broken(error)) => {
                        buffer.end = Some(BodyEnd::Whole);
                        return Err(error);
                    }
                    Some(BodyEnd::Whole) => {
                        buffer.end = Some(BodyEnd::Whole);
                        return Ok(None);
                    }
                }
            }
            self.shared.filled.notified().await;
        }
    }
}

impl Drop for BodyPump {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl PumpShared {
    fn buffer(&self) -> MutexGuard<'_, PumpBuffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was read; returns its bytes, or `None` at the end.
    fn add(&self, read: Result<Option<impl AsRef<[u8]>>, reqwest::Error>) -> Option<usize> {
        let mut buffer = self.buffer();
        match read {
            Ok(Some(bytes)) => {
                buffer.bytes.extend_from_slice(bytes.as_ref());
                return Some(bytes.as_ref().len());
            }
            Ok(None) => buffer.end = Some(BodyEnd::Whole),
            Err(error) => buffer.end = Some(BodyEnd::Broken(error)),
        }
        None
    }

    fn is_full(&self) -> bool {
        self.buffer().bytes.len() >= MOST
    }
}

async fn fill(mut response: reqwest::Response, shared: Arc<PumpShared>) {
    let begun = Instant::now();
    let (mut pieces, mut collected) = (0, 0);
    loop {
        let mut read = shared.add(response.chunk().await);
        pieces += 1;
        if read.is_some() && pieces > STREAM_PIECES && begun.elapsed() > STREAM_AGE {
            // What comes while the task sleeps waits in the socket: no thread wakes for each piece.
            if collected < SLOW {
                sleep(COLLECT).await;
            }
            collected = 0;
            let awake = Instant::now();
            while let Some(bytes) = read
                && collected < ENOUGH
                && awake.elapsed() < COLLECT
            {
                collected += bytes;
                let Ok(next) = timeout(QUIET, response.chunk()).await else { break };
                read = shared.add(next);
            }
        }
        shared.filled.notify_one();
        if read.is_none() {
            return;
        }
        while shared.is_full() {
            shared.taken.notified().await;
        }
    }
}

#[cfg(test)]
#[path = "body_pump_tests.rs"]
mod tests;
