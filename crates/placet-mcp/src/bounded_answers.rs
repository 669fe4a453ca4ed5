//! A transport that bounds the requests of a server that wait for their answer. A server that sends requests and reads no
//! answer would fill the memory with answers, and no message to it would leave any more.

use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId, ServerNotification, ServerRequest};
use rmcp::service::{RoleClient, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// How many requests of a server may wait. With more, nothing is read from it.
pub(super) const MOST_WAITING: usize = 64;
/// How long it may take no answer then. After that it is ended.
pub(super) const STALLED: Duration = Duration::from_secs(3);
/// The longest id and the longest unknown method of a request, in bytes: an answer repeats both.
const LONGEST_NAME: usize = 1_000;

/// The requests of a server that wait for their answer. Clones share everything.
#[derive(Clone, Default)]
pub(super) struct OpenRequests(Arc<OpenState>);

#[derive(Default)]
struct OpenState {
    ids: Mutex<HashSet<RequestId>>,
    /// One of them was answered.
    answered: Notify,
    /// Requests before the greeting are never answered, and so they are not counted.
    is_greeted: AtomicBool,
    /// Cancelled when the server took no answer for [`STALLED`].
    stalled: CancellationToken,
}

/// A request whose answer is being sent. A drop makes room for another.
struct AnsweredRequest {
    open: OpenRequests,
    id: RequestId,
}

impl Drop for AnsweredRequest {
    fn drop(&mut self) {
        self.open.ids().remove(&self.id);
        self.open.0.answered.notify_one();
    }
}

impl OpenRequests {
    fn ids(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.0.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_full(&self) -> bool {
        self.ids().len() >= MOST_WAITING
    }

    pub(super) fn is_stalled(&self) -> bool {
        self.0.stalled.is_cancelled()
    }

    /// Waits until the server has taken no answer for too long.
    pub(super) async fn stalled(&self) {
        self.0.stalled.cancelled().await;
    }

    /// True if the service may have the message. It then answers each request once, so that the count is right.
    fn admits(&self, message: &RxJsonRpcMessage<RoleClient>) -> bool {
        if !self.0.is_greeted.load(Ordering::Acquire) {
            return true;
        }
        match message {
            JsonRpcMessage::Request(request) => {
                is_short(&request.id, &request.request) && self.ids().insert(request.id.clone())
            }
            // The service would not answer a request that was taken back: its answer is ready anyway.
            JsonRpcMessage::Notification(sent) => match &sent.notification {
                ServerNotification::CancelledNotification(cancelled) => {
                    let id = cancelled.params.request_id.as_ref();
                    !id.is_some_and(|id| self.ids().contains(id))
                }
                _ => true,
            },
            _ => true,
        }
    }
}

fn is_short(id: &RequestId, request: &ServerRequest) -> bool {
    let id = match id {
        RequestId::String(id) => id.len(),
        RequestId::Number(_) => 0,
    };
    let method = match request {
        ServerRequest::CustomRequest(request) => request.method.len(),
        _ => 0,
    };
    id <= LONGEST_NAME && method <= LONGEST_NAME
}

pub(super) struct BoundedAnswers<T> {
    inner: T,
    open: OpenRequests,
    /// Since when nothing is read.
    full_since: Option<Instant>,
}

impl<T> BoundedAnswers<T> {
    pub(super) fn new(inner: T) -> BoundedAnswers<T> {
        BoundedAnswers { inner, open: OpenRequests::default(), full_since: None }
    }

    pub(super) fn open_requests(&self) -> OpenRequests {
        self.open.clone()
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for BoundedAnswers<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        let id = match &message {
            JsonRpcMessage::Response(answer) => Some(answer.id.clone()),
            JsonRpcMessage::Error(answer) => answer.id.clone(),
            JsonRpcMessage::Notification(sent) => {
                if matches!(sent.notification, ClientNotification::InitializedNotification(_)) {
                    self.open.0.is_greeted.store(true, Ordering::Release);
                }
                None
            }
            JsonRpcMessage::Request(_) => None,
        };
        let answered = id.map(|id| AnsweredRequest { open: self.open.clone(), id });
        let sending = self.inner.send(message);
        async move {
            let _answered = answered;
            sending.await
        }
    }

    /// The next message; `None` at the end, also if the server takes no answers. Safe to drop and to call again.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            while self.open.is_full() {
                let end = *self.full_since.get_or_insert_with(Instant::now) + STALLED;
                tokio::select! {
                    () = self.open.0.answered.notified() => {}
                    () = tokio::time::sleep_until(end) => {
                        self.open.0.stalled.cancel();
                        return None;
                    }
                }
            }
            self.full_since = None;
            let message = self.inner.receive().await?;
            if self.open.admits(&message) {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.inner.close().await
    }
}

#[cfg(test)]
#[path = "bounded_answers_tests.rs"]
mod tests;
