//! One message to a server, and what comes back for it: JSON, or a stream, which is continued where it broke.

use super::answer::{self, AnswerKind, EventReader, LONGEST_ANSWER};
use super::failure::HttpFailure;
use super::link::{HttpLink, Verb};
use super::listener;
use crate::message_text::ServerMessage;
use placet_http::HttpResponse;
use rmcp::model::{ClientNotification, ClientRequest, JsonRpcMessage, RequestId, ServerResult};
use rmcp::service::{RoleClient, TxJsonRpcMessage};
use std::sync::Arc;
use std::time::Duration;

/// How long a message that has no answer may wait for the server.
const MESSAGE: Duration = Duration::from_secs(10);
/// How often a stream is continued without an event in between.
const MOST_TRIES: usize = 5;
/// How long a stream may last after its answer: if it ends, its connection can be used again.
const AFTER_ANSWER: Duration = Duration::from_millis(50);

impl HttpLink {
    /// Sends a message. For a request, this ends when its answer was received, or when somebody stopped it.
    pub(super) async fn send(
        self: Arc<Self>,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> Result<(), HttpFailure> {
        let body = serde_json::to_vec(&message).map_err(|_| HttpFailure::NotAMessage)?;
        match &message {
            JsonRpcMessage::Request(request) => {
                let is_first = matches!(request.request, ClientRequest::InitializeRequest(_));
                let running = self.begin(&request.id);
                tokio::select! {
                    biased;
                    () = running.stop.cancelled() => Ok(()),
                    done = self.exchange(&body, &request.id, is_first) => done,
                }
            }
            JsonRpcMessage::Notification(sent) => {
                if let ClientNotification::CancelledNotification(cancelled) = &sent.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.stop(id);
                }
                let is_start = matches!(sent.notification, ClientNotification::InitializedNotification(_));
                self.deliver(&body).await?;
                if is_start && !self.is_older() {
                    listener::begin(&self).await;
                }
                Ok(())
            }
            _ => self.deliver(&body).await,
        }
    }

    /// Sends a message that has no answer.
    async fn deliver(&self, body: &[u8]) -> Result<(), HttpFailure> {
        let sending = async {
            let mut response = self.request(Verb::Post(body)).await?;
            self.check(&mut response).await
        };
        tokio::time::timeout(MESSAGE, sending).await.unwrap_or(Err(HttpFailure::NotTaken(MESSAGE)))
    }

    async fn check(&self, response: &mut HttpResponse) -> Result<(), HttpFailure> {
        match response.status() {
            200..=299 => Ok(()),
            404 if self.has_session() => {
                self.end_session();
                Err(HttpFailure::SessionEnded)
            }
            _ => Err(answer::of_status(response).await),
        }
    }

    async fn exchange(
        self: &Arc<Self>,
        body: &[u8],
        id: &RequestId,
        is_first: bool,
    ) -> Result<(), HttpFailure> {
        let mut response = self.request(Verb::Post(body)).await?;
        if is_first && matches!(response.status(), 400 | 404 | 405) {
            let failure = answer::of_status(&mut response).await;
            // Servers of the older transport take no message here. If it is none of them, its first answer counts.
            if !listener::begin_older(self).await? {
                return Err(failure);
            }
            response = self.request(Verb::Post(body)).await?;
        }
        self.check(&mut response).await?;
        if self.is_older() {
            return Ok(());
        }
        if is_first {
            self.begin_session(&response);
        }
        if response.status() == 202 {
            return Err(HttpFailure::CutShort);
        }
        match AnswerKind::of(&response)? {
            AnswerKind::Events => self.read_events(EventReader::new(response, LONGEST_ANSWER), id).await,
            AnswerKind::Json => {
                let messages = answer::json_messages(&mut response).await?;
                let has_answer = messages.iter().any(|message| is_answer(message, id));
                for message in messages {
                    self.take(message).await;
                }
                if has_answer { Ok(()) } else { Err(HttpFailure::CutShort) }
            }
        }
    }

    /// Reads the stream up to the answer. One that breaks before is continued, if the server gave its events ids.
    async fn read_events(&self, mut reader: EventReader, id: &RequestId) -> Result<(), HttpFailure> {
        let (mut tries, mut last_id) = (0, None);
        loop {
            while let Some(message) = reader.message().await? {
                tries = 0;
                let is_answer = is_answer(&message, id);
                self.take(message).await;
                if is_answer {
                    drop(tokio::time::timeout(AFTER_ANSWER, reader.next()).await);
                    return Ok(());
                }
            }
            last_id = reader.last_id().map(String::from).or(last_id);
            let Some(after) = last_id.as_deref() else { return Err(HttpFailure::CutShort) };
            tries += 1;
            if tries > MOST_TRIES {
                return Err(HttpFailure::CutShort);
            }
            tokio::time::sleep(reader.pause()).await;
            let mut response = self.request(Verb::Listen { after: Some(after) }).await?;
            self.check(&mut response).await?;
            if AnswerKind::of(&response)? != AnswerKind::Events {
                return Err(HttpFailure::NotAMessage);
            }
            reader = EventReader::new(response, LONGEST_ANSWER);
        }
    }

    /// Passes a message on. It waits while the receiver is busy.
    pub(super) async fn take(&self, message: ServerMessage) {
        if let JsonRpcMessage::Response(response) = &message
            && let ServerResult::InitializeResult(first) = &response.result
        {
            self.set_version(first.protocol_version.to_string());
        }
        // The receiver is gone when the connection is being closed.
        drop(self.inbound.send(message).await);
    }
}

fn is_answer(message: &ServerMessage, id: &RequestId) -> bool {
    match message {
        JsonRpcMessage::Response(response) => response.id == *id,
        JsonRpcMessage::Error(error) => error.id.as_ref() == Some(id),
        _ => false,
    }
}
