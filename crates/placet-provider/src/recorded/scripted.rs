//! A provider that answers what a test prescribes, for tests of the floors above: a list of answers and errors, and a
//! record of every request.

use super::replay_stream;
use crate::answer::event_stream::flow;
use crate::{AnswerStream, ModelRequest, Provider, ProviderError, StreamEvent};
use placet_text::conversation::{AssistantMessage, Message};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// What one request gets.
#[derive(Clone, Debug)]
pub enum ScriptedAnswer {
    /// The answer, streamed in small pieces.
    Answer(AssistantMessage),
    /// These events, and then the error or, with `None`, no further event until it is cancelled.
    Events(Vec<StreamEvent>, Option<ProviderError>),
}

impl From<AssistantMessage> for ScriptedAnswer {
    fn from(answer: AssistantMessage) -> ScriptedAnswer {
        ScriptedAnswer::Answer(answer)
    }
}

impl From<ProviderError> for ScriptedAnswer {
    fn from(error: ProviderError) -> ScriptedAnswer {
        ScriptedAnswer::Events(Vec::new(), Some(error))
    }
}

/// The provider. Clones share the script and the record.
#[derive(Clone, Debug, Default)]
pub struct ScriptedProvider(Arc<ScriptedInner>);

#[derive(Debug, Default)]
struct ScriptedInner {
    script: Mutex<VecDeque<ScriptedAnswer>>,
    requests: Mutex<Vec<ModelRequest>>,
}

impl ScriptedProvider {
    pub fn new<S: Into<ScriptedAnswer>>(script: impl IntoIterator<Item = S>) -> ScriptedProvider {
        let script = script.into_iter().map(Into::into).collect();
        ScriptedProvider(Arc::new(ScriptedInner { script: Mutex::new(script), requests: Mutex::default() }))
    }

    /// Adds to the end of the script.
    pub fn then(&self, script: impl Into<ScriptedAnswer>) {
        self.0.script.lock().unwrap_or_else(PoisonError::into_inner).push_back(script.into());
    }

    /// Every request so far, in order.
    pub fn requests(&self) -> Vec<ModelRequest> {
        self.0.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Provider for ScriptedProvider {
    fn name(&self) -> &str {
        "scripted"
    }

    /// Fails with [`ProviderError::Protocol`] where the script is over.
    fn answer(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let lines = Arc::clone(&self.0);
        flow(|emit| async move {
            // As a model reads it.
            let messages = request.messages.iter().map(Message::in_words).collect();
            let heard = ModelRequest { messages, ..request };
            lines.requests.lock().unwrap_or_else(PoisonError::into_inner).push(heard);
            let next = lines.script.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            match next {
                None => emit.fail(ProviderError::Protocol("the script has ended".into())).await,
                Some(ScriptedAnswer::Answer(answer)) => {
                    replay_stream::stream_answer(answer, Duration::ZERO, &cancel, &emit).await
                }
                Some(ScriptedAnswer::Events(events, end)) => {
                    for event in events {
                        if cancel.is_cancelled() {
                            return emit.fail(ProviderError::Cancelled).await;
                        }
                        let finished = matches!(event, StreamEvent::Finished(_));
                        emit.send(event).await;
                        if finished {
                            return;
                        }
                    }
                    match end {
                        Some(error) => emit.fail(error).await,
                        None => {
                            cancel.cancelled().await;
                            emit.fail(ProviderError::Cancelled).await;
                        }
                    }
                }
            }
        })
    }
}
