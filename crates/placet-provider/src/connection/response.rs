//! One response being read: event by event under a watchdog, and what its end means. What had arrived when the
//! connection broke is returned, without calls; whether to repeat the attempt is decided elsewhere.

use super::limit::AnswerMeter;
use super::timeout::{AttemptWatchdog, WaitInterruption};
use crate::answer::joined_events::JoinedEvents;
use crate::{AnswerDecoder, AnswerLimits, ExceededLimit, ModelRequest, ProviderError, StreamEvent};
use placet_http::{HttpError, HttpErrorKind, HttpResponse, SseEvent, SseParser};
use placet_text::conversation::{AssistantMessage, StopReason};
use std::time::Duration;

/// How long the reader waits for the end of a stream when the answer is already complete.
const PATIENCE: Duration = Duration::from_secs(5);

/// An attempt that failed, and whether anything of the answer had been shown before.
pub(crate) struct FailedAttempt {
    pub(crate) error: ProviderError,
    pub(crate) begun: bool,
}

impl From<ProviderError> for FailedAttempt {
    fn from(error: ProviderError) -> FailedAttempt {
        FailedAttempt { error, begun: false }
    }
}

pub(crate) enum ResponseProgress {
    More,
    Done,
}

/// One response being read.
pub(crate) struct ResponseReader<'r> {
    decoder: Box<dyn AnswerDecoder>,
    request: &'r ModelRequest,
    /// Something of the answer has been shown.
    begun: bool,
    host: String,
    /// The server's name for the request.
    id: Option<String>,
    meter: AnswerMeter,
}

impl<'r> ResponseReader<'r> {
    pub(crate) fn new(
        decoder: Box<dyn AnswerDecoder>,
        request: &'r ModelRequest,
        host: &str,
        id: Option<String>,
        limits: AnswerLimits,
    ) -> ResponseReader<'r> {
        let meter = AnswerMeter::new(limits);
        ResponseReader { decoder, request, begun: false, host: host.to_string(), id, meter }
    }

    pub(crate) async fn read(
        mut self,
        mut response: HttpResponse,
        watch: &mut AttemptWatchdog<'_>,
    ) -> Result<(), FailedAttempt> {
        let mut parser = SseParser::new(self.meter.limits().event_bytes);
        loop {
            let chunk = match watch.wait(response.chunk()).await {
                Ok(chunk) => chunk,
                Err(WaitInterruption::Cancelled) => return Err(ProviderError::Cancelled.into()),
                Err(WaitInterruption::Silent(_)) if self.decoder.is_whole() => {
                    return self.ended("the end is missing", watch).await;
                }
                Err(WaitInterruption::Silent(limit)) => {
                    return Err(self.failed(ProviderError::Timeout(limit)));
                }
                Err(WaitInterruption::Late(most)) => return Err(self.over(ExceededLimit::Time { most })),
                // The server may have continued as if nothing had happened; otherwise the silence limit ends the
                // attempt.
                Err(WaitInterruption::Slept(_)) if self.begun => continue,
                Err(WaitInterruption::Slept(asleep)) => return Err(slept(&self.host, asleep)),
            };
            let events = match chunk {
                Ok(Some(bytes)) => {
                    self.meter.receive(bytes.len()).map_err(|limit| self.over(limit))?;
                    parser.push(&bytes)
                }
                Ok(None) => {
                    // The last event may lack the blank line that ends an event.
                    if let Some(last) = parser.finish()
                        && matches!(self.feed(last, watch).await?, ResponseProgress::Done)
                    {
                        return Ok(());
                    }
                    return self.ended("the server closed the connection", watch).await;
                }
                Err(error) => return self.torn(error, watch).await,
            };
            let events = events.map_err(|long| self.over(ExceededLimit::EventBytes { most: long.most }))?;
            if let ResponseProgress::Done = self.feed_all(events, watch).await? {
                return Ok(());
            }
        }
    }

    pub(crate) async fn feed(
        &mut self,
        event: SseEvent,
        watch: &mut AttemptWatchdog<'_>,
    ) -> Result<ResponseProgress, FailedAttempt> {
        self.feed_all(vec![event], watch).await
    }

    /// Hands over what these events say. Text that arrived together is one event: a fast server sends hundreds of pieces
    /// in the time that one of them takes to the screen.
    async fn feed_all(
        &mut self,
        events: Vec<SseEvent>,
        watch: &mut AttemptWatchdog<'_>,
    ) -> Result<ResponseProgress, FailedAttempt> {
        let mut joined = JoinedEvents::default();
        let mut read = Ok(None);
        for event in events {
            read = self.decode(event, watch, &mut joined);
            if !matches!(read, Ok(None)) {
                break;
            }
        }
        // Also before an error: what arrived before it is shown.
        let left = if read.is_err() { self.decoder.held_back() } else { Vec::new() };
        for event in joined.take().into_iter().chain(left) {
            watch.send_event(event).await.map_err(unstarted)?;
        }
        match read? {
            None => Ok(ResponseProgress::More),
            Some(answer) => {
                watch.finish(answer).await;
                Ok(ResponseProgress::Done)
            }
        }
    }

    /// Decodes one event; gives the answer when it is complete.
    fn decode(
        &mut self,
        event: SseEvent,
        watch: &mut AttemptWatchdog<'_>,
        joined: &mut JoinedEvents,
    ) -> Result<Option<AssistantMessage>, FailedAttempt> {
        self.meter.accept(&event.data).map_err(|limit| self.over(limit))?;
        let told = self.decoder.feed(&event.name, &event.data).map_err(|e| self.failed(e))?;
        self.meter.count(event.data.len(), &told).map_err(|limit| self.over(limit))?;
        if !told.is_empty() {
            watch.progress();
        }
        if self.decoder.is_whole() {
            watch.at_most(PATIENCE);
        }
        for event in told {
            match event {
                StreamEvent::Finished(answer) => return Ok(Some(self.named(answer))),
                other => {
                    // Usage alone shows nothing of the answer: the attempt can still be repeated.
                    self.begun |= !matches!(other, StreamEvent::Usage(_));
                    joined.push(other);
                }
            }
        }
        Ok(None)
    }

    /// The connection failed while the body was being read.
    pub(crate) async fn torn(
        self,
        error: HttpError,
        watch: &mut AttemptWatchdog<'_>,
    ) -> Result<(), FailedAttempt> {
        match error.kind {
            // A malformed response does not improve by a repeated request.
            HttpErrorKind::Malformed if !self.begun => Err(network(error).into()),
            HttpErrorKind::TooLong { most } => Err(self.over(ExceededLimit::EventBytes { most })),
            _ => self.ended(&error.message, watch).await,
        }
    }

    /// A limit ends an answer finally: none of its calls run, and neither the answer nor its rest is requested again.
    fn over(&self, limit: ExceededLimit) -> FailedAttempt {
        FailedAttempt { error: ProviderError::OverLimit(limit), begun: self.begun }
    }

    /// The body has ended without the event that ends an answer.
    pub(crate) async fn ended(
        mut self,
        why: &str,
        watch: &mut AttemptWatchdog<'_>,
    ) -> Result<(), FailedAttempt> {
        let answer = self.decoder.cut();
        for event in self.decoder.held_back() {
            watch.send_event(event).await.map_err(unstarted)?;
        }
        if answer.stop != StopReason::Cut {
            let answer = self.named(answer);
            watch.finish(answer).await;
            return Ok(());
        }
        let message = named(why, self.id.as_deref());
        Err(if self.begun {
            let partial = Box::new(self.named(answer));
            FailedAttempt { error: ProviderError::Broken { message, partial }, begun: true }
        } else {
            ProviderError::Network { host: self.host, message }.into()
        })
    }

    /// The answer under the model's name from the request: servers resolve aliases, and reasoning goes back only to the
    /// same name.
    fn named(&self, answer: AssistantMessage) -> AssistantMessage {
        AssistantMessage { model: self.request.model.name.clone(), ..answer }
    }

    /// The error that ends this attempt: unchanged before the answer began, else with the received part.
    fn failed(&mut self, error: ProviderError) -> FailedAttempt {
        let id = self.id.as_deref();
        if !self.begun {
            return error.map_message(|words| named(words, id)).into();
        }
        let message = named(&error.to_string(), id);
        let partial = self.decoder.cut();
        let partial = Box::new(self.named(partial));
        FailedAttempt { error: ProviderError::Broken { message, partial }, begun: true }
    }
}

