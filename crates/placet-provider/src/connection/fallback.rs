//! Other providers for when the first does not answer. Each provider has a circuit breaker: after a failure it is
//! skipped for a while, which saves waiting for the same server to fail again. Only a transient error leads to another
//! provider, and only before the first word: no text appears twice, and a refused key is reported and not hidden.

use crate::answer::event_stream::flow;
use crate::{
    AnswerStream, ModelRequest, ModelSpec, Provider, ProviderError, ServerFacts, ServerFactsFuture,
    StreamEvent, ToolForm, WarmUpFuture,
};
use futures_util::StreamExt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// How long a provider is skipped after its first failure in a row; each further failure doubles the time.
const FIRST: Duration = Duration::from_secs(60);
const LONGEST: Duration = Duration::from_secs(600);

/// One provider of the chain.
pub struct FallbackEntry {
    pub provider: Arc<dyn Provider>,
    /// The model requested here, and the most tokens of its answer; `None` is the model that the request names.
    pub model: Option<(ModelSpec, u64)>,
}

/// The first provider, and the providers that replace it after a failure.
pub struct FallbackProvider(Arc<FallbackChain>);

struct FallbackChain {
    links: Vec<FallbackEntry>,
    breakers: Vec<Mutex<CircuitBreaker>>,
}

#[derive(Debug, Default)]
struct CircuitBreaker {
    failures: u32,
    open_until: Option<Instant>,
}

impl CircuitBreaker {
    /// How much longer it is skipped.
    fn open(&self, now: Instant) -> Option<Duration> {
        self.open_until.and_then(|until| until.checked_duration_since(now)).filter(|left| !left.is_zero())
    }

    fn failed(&mut self, now: Instant) {
        // A shift by 32 would overflow; `LONGEST` is reached after a few doublings.
        let wait = FIRST.saturating_mul(1 << self.failures.min(10)).min(LONGEST);
        self.failures += 1;
        self.open_until = Some(now + wait);
    }

    fn answered(&mut self) {
        *self = CircuitBreaker::default();
    }
}

impl FallbackProvider {
    pub fn new(first: Arc<dyn Provider>, others: Vec<FallbackEntry>) -> FallbackProvider {
        let mut links = vec![FallbackEntry { provider: first, model: None }];
        links.extend(others);
        let breakers = links.iter().map(|_| Mutex::default()).collect();
        FallbackProvider(Arc::new(FallbackChain { links, breakers }))
    }
}

impl FallbackEntry {
    fn name(&self) -> String {
        match &self.model {
            Some((model, _)) => format!("{} with {}", self.provider.name(), model.name),
            None => self.provider.name().to_string(),
        }
    }

    fn request(&self, request: &ModelRequest) -> ModelRequest {
        match &self.model {
            None => request.clone(),
            Some((model, most)) => ModelRequest {
                model: model.clone(),
                max_output: request.max_output.min(*most).min(model.window / 4).max(1),
                ..request.clone()
            },
        }
    }
}

impl FallbackChain {
    fn breaker<T>(&self, at: usize, work: impl FnOnce(&mut CircuitBreaker) -> T) -> Option<T> {
        let breaker = self.breakers.get(at)?;
        Some(work(&mut breaker.lock().unwrap_or_else(PoisonError::into_inner)))
    }

    /// The providers to ask, in order, and the skipped ones with the time left. When all are skipped, all are asked.
    fn order(&self, now: Instant) -> (Vec<usize>, Vec<(usize, Duration)>) {
        let (mut asked, mut left_out) = (Vec::new(), Vec::new());
        for at in 0..self.links.len() {
            match self.breaker(at, |breaker| breaker.open(now)).flatten() {
                None => asked.push(at),
                Some(left) => left_out.push((at, left)),
            }
        }
        if asked.is_empty() {
            return ((0..self.links.len()).collect(), Vec::new());
        }
        (asked, left_out)
    }
}

