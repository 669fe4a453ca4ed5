//! Requests over HTTP: one connection for each attempt, retries before the first word, and a report for every silence.
//!
//! Every failure on the wire becomes one typed error. Before the first piece of the answer, a transient failure is
//! retried. After it nothing is retried, and the received part is returned as [`ProviderError::Broken`], without calls.
//! Cancelling works in every state: while the key's command runs, while connecting, before the headers, mid-stream and
//! between attempts.

use super::response::{FailedAttempt, ResponseProgress, ResponseReader, named, network, slept, unstarted};
use super::retry;
use super::timeout::{AttemptTimeouts, AttemptWatchdog, WaitInterruption};
use crate::answer::event_stream::{EventEmitter, flow};
use crate::answer::thinking_signatures::RejectedSignatures;
use crate::answer::thinking_text::ThinkingTextDecoder;
use crate::server::model_list;
use crate::server::server_facts::{self, ServerQuestion};
use crate::text_calls::TextCallDecoder;
use crate::wire::error_body;
use crate::{
    AnswerLimits, AnswerStream, ApiKey, ApiKeySource, Endpoint, ModelRequest, Provider, ProviderError,
    RejectionCause, RetryPolicy, ServerFacts, ServerFactsFuture, StreamEvent, ToolForm, WarmUpFuture,
    WireFormat,
};
use placet_http::{HttpClient, HttpClientSettings, HttpResponse, SseEvent, readable_host, retry_after};
use placet_text::text::secret;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The most of an error's body that is read.
const ERROR_BODY: usize = 64 * 1024;

/// The largest list of models that is read.
const MODEL_LIST: usize = 16 * 1024 * 1024;

/// The message for an answer in one piece whose end is missing.
const UNFINISHED: &str = "the answer is incomplete";

/// How long a model may take to be loaded.
const LONGEST_LOAD: Duration = Duration::from_secs(3600);

/// How long one question about a model may take. The answers are made of what the server has in memory.
const ASKING: Duration = Duration::from_secs(3);

/// How long opening a connection ahead of time may take.
const WARMING: Duration = Duration::from_secs(10);

#[derive(Clone, Debug)]
pub struct HttpProviderSettings {
    pub retry: RetryPolicy,
    pub client: HttpClientSettings,
    /// Silence is reported each time this long has passed without a part of the answer.
    pub silence_step: Duration,
    /// After this much silence the attempt is abandoned. Time while the machine sleeps does not count; keep-alive
    /// events do not reset the limit.
    pub silence_limit: Duration,
    /// The same until the server begins to answer; without it, `silence_limit` applies.
    pub first_byte_limit: Option<Duration>,
    /// The limits of one answer.
    pub limits: AnswerLimits,
    /// Hosts, with or without a port, that get the key over a connection that is not encrypted. The local machine
    /// always does.
    pub plain_http_hosts: Vec<String>,
    /// The command that starts the server, for a server of this machine.
    pub start: Option<String>,
    /// The questions about a model that the server may be asked: `GET /props`.
    pub questions: Vec<String>,
    /// The person set the window, or whether the model sees: then the server's own word does not count.
    pub has_own_window: bool,
    pub has_own_vision: bool,
    /// How calls are made where the server says that it has no tools; `None` if the person set it.
    pub without_tools: Option<ToolForm>,
    /// The command that gives the server a larger window, if it shortens long requests in silence.
    pub widening: Option<String>,
    /// Draws a number from 0 to 1 for the waits between attempts.
    pub jitter: fn() -> f64,
}

impl Default for HttpProviderSettings {
    fn default() -> HttpProviderSettings {
        HttpProviderSettings {
            retry: RetryPolicy::default(),
            client: HttpClientSettings::default(),
            silence_step: Duration::from_secs(10),
            silence_limit: Duration::from_secs(180),
            first_byte_limit: None,
            limits: AnswerLimits::default(),
            plain_http_hosts: Vec::new(),
            start: None,
            questions: Vec::new(),
            has_own_window: false,
            has_own_vision: false,
            without_tools: Some(ToolForm::Text),
            widening: None,
            jitter: retry::random,
        }
    }
}