pub(crate) fn network(error: HttpError) -> ProviderError {
    let HttpError { host, message, kind } = error;
    match kind {
        HttpErrorKind::Connection => ProviderError::Network { host, message },
        HttpErrorKind::NotListening => ProviderError::NotRunning { host, start: None },
        HttpErrorKind::ProxyRefuses => ProviderError::Proxy { message },
        HttpErrorKind::Untrusted => ProviderError::Untrusted { host, message },
        HttpErrorKind::Malformed => ProviderError::Protocol(format!("{host}: {message}")),
        HttpErrorKind::TooLong { most } => ProviderError::OverLimit(ExceededLimit::EventBytes { most }),
    }
}

/// The text with the server's id of the request, which its operators ask for.
pub(crate) fn named(words: &str, id: Option<&str>) -> String {
    match id {
        Some(id) => format!("{words} (request {id})"),
        None => words.to_string(),
    }
}

pub(crate) fn unstarted(halt: WaitInterruption) -> FailedAttempt {
    match halt {
        WaitInterruption::Cancelled => ProviderError::Cancelled.into(),
        WaitInterruption::Silent(limit) => ProviderError::Timeout(limit).into(),
        WaitInterruption::Late(most) => ProviderError::OverLimit(ExceededLimit::Time { most }).into(),
        // Another error names the host where it matters; here only a body was awaited.
        WaitInterruption::Slept(asleep) => slept("the server", asleep),
    }
}

pub(crate) fn slept(host: &str, asleep: Duration) -> FailedAttempt {
    let message = format!("this machine slept for {} min", asleep.as_secs() / 60);
    ProviderError::Network { host: host.into(), message }.into()
}