impl Provider for FallbackProvider {
    /// The name of the first provider.
    fn name(&self) -> &str {
        self.0.links.first().map_or("", |link| link.provider.name())
    }

    fn wire(&self) -> Option<&'static str> {
        self.0.links.first().and_then(|link| link.provider.wire())
    }

    fn warm(&self) -> WarmUpFuture {
        match self.0.links.first() {
            Some(link) => link.provider.warm(),
            None => Box::pin(std::future::ready(())),
        }
    }

    fn widening(&self) -> Option<&str> {
        self.0.links.first().and_then(|link| link.provider.widening())
    }

    fn without_tools(&self) -> Option<ToolForm> {
        self.0.links.first().and_then(|link| link.provider.without_tools())
    }

    fn facts(&self, model: &str) -> ServerFactsFuture {
        match self.0.links.first() {
            Some(link) => link.provider.facts(model),
            None => Box::pin(std::future::ready(Ok(ServerFacts::default()))),
        }
    }

    fn answer(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let chain = Arc::clone(&self.0);
        flow(|emit| async move {
            let (order, left_out) = chain.order(Instant::now());
            let mut failed: Option<ProviderError> = None;
            for (k, at) in order.iter().enumerate() {
                let Some(link) = chain.links.get(*at) else { continue };
                let before = match k.checked_sub(1).and_then(|k| order.get(k)) {
                    Some(before) => failed.as_ref().map(|e| (*before, e.to_string())),
                    None => left_out.iter().find(|(out, _)| out < at).map(|(out, left)| {
                        (*out, format!("it failed, and is skipped for another {} s", left.as_secs() + 1))
                    }),
                };
                if let Some((from, because)) = before {
                    let from = chain.links.get(from).map(FallbackEntry::name).unwrap_or_default();
                    emit.send(StreamEvent::Elsewhere { from, to: link.name(), because }).await;
                }
                let mut stream = link.provider.answer(link.request(&request), cancel.clone());
                let mut begun = false;
                failed = None;
                while let Some(item) = stream.next().await {
                    match item {
                        Ok(StreamEvent::Finished(mut answer)) => {
                            chain.breaker(*at, CircuitBreaker::answered);
                            if *at > 0 {
                                answer.provider = link.provider.name().to_string();
                            }
                            return emit.send(StreamEvent::Finished(answer)).await;
                        }
                        Ok(event) => {
                            begun |= shows(&event);
                            emit.send(event).await;
                        }
                        Err(error) if error.is_transient() && !begun => {
                            chain.breaker(*at, |breaker| breaker.failed(Instant::now()));
                            failed = Some(error);
                        }
                        Err(error) => return emit.fail(error).await,
                    }
                }
                if failed.is_none() {
                    return;
                }
            }
            if let Some(error) = failed {
                emit.fail(error).await;
            }
        })
    }
}

/// True for an event that shows a part of the answer.
fn shows(event: &StreamEvent) -> bool {
    matches!(
        event,
        StreamEvent::Text(_)
            | StreamEvent::Thinking(_)
            | StreamEvent::CallStarted { .. }
            | StreamEvent::CallArguments { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breaker_opens_for_longer_each_time_and_closes_with_an_answer() {
        let start = Instant::now();
        let at = |seconds: u64| start + Duration::from_secs(seconds);
        let mut breaker = CircuitBreaker::default();
        assert_eq!(breaker.open(start), None);
        breaker.failed(start);
        assert_eq!(breaker.open(at(59)), Some(Duration::from_secs(1)));
        assert_eq!(breaker.open(at(60)), None, "then it is tried once more");
        breaker.failed(at(60));
        assert_eq!(breaker.open(at(61)), Some(Duration::from_secs(119)));
        for _ in 0..20 {
            breaker.failed(at(100));
        }
        assert_eq!(breaker.open(at(100)), Some(LONGEST));
        breaker.answered();
        assert_eq!(breaker.open(at(100)), None);
    }
}