/// A provider behind HTTP.
#[derive(Clone)]
pub struct HttpProvider(Arc<HttpProviderInner>);

struct HttpProviderInner {
    name: String,
    dialect: Arc<dyn WireFormat>,
    endpoint: Endpoint,
    source: ApiKeySource,
    settings: HttpProviderSettings,
    client: HttpClient,
    /// The key, once a request needed it; dropped when the server refuses it.
    key: Mutex<Option<ApiKey>>,
    proofs: RejectedSignatures,
}

impl HttpProvider {
    /// Opens nothing, reads nothing and runs nothing before the first request.
    pub fn new(
        name: impl Into<String>,
        dialect: Arc<dyn WireFormat>,
        endpoint: Endpoint,
        key: ApiKeySource,
        settings: HttpProviderSettings,
    ) -> HttpProvider {
        HttpProvider(Arc::new(HttpProviderInner {
            name: name.into(),
            dialect,
            endpoint,
            source: key,
            client: HttpClient::new(settings.client.clone()),
            settings,
            key: Mutex::new(None),
            proofs: RejectedSignatures::default(),
        }))
    }
}

impl HttpProvider {
    /// Asks the server which models it has. One attempt, and no longer than `most`.
    pub async fn models(&self, most: Duration) -> Result<Vec<String>, ProviderError> {
        let (host, text) = self.get(self.0.dialect.models_path(), most).await?;
        let ids = model_list::ids(&text).map_err(|e| ProviderError::Protocol(format!("{host}: {e}")));
        let keys = self.0.keys();
        // A hostile server may list what it was sent. A name is shown and stored, and a key must not be.
        ids.map(|ids| ids.into_iter().filter(|id| !keys.iter().any(|key| key.is_quoted_in(id))).collect())
    }

    /// Requests something that only a valid key may read; the content of the answer does not matter.
    pub async fn check_key(&self, path: &str, most: Duration) -> Result<(), ProviderError> {
        self.get(path, most).await.map(drop)
    }

    /// The host, and its answer to a request without a body.
    async fn get(&self, path: &str, most: Duration) -> Result<(String, String), ProviderError> {
        self.fetch(&self.0.endpoint.url_beside(path), None, most).await
    }

    async fn fetch(
        &self,
        url: &str,
        body: Option<Vec<u8>>,
        most: Duration,
    ) -> Result<(String, String), ProviderError> {
        let server = &self.0;
        let asking = async {
            let key = server.key().await?;
            let headers = server.headers(key.as_ref())?;
            let sent = match body {
                Some(body) => server.client.post_json(url, &headers, body).await,
                None => server.client.get(url, &headers).await,
            };
            let mut response = sent.map_err(network)?;
            let status = response.status();
            if !(200..300).contains(&status) {
                return Err(server.dialect.error(status, &response.text(ERROR_BODY).await));
            }
            let text = response.whole(MODEL_LIST).await.map_err(network)?;
            Ok((response.host().to_string(), text))
        };
        let told = tokio::time::timeout(most, asking).await.unwrap_or(Err(ProviderError::Timeout(most)));
        told.map_err(|error| server.hide_key(error))
    }
}

