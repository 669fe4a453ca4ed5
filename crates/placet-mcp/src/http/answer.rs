//! What a server sends in one answer: its messages, read within limits.

use super::failure::HttpFailure;
use crate::line_transport::LONGEST_MESSAGE;
use crate::message_text::{self, ServerMessage};
use placet_http::{HttpError, HttpErrorKind, HttpResponse, SseEvent, SseParser};
use std::collections::VecDeque;
use std::time::Duration;

/// The most that one answer may send, in bytes: also an endless stream of small messages ends.
pub(super) const LONGEST_ANSWER: usize = 4 * LONGEST_MESSAGE;
/// How much of an error's body is shown, in bytes.
const ERROR_WORDS: usize = 300;
/// The shortest and the longest pause before a stream is continued, whatever the server asks for.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(30));
/// The pause of a server that asks for none.
const USUAL_PAUSE: Duration = Duration::from_secs(1);

/// What the `content-type` of an answer says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerKind {
    Json,
    Events,
}

impl AnswerKind {
    pub(super) fn of(response: &HttpResponse) -> Result<AnswerKind, HttpFailure> {
        let said = response.header("content-type").unwrap_or_default();
        let kind = said.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
        match kind.as_str() {
            "application/json" => Ok(AnswerKind::Json),
            "text/event-stream" => Ok(AnswerKind::Events),
            _ => Err(HttpFailure::ContentType(kind.chars().take(80).collect())),
        }
    }
}

/// The messages of a body of JSON: one, or a list of them.
pub(super) async fn json_messages(response: &mut HttpResponse) -> Result<Vec<ServerMessage>, HttpFailure> {
    let text = response.whole(LONGEST_MESSAGE).await.map_err(of_body)?;
    let messages = match text.trim_start().starts_with('[') {
        true => serde_json::from_str(&text).ok(),
        false => message_text::any_message(&text).map(|message| vec![message]),
    };
    messages.ok_or(HttpFailure::NotAMessage)
}

/// The failure that a status other than success means.
pub(super) async fn of_status(response: &mut HttpResponse) -> HttpFailure {
    let status = response.status();
    if status == 401 {
        return HttpFailure::KeyRefused { status };
    }
    let body = response.text(ERROR_WORDS * 10).await;
    let json = serde_json::from_str::<serde_json::Value>(&body).ok();
    let said = |at: &str| json.as_ref().and_then(|json| json.pointer(at)?.as_str());
    let message = said("/error/message").or_else(|| said("/message"));
    // A page of HTML says nothing that helps.
    let words = message.unwrap_or(if body.trim_start().starts_with(['<', '{']) { "" } else { body.trim() });
    let line = words.lines().next().unwrap_or_default();
    let cut = line.get(..line.floor_char_boundary(ERROR_WORDS)).unwrap_or_default();
    let words = if cut.is_empty() { String::new() } else { format!(": {cut}") };
    HttpFailure::Status { status, words }
}

/// A stream of events, and where it can be continued.
pub(super) struct EventReader {
    response: HttpResponse,
    parser: SseParser,
    ready: VecDeque<SseEvent>,
    /// How much it may still send, in bytes.
    left: usize,
    has_ended: bool,
}

impl EventReader {
    pub(super) fn new(response: HttpResponse, most: usize) -> EventReader {
        let parser = SseParser::new(LONGEST_MESSAGE);
        EventReader { response, parser, ready: VecDeque::new(), left: most, has_ended: false }
    }

    /// The next event; `None` at the end of the stream, also if the connection broke. Safe to drop and to call again.
    pub(super) async fn next(&mut self) -> Result<Option<SseEvent>, HttpFailure> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.has_ended {
                return Ok(None);
            }
            let Ok(Some(bytes)) = self.response.chunk().await else {
                self.has_ended = true;
                self.ready.extend(self.parser.finish());
                continue;
            };
            self.left = self
                .left
                .checked_sub(bytes.len())
                .ok_or(HttpFailure::AnswerTooLong { most: LONGEST_ANSWER })?;
            let events = self.parser.push(&bytes);
            self.ready.extend(events.map_err(|e| HttpFailure::MessageTooLong { most: e.most })?);
        }
    }

    /// The next message. Events that are none are skipped, as lines that are none are by the other transport.
    pub(super) async fn message(&mut self) -> Result<Option<ServerMessage>, HttpFailure> {
        while let Some(event) = self.next().await? {
            if let Some(message) = message_text::any_message(&event.data) {
                return Ok(Some(message));
            }
        }
        Ok(None)
    }

    /// The id of the event after which the server can continue, if it gave one.
    pub(super) fn last_id(&self) -> Option<&str> {
        self.parser.last_id()
    }

    pub(super) fn pause(&self) -> Duration {
        self.parser.retry().unwrap_or(USUAL_PAUSE).clamp(PAUSES.0, PAUSES.1)
    }
}

fn of_body(error: HttpError) -> HttpFailure {
    match error.kind {
        HttpErrorKind::TooLong { most } => HttpFailure::MessageTooLong { most },
        _ => HttpFailure::Connection(error),
    }
}
