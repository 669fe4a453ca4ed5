//! A body that is read ahead: a task appends what arrives to a buffer, and the reader takes all of it at once.
//!
//! hyper hands a body over frame by frame. A server that streams sends each piece of an answer as a frame of its own, and
//! without the buffer the reader is woken for every one of them, on another thread.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::task::AbortHandle;

/// With more than this in the buffer, the task waits for the reader: the server is slowed down, as without a buffer.
const MOST: usize = 256 << 10;

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
        if has_ended {
            return;
        }
        while shared.is_full() {
            shared.taken.notified().await;
        }
    }
}