impl Provider for HttpProvider {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn wire(&self) -> Option<&'static str> {
        Some(self.0.dialect.wire())
    }

    fn warm(&self) -> WarmUpFuture {
        let server = Arc::clone(&self.0);
        Box::pin(async move {
            let url = server.endpoint.url_beside("");
            // The content of the answer does not matter: the purpose is an open connection.
            if let Ok(Ok(mut response)) = tokio::time::timeout(WARMING, server.client.get(&url, &[])).await {
                // Only an answer that was read to its end leaves its connection for the next request.
                drop(tokio::time::timeout(WARMING, response.text(ERROR_BODY)).await);
            }
        })
    }

    fn widening(&self) -> Option<&str> {
        self.0.settings.widening.as_deref()
    }

    fn without_tools(&self) -> Option<ToolForm> {
        self.0.settings.without_tools
    }

    fn facts(&self, model: &str) -> ServerFactsFuture {
        let (provider, model) = (self.clone(), model.to_string());
        Box::pin(async move {
            let (mut facts, mut failed) = (ServerFacts::default(), None);
            for question in &provider.0.settings.questions {
                let ServerQuestion { path, body } = ServerQuestion::of(question, &model);
                let body = body.map(|body| body.to_string().into_bytes());
                let url = provider.0.endpoint.url_at_root(path);
                let said = provider.fetch(&url, body, ASKING).await;
                let said = match said {
                    Err(error @ (ProviderError::Loading { .. } | ProviderError::NotRunning { .. })) => {
                        return Err(error);
                    }
                    Err(error) if error.is_transient() => {
                        failed = Some(error);
                        continue;
                    }
                    said => said,
                };
                // A server that does not know the question has nothing to say.
                let answer = said.ok().and_then(|(_, text)| serde_json::from_str(&text).ok());
                facts.add(answer.map(|answer| server_facts::read(path, &answer, &model)).unwrap_or_default());
            }
            let HttpProviderSettings { has_own_window, has_own_vision, without_tools, .. } =
                provider.0.settings;
            facts.window = facts.window.filter(|_| !has_own_window);
            facts.vision = facts.vision.filter(|_| !has_own_vision);
            let has_none = facts.tools.as_ref().is_some_and(|tools| !tools.value);
            facts.calls = without_tools.filter(|_| has_none);
            failed.filter(|_| facts.is_empty()).map_or(Ok(facts), Err)
        })
    }

    fn answer(&self, request: ModelRequest, cancel: CancellationToken) -> AnswerStream {
        let server = Arc::clone(&self.0);
        flow(|emit| async move {
            if let Err(error) = server.attempts(&request, &cancel, &emit).await {
                emit.fail(error).await;
            }
        })
    }
}

