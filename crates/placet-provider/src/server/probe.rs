//! Trying out a provider: one tiny real call for each feature that may or may not work, and the result. Nothing is
//! retried beyond the provider's own retries, and a later step is skipped when an earlier one shows that it must fail.

use crate::{ModelRequest, ModelSpec, Provider, ProviderError, StreamEvent};
use futures_util::StreamExt;
use placet_text::conversation::{AssistantMessage, CallOutcome, CallResult, Image, Message, Part, ToolSpec};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// The most tokens of an answer: enough for a word after some reasoning.
const MOST: u64 = 2_000;

/// How long one step may take: somebody waits for its line.
const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProbeOutcome {
    Works(String),
    /// The server accepted it, and whether it works cannot be known.
    Unclear(String),
    Fails(String),
    /// Not tried, and why.
    Untried(String),
}

/// One thing that was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProbeStep {
    pub name: &'static str,
    pub found: ProbeOutcome,
}

/// Tries everything; `picture` is shown where the model may see. Each step is handed over when it is known; one that
/// asks ends after [`PATIENCE`].
pub async fn probe(
    provider: &dyn Provider,
    model: &ModelSpec,
    picture: Image,
    known: &mut (dyn FnMut(ProbeStep) + Send),
) {
    let mut say = |name, found| known(ProbeStep { name, found });
    let asked = request(model, Vec::new(), vec![Message::user("Reply with one word: ready")]);
    let first = match tokio::time::timeout(PATIENCE, hear(provider, asked)).await {
        Ok(heard) => heard,
        Err(_) => ProbeAnswer { result: Err(ProviderError::Timeout(PATIENCE)), pieces: 0, first: None },
    };
    let reached = first.result.is_ok();
    let key = key(&first);
    let streaming = match key {
        ProbeOutcome::Fails(_) => ProbeOutcome::Untried("the key was not accepted".into()),
        _ => streaming(&first),
    };
    say("key", key);
    say("streaming", streaming);
    if !reached {
        let why = || ProbeOutcome::Untried("no answer".into());
        return ["tools", "images"].into_iter().for_each(|name| say(name, why()));
    }
    say("tools", within(tools(provider, model)).await);
    let images = match model.capabilities.vision {
        true => within(images(provider, model, picture)).await,
        false => ProbeOutcome::Untried("the model is not known to accept pictures".into()),
    };
    say("images", images);
}

async fn within(step: impl Future<Output = ProbeOutcome>) -> ProbeOutcome {
    let late = || ProbeOutcome::Fails(format!("no whole answer within {} s", PATIENCE.as_secs()));
    tokio::time::timeout(PATIENCE, step).await.unwrap_or_else(|_| late())
}

/// An answer, and how it arrived.
struct ProbeAnswer {
    result: Result<AssistantMessage, ProviderError>,
    pieces: usize,
    first: Option<Duration>,
}

async fn hear(provider: &dyn Provider, request: ModelRequest) -> ProbeAnswer {
    let since = Instant::now();
    let mut heard = ProbeAnswer {
        result: Err(ProviderError::Protocol("the stream ended before the answer".into())),
        pieces: 0,
        first: None,
    };
    let mut stream = provider.answer(request, CancellationToken::new());
    while let Some(item) = stream.next().await {
        match item {
            Ok(StreamEvent::Finished(answer)) => heard.result = Ok(answer),
            Ok(StreamEvent::Text(_) | StreamEvent::Thinking(_) | StreamEvent::CallStarted { .. }) => {
                heard.pieces += 1;
                heard.first.get_or_insert(since.elapsed());
            }
            Ok(_) => {}
            Err(error) => heard.result = Err(error),
        }
    }
    heard
}

fn request(model: &ModelSpec, tools: Vec<ToolSpec>, messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        model: model.clone(),
        system: "You are being tested. Be brief.".into(),
        tools: tools.into(),
        messages,
        max_output: MOST.min(model.window / 4),
    }
}

