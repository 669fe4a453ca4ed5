//! An answer stream written as one `async` block. [`EventEmitter::send`] delivers an event and continues only when the
//! reader asks for the next one. The block never runs ahead of the reader and does not start before the first poll.
//! Dropping the stream drops the block with everything it owns: no task is left behind.

use crate::{AnswerStream, ProviderError, StreamEvent};
use futures_util::stream::Stream;
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

type StreamItem = Result<StreamEvent, ProviderError>;

/// Where the block sends its events.
#[derive(Clone, Default)]
pub(crate) struct EventEmitter(Arc<Mutex<VecDeque<StreamItem>>>);

impl EventEmitter {
    /// Delivers one event and waits until the reader asks for more.
    pub(crate) async fn send(&self, event: StreamEvent) {
        self.item(Ok(event)).await;
    }

    pub(crate) async fn fail(&self, error: ProviderError) {
        self.item(Err(error)).await;
    }

    async fn item(&self, item: StreamItem) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(item);
        let mut handed_over = false;
        // No waker is stored: the stream looks into the queue after every poll of the block, and the reader's next poll
        // comes back here.
        std::future::poll_fn(|_| match std::mem::replace(&mut handed_over, true) {
            true => Poll::Ready(()),
            false => Poll::Pending,
        })
        .await;
    }

    fn next(&self) -> Option<StreamItem> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// Runs `block` as a stream.
pub(crate) fn flow<F>(block: impl FnOnce(EventEmitter) -> F) -> AnswerStream
where
    F: Future<Output = ()> + Send + 'static,
{
    let emit = EventEmitter::default();
    let block = Box::pin(block(emit.clone()));
    Box::pin(AsyncBlockStream { emit, block: Some(block) })
}

struct AsyncBlockStream {
    emit: EventEmitter,
    block: Option<Pin<Box<dyn Future<Output = ()> + Send>>>,
}

impl Stream for AsyncBlockStream {
    type Item = StreamItem;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<StreamItem>> {
        if let Some(item) = self.emit.next() {
            return Poll::Ready(Some(item));
        }
        let Some(block) = self.block.as_mut() else { return Poll::Ready(None) };
        let done = block.as_mut().poll(context).is_ready();
        if done {
            self.block = None;
        }
        match self.emit.next() {
            Some(item) => Poll::Ready(Some(item)),
            None if done => Poll::Ready(None),
            None => Poll::Pending,
        }
    }
}