impl HttpProviderInner {
    async fn attempts(
        &self,
        request: &ModelRequest,
        cancel: &CancellationToken,
        emit: &EventEmitter,
    ) -> Result<(), ProviderError> {
        let url = self.endpoint.url(&self.dialect.path(request));
        let mut body = self.body(request)?;
        let retry = &self.settings.retry;
        let mut failures = 0;
        let mut repaired = false;
        let mut loading_until = None;
        loop {
            let patience = AttemptTimeouts {
                step: self.settings.silence_step,
                silence: self.settings.silence_limit,
                whole: self.settings.limits.time,
            };
            let watch = AttemptWatchdog::new(cancel, emit, patience, self.settings.client.wall);
            let failed = match self.attempt(&url, body.clone(), request, watch).await {
                Ok(()) => return Ok(()),
                Err(failed) => failed,
            };
            let error = self.with_start(self.hide_key(failed.error));
            if matches!(error, ProviderError::Auth { .. }) {
                *self.key.lock().unwrap_or_else(PoisonError::into_inner) = None;
            }
            let unproven =
                matches!(error, ProviderError::BadRequest { blames: RejectionCause::Reasoning, .. });
            if unproven && !std::mem::replace(&mut repaired, true) && self.proofs.refuse(request) {
                body = self.body(request)?;
                // The repair is not a failed attempt, and `failures` does not count it; the person sees it as one more
                // attempt.
                let (attempt, of) = (failures + 2, retry.attempts.max(failures + 2));
                emit.send(StreamEvent::Retrying { attempt, of, wait: Duration::ZERO, error }).await;
                continue;
            }
            if matches!(error, ProviderError::Loading { .. }) {
                let until = *loading_until
                    .get_or_insert_with(|| Instant::now() + self.settings.silence_limit.min(LONGEST_LOAD));
                if Instant::now() >= until {
                    return Err(error);
                }
                let (attempt, of) = (failures + 2, retry.attempts.max(failures + 2));
                emit.send(StreamEvent::Retrying { attempt, of, wait: retry.first_wait, error }).await;
                self.loaded(until, cancel).await?;
                continue;
            }
            failures += 1;
            let wait = retry.wait(failures, error.retry_after(), (self.settings.jitter)());
            // A server of this machine that does not run does not begin to run by itself; one that restarts is back soon.
            let attempts = match error {
                ProviderError::NotRunning { .. } => retry.attempts.min(2),
                _ => retry.attempts,
            };
            let again = !failed.begun && error.is_transient() && failures < attempts;
            let Some(wait) = wait.filter(|_| again) else { return Err(with_wait(error)) };
            emit.send(StreamEvent::Retrying { attempt: failures + 1, of: attempts, wait, error }).await;
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ProviderError::Cancelled),
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Waits until the server has loaded its model, and no longer than `until`. A server without a page for it is asked
    /// for the answer again.
    async fn loaded(&self, until: Instant, cancel: &CancellationToken) -> Result<(), ProviderError> {
        let url = self.endpoint.url_at_root("/health");
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(ProviderError::Cancelled),
                () = tokio::time::sleep(self.settings.retry.first_wait) => {}
            }
            let asked = tokio::time::timeout(ASKING, self.client.get(&url, &[])).await;
            let is_loading = matches!(&asked, Ok(Ok(response)) if response.status() == 503);
            if !is_loading || Instant::now() >= until {
                return Ok(());
            }
        }
    }

    /// The error with the command that starts this server.
    fn with_start(&self, mut error: ProviderError) -> ProviderError {
        if let ProviderError::NotRunning { start, .. } = &mut error {
            start.clone_from(&self.settings.start);
        }
        error
    }

    /// An attempt that ended before any part of the answer came. After a sleep no connection is reused.
    fn unstarted(&self, halt: WaitInterruption) -> FailedAttempt {
        match halt {
            WaitInterruption::Slept(asleep) => {
                self.client.forget_connections();
                slept(self.endpoint.host(), asleep)
            }
            halt => unstarted(halt),
        }
    }

    fn body(&self, request: &ModelRequest) -> Result<Vec<u8>, ProviderError> {
        let request = self.proofs.without_refused(request);
        serde_json::to_vec(&self.dialect.encode(&request.as_sent()))
            .map_err(|e| ProviderError::Protocol(format!("the request cannot be written: {e}")))
    }

    async fn attempt(
        &self,
        url: &str,
        body: Vec<u8>,
        request: &ModelRequest,
        mut watch: AttemptWatchdog<'_>,
    ) -> Result<(), FailedAttempt> {
        let key = watch.wait(self.key()).await.map_err(unstarted)??;
        let headers = self.headers(key.as_ref())?;
        // Silence is counted from here: the command for the key had its own time.
        watch.up_to(self.settings.first_byte_limit.unwrap_or(self.settings.silence_limit));
        let sent = watch
            .wait(self.client.post_json(url, &headers, body))
            .await
            .map_err(|halt| self.unstarted(halt))?;
        let mut response = sent.map_err(network)?;
        watch.up_to(self.settings.silence_limit);
        let kind = response.header("content-type").unwrap_or_default().to_ascii_lowercase();
        if !(200..300).contains(&response.status()) {
            return Err(self.refused(response, &mut watch).await?.into());
        }
        // A page with status 200 comes from a proxy or a login form.
        if kind.contains("html") {
            let text = watch.wait(response.text(ERROR_BODY)).await.map_err(unstarted)?;
            let page = error_body::of_page(&text);
            return Err(ProviderError::Protocol(format!("{}: {page}", response.host())).into());
        }
        let limits = self.settings.limits;
        let id = request_id(&response);
        let decoder = Box::new(ThinkingTextDecoder::new(self.dialect.decoder()));
        let decoder = Box::new(TextCallDecoder::new(decoder, request));
        let mut reading = ResponseReader::new(decoder, request, response.host(), id, limits);
        // A server that does not stream sends the whole answer as one document.
        if kind.contains("json") {
            let whole = watch.wait(response.whole(limits.event_bytes)).await.map_err(unstarted)?;
            let text = match whole {
                Ok(text) if !is_cut(&text) => text,
                Ok(_) => return reading.ended(UNFINISHED, &mut watch).await,
                Err(error) => return reading.torn(error, &mut watch).await,
            };
            let event = SseEvent { name: String::new(), data: text };
            return match reading.feed(event, &mut watch).await? {
                ResponseProgress::Done => Ok(()),
                ResponseProgress::More => reading.ended(UNFINISHED, &mut watch).await,
            };
        }
        reading.read(response, &mut watch).await
    }

    /// The typed error of a response that is not an answer.
    async fn refused(
        &self,
        mut response: HttpResponse,
        watch: &mut AttemptWatchdog<'_>,
    ) -> Result<ProviderError, FailedAttempt> {
        let status = response.status();
        let wait = response.header("retry-after").and_then(|v| retry_after(v, jiff::Timestamp::now()));
        let id = request_id(&response);
        let target = response.header("location").map(String::from);
        let text = watch.wait(response.text(ERROR_BODY)).await.map_err(unstarted)?;
        let error = self.dialect.error(status, &text).with_retry_after(wait);
        Ok(error.map_message(|words| {
            let to = target.map(|t| format!(" (redirected to {t}; set this URL as the base URL)"));
            named(&format!("{words}{}", to.unwrap_or_default()), id.as_deref())
        }))
    }

    /// The headers of a request. A key does not leave this machine over a connection that anyone on the way can read.
    fn headers(&self, key: Option<&ApiKey>) -> Result<Vec<(String, String)>, ProviderError> {
        let headers = self.endpoint.headers_with(key.map(ApiKey::expose));
        if key.is_none() && !headers.iter().any(|(name, _)| names_secret(name)) {
            return Ok(headers);
        }
        match readable_host(&self.endpoint.base_url) {
            Some(host) if !is_listed(&host, &self.settings.plain_http_hosts) => {
                Err(ProviderError::PlainHttp { host })
            }
            _ => Ok(headers),
        }
    }

    async fn key(&self) -> Result<Option<ApiKey>, ProviderError> {
        let known = self.key.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if known.is_some() {
            return Ok(known);
        }
        let key = self.source.key(&self.name).await?;
        self.key.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&key);
        Ok(key)
    }

    /// The secrets that this server was sent.
    fn keys(&self) -> Vec<ApiKey> {
        let known = self.key.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let given = match &self.source {
            ApiKeySource::Value(key) => Some(key.clone()),
            _ => None,
        };
        let own = self.endpoint.headers.iter().filter(|(name, _)| names_secret(name));
        known.or(given).into_iter().chain(own.map(|(_, value)| ApiKey::new(value))).collect()
    }

    /// The server's text without this key, and without anything that looks like a key: a key of another service is as
    /// secret.
    fn hide_key(&self, error: ProviderError) -> ProviderError {
        let keys = self.keys();
        // The text about a proxy is placet's own and has no password; `NAME:PASSWORD` in the advice only has the shape
        // of one.
        let foreign = !matches!(error, ProviderError::Proxy { .. });
        error.map_message(|words| {
            let words = keys.iter().fold(words.to_string(), |words, key| key.redact(&words));
            if foreign { secret::redact(&words, &[]).into_owned() } else { words }
        })
    }
}

