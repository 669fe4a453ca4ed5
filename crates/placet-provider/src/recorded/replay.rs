//! A recording as a provider: the same requests get the same answers, event for event and without waiting. A request
//! that is another one than was recorded is answered with a readable difference, never with a guess.

use super::recording_format::{RecordingHeader, RecordingLine, VERSION, canonical};
use crate::answer::event_stream::flow;
use crate::{AnswerStream, ModelRequest, Provider, ProviderError, StreamEvent};
use placet_text::text::LineDiff;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The most lines of a difference that are shown.
const MOST_LINES: usize = 60;

/// The provider. Requests come in the order in which they were recorded.
pub struct ReplayProvider {
    name: String,
    tape: Arc<Mutex<ReplayQueue>>,
}

#[derive(Debug)]
struct ReplayQueue {
    exchanges: Vec<RecordedExchange>,
    next: usize,
}

#[derive(Clone, Debug)]
struct RecordedExchange {
    model: String,
    messages: Vec<Value>,
    told: Vec<Result<StreamEvent, ProviderError>>,
}

impl ReplayProvider {
    /// Reads a recording. What is not one fails with [`io::ErrorKind::InvalidData`] and the number of the line.
    pub fn open(path: &Path) -> io::Result<ReplayProvider> {
        ReplayProvider::parse(&fs::read_to_string(path)?)
    }

    /// The model of the first recorded answer; `None` where there is none.
    pub fn model(&self) -> Option<String> {
        let tape = self.tape.lock().unwrap_or_else(PoisonError::into_inner);
        tape.exchanges.first().map(|exchange| exchange.model.clone())
    }

    fn parse(text: &str) -> io::Result<ReplayProvider> {
        let bad = |number: usize, why: &str| {
            io::Error::new(io::ErrorKind::InvalidData, format!("line {number} of the recording: {why}"))
        };
        let mut lines = text.lines().enumerate();
        let header = lines.next().map(|(_, line)| line).unwrap_or_default();
        let header: RecordingHeader = serde_json::from_str(header).map_err(|e| bad(1, &e.to_string()))?;
        if header.version != VERSION {
            return Err(bad(1, &format!("unknown version {}: expected {VERSION}", header.version)));
        }
        let mut exchanges: Vec<RecordedExchange> = Vec::new();
        for (index, line) in lines {
            let line: RecordingLine =
                serde_json::from_str(line).map_err(|e| bad(index + 1, &e.to_string()))?;
            match (line, exchanges.last_mut()) {
                (RecordingLine::Request { model, keep, messages: mut new }, before) => {
                    let mut messages = before.map(|b| b.messages.clone()).unwrap_or_default();
                    messages.truncate(keep);
                    messages.append(&mut new);
                    exchanges.push(RecordedExchange { model, messages, told: Vec::new() });
                }
                (_, None) => return Err(bad(index + 1, "an event before any request")),
                (RecordingLine::Event(event), Some(exchange)) => exchange.told.push(Ok(event)),
                (RecordingLine::Error(error), Some(exchange)) => exchange.told.push(Err(error)),
            }
        }
        Ok(ReplayProvider {
            name: header.provider,
            tape: Arc::new(Mutex::new(ReplayQueue { exchanges, next: 0 })),
        })
    }
}

impl ReplayQueue {
    /// The recorded exchange for `request`. A request that does not fit uses nothing up.
    fn take(&mut self, request: &ModelRequest) -> Result<RecordedExchange, ProviderError> {
        let number = self.next + 1;
        let Some(exchange) = self.exchanges.get(self.next) else {
            let count = self.exchanges.len();
            return Err(ProviderError::Replay(format!(
                "it ends after {count} requests; this is number {number}"
            )));
        };
        let messages: Vec<Value> = request.messages.iter().map(canonical).collect();
        if exchange.model != request.model.name {
            return Err(ProviderError::Replay(format!(
                "request {number} was recorded for the model `{}`, but is now for `{}`",
                exchange.model, request.model.name
            )));
        }
        if exchange.messages != messages {
            let difference = difference(&exchange.messages, &messages);
            return Err(ProviderError::Replay(format!(
                "request {number} differs from the recording:\n{difference}"
            )));
        }
        self.next += 1;
        Ok(exchange.clone())
    }
}

fn difference(recorded: &[Value], now: &[Value]) -> String {
    let pretty = |messages: &[Value]| -> String {
        messages.iter().map(|m| serde_json::to_string_pretty(m).unwrap_or_default() + "\n").collect()
    };
    let (recorded, now) = (pretty(recorded), pretty(now));
    let diff = LineDiff::new(&recorded, &now).unified(3, usize::MAX);
    let text = format!("--- recorded\n+++ now\n{}", diff.text);
    let lines: Vec<&str> = text.lines().collect();
    match lines.get(..MOST_LINES) {
        Some(first) => format!("{}\n... and {} more lines", first.join("\n"), lines.len() - MOST_LINES),
        None => lines.join("\n"),
    }
}

impl Provider for ReplayProvider {
    /// The name of the provider that was recorded.
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let tape = Arc::clone(&self.tape);
        flow(|emit| async move {
            let taken = tape.lock().unwrap_or_else(PoisonError::into_inner).take(&request);
            let exchange = match taken {
                Ok(exchange) => exchange,
                Err(error) => return emit.fail(error).await,
            };
            let mut whole = false;
            for item in exchange.told {
                if cancel.is_cancelled() {
                    return emit.fail(ProviderError::Cancelled).await;
                }
                whole = matches!(item, Err(_) | Ok(StreamEvent::Finished(_)));
                match item {
                    Ok(event) => emit.send(event).await,
                    Err(error) => emit.fail(error).await,
                }
            }
            if !whole {
                // The recording was interrupted here: the replay waits to be interrupted again.
                cancel.cancelled().await;
                emit.fail(ProviderError::Cancelled).await;
            }
        })
    }
}
