//! A body that is read ahead: a task appends what arrives to a buffer, and the reader takes all of it at once.
//!
//! hyper hands a body over frame by frame. A server that streams sends each piece of an answer as a frame of its own, and
//! without the buffer the reader is woken for every one of them, on another thread. A slow server's pieces are collected,
//! too: the screen shows no more often what the reader gets.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::task::AbortHandle;
use tokio::time::Instant;

/// With more than this in the buffer, the task waits for the reader: the server is slowed down, as without a buffer.
const MOST: usize = 256 << 10;

/// What arrives sooner than this after the reader has taken the buffer is collected. About the time of a frame.
const COLLECT: Duration = Duration::from_millis(16);

/// With this much in the buffer, the reader does not wait for more.
const ENOUGH: usize = 16 << 10;

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
    /// There is enough in the buffer, or the body has ended.
    urgent: Notify,
    /// The buffer was taken.
    taken: Notify,
}

#[derive(Debug, Default)]
struct PumpBuffer {
    bytes: Vec<u8>,
    end: Option<BodyEnd>,
    taken_at: Option<Instant>,
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
            let due = {
                let mut buffer = self.shared.buffer();
                let due = buffer.due();
                if !buffer.bytes.is_empty() && due.is_none() {
                    let bytes = std::mem::take(&mut buffer.bytes);
                    buffer.taken_at = Some(Instant::now());
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
                due
            };
            match due {
                None => self.shared.filled.notified().await,
                Some(due) => drop(tokio::time::timeout_at(due, self.shared.urgent.notified()).await),
            }
        }
    }
}

impl Drop for BodyPump {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl PumpBuffer {
    /// Until when more is collected before the reader gets what is there; `None` if the reader gets it now, or if there is
    /// nothing.
    fn due(&self) -> Option<Instant> {
        let waits = !self.bytes.is_empty() && self.bytes.len() < ENOUGH && self.end.is_none();
        let due = self.taken_at.filter(|_| waits)? + COLLECT;
        (due > Instant::now()).then_some(due)
    }
}

impl PumpShared {
    fn buffer(&self) -> MutexGuard<'_, PumpBuffer> {
        self.buffer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, read: Result<Option<impl AsRef<[u8]>>, reqwest::Error>) {
        let mut buffer = self.buffer();
        match read {
            Ok(Some(bytes)) => buffer.bytes.extend_from_slice(bytes.as_ref()),
            Ok(None) => buffer.end = Some(BodyEnd::Whole),
            Err(error) => buffer.end = Some(BodyEnd::Broken(error)),
        }
    }

    fn is_full(&self) -> bool {
        self.buffer().bytes.len() >= MOST
    }
}

async fn fill(mut response: reqwest::Response, shared: Arc<PumpShared>) {
    loop {
        let read = response.chunk().await;
        let has_ended = !matches!(read, Ok(Some(_)));
        shared.add(read);
        shared.filled.notify_one();
        if has_ended || shared.buffer().bytes.len() >= ENOUGH {
            shared.urgent.notify_one();
        }
        if has_ended {
            return;
        }
        while shared.is_full() {
            shared.taken.notified().await;
        }
    }
}