/// The id under which the server's operators find this request in their records.
fn request_id(response: &HttpResponse) -> Option<String> {
    ["request-id", "x-request-id"].into_iter().find_map(|name| response.header(name)).map(String::from)
}

/// True for the beginning of a JSON text: a server that closes the connection early may leave no other trace.
fn is_cut(json: &str) -> bool {
    serde_json::from_str::<serde::de::IgnoredAny>(json).is_err_and(|e| e.is_eof())
}

/// The error that is reported at the end, with the wait that the server asks for.
fn with_wait(error: ProviderError) -> ProviderError {
    match error.retry_after().filter(|wait| wait.as_secs() > 0) {
        Some(wait) => {
            error.map_message(|words| format!("{words} (the server asks to wait {} s)", wait.as_secs()))
        }
        None => error,
    }
}

/// True for a header of the person's own that is likely to hold a key.
fn names_secret(header: &str) -> bool {
    let header = header.to_ascii_lowercase();
    ["auth", "key", "token", "secret", "cookie"].iter().any(|word| header.contains(word))
}

/// True where the list has the host, or the host with its port.
fn is_listed(host: &str, list: &[String]) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    };
    list.iter().any(|entry| entry.eq_ignore_ascii_case(host) || entry.eq_ignore_ascii_case(name))
}