fn key(heard: &ProbeAnswer) -> ProbeOutcome {
    match &heard.result {
        Err(
            error @ (ProviderError::Auth { .. }
            | ProviderError::NoKey { .. }
            | ProviderError::KeyUnusable { .. }),
        ) => ProbeOutcome::Fails(error.to_string()),
        Err(
            ProviderError::Network { .. }
            | ProviderError::NotRunning { .. }
            | ProviderError::Untrusted { .. }
            | ProviderError::PlainHttp { .. },
        ) => ProbeOutcome::Untried("the server cannot be reached".into()),
        Err(ProviderError::Timeout(_)) => ProbeOutcome::Untried("no answer".into()),
        // Whatever else the server answered, it accepted this key.
        _ => ProbeOutcome::Works("taken".into()),
    }
}

fn streaming(heard: &ProbeAnswer) -> ProbeOutcome {
    match (&heard.result, heard.first) {
        (Err(error), _) => ProbeOutcome::Fails(error.to_string()),
        (Ok(_), None) => ProbeOutcome::Fails("the answer was empty".into()),
        (Ok(_), Some(first)) if heard.pieces > 1 => {
            ProbeOutcome::Works(format!("{} pieces, the first after {} ms", heard.pieces, first.as_millis()))
        }
        (Ok(_), Some(first)) => ProbeOutcome::Works(format!("one piece, after {} ms", first.as_millis())),
    }
}

/// A call, and then its result: many servers accept the call and refuse the result.
async fn tools(provider: &dyn Provider, model: &ModelSpec) -> ProbeOutcome {
    let schema = json!({
        "type": "object",
        "properties": {"word": {"type": "string", "description": "The word to send."}},
        "required": ["word"],
    });
    let ping = ToolSpec { name: "ping".into(), description: "Sends a word and returns it.".into(), schema };
    let mut messages =
        vec![Message::user("Call the tool `ping` with the word placet, then say what it returned.")];
    let answer = match hear(provider, request(model, vec![ping.clone()], messages.clone())).await.result {
        Ok(answer) => answer,
        Err(error) => return ProbeOutcome::Fails(error.to_string()),
    };
    let results: Vec<CallResult> =
        answer.calls().map(|call| CallResult::text(call, CallOutcome::Done, "placet")).collect();
    match answer.calls().next() {
        None => {
            return ProbeOutcome::Fails(format!(
                "it answered with text instead of a call: {}",
                short(&answer.text())
            ));
        }
        Some(call) if call.name != "ping" => {
            return ProbeOutcome::Fails(format!("it called `{}`", short(&call.name)));
        }
        Some(_) => {}
    }
    messages.push(Message::Assistant(answer));
    messages.push(Message::Results { results });
    match hear(provider, request(model, vec![ping], messages)).await.result {
        Ok(_) => ProbeOutcome::Works("a call was made, and its result was accepted".into()),
        Err(error) => ProbeOutcome::Fails(format!("a call was made, but its result was refused: {error}")),
    }
}

async fn images(provider: &dyn Provider, model: &ModelSpec, picture: Image) -> ProbeOutcome {
    let parts = vec![Part::text("Which colour is this? One word."), Part::Image(picture)];
    match hear(provider, request(model, Vec::new(), vec![Message::User { parts }])).await.result {
        Ok(answer) if answer.text().to_lowercase().contains("red") => {
            ProbeOutcome::Works(format!("it saw: {}", short(&answer.text())))
        }
        // The server accepted the picture; whether the model looked at it cannot be known.
        Ok(answer) => ProbeOutcome::Unclear(format!(
            "accepted, but the model did not see red: {}",
            short(&answer.text())
        )),
        Err(error) => ProbeOutcome::Fails(error.to_string()),
    }
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let cut: String = line.chars().take(80).collect();
    if cut.is_empty() { "nothing".into() } else { cut }
}
