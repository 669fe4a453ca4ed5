//! What the requests to one server share: its address, the session that it gave, and the requests that wait.

use super::failure::HttpFailure;
use super::headers;
use crate::definition::HttpServer;
use crate::login::{BearerSource, LoginStore, Refusal};
use crate::message_text::ServerMessage;
use placet_http::{HttpClient, HttpResponse, PageClient};
use reqwest::Url;
use rmcp::model::RequestId;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

/// How many redirects within the host are followed.
const MOST_REDIRECTS: usize = 3;
/// The longest id of a session that is used.
const LONGEST_SESSION: usize = 1_000;
/// How long the news that the session is over may take.
const SAY_END: Duration = Duration::from_secs(1);

/// What connections to servers share.
#[derive(Clone)]
pub struct HttpAccess {
    pub client: Arc<HttpClient>,
    /// The way to authorization servers.
    pub pages: Arc<PageClient>,
    pub logins: LoginStore,
}

/// What a request does.
#[derive(Clone, Copy)]
pub(super) enum Verb<'a> {
    Post(&'a [u8]),
    /// Asks for a stream, from the beginning or after an event.
    Listen {
        after: Option<&'a str>,
    },
    Delete,
}

pub(crate) struct HttpLink {
    client: Arc<HttpClient>,
    url: Url,
    /// Keys may be among the values.
    headers: Vec<(String, String)>,
    /// Absent if the headers have a key.
    login: Option<BearerSource>,
    pub(super) inbound: mpsc::Sender<ServerMessage>,
    pub(super) ended: CancellationToken,
    state: Mutex<LinkState>,
}

#[derive(Default)]
struct LinkState {
    session: Option<String>,
    version: Option<String>,
    /// Where messages go with a server of the older transport.
    older: Option<Url>,
    running: HashMap<RequestId, CancellationToken>,
    listener: Option<AbortHandle>,
    is_over: bool,
}

/// A request that waits for its answer. A drop forgets it.
pub(super) struct RunningRequest<'a> {
    link: &'a HttpLink,
    id: RequestId,
    pub(super) stop: CancellationToken,
}

impl Drop for RunningRequest<'_> {
    fn drop(&mut self) {
        self.link.state().running.remove(&self.id);
    }
}

impl HttpLink {
    /// Connects to nothing yet; runs the command that prints headers.
    pub(super) async fn new(
        (name, server): (&str, &HttpServer),
        access: HttpAccess,
        inbound: mpsc::Sender<ServerMessage>,
    ) -> Result<HttpLink, HttpFailure> {
        let mut all = server.headers.clone();
        if let Some(command) = &server.headers_command {
            all.extend(headers::printed(command).await?);
        }
        let HttpAccess { client, pages, logins } = access;
        let url = Url::parse(&server.url).map_err(|_| HttpFailure::Address)?;
        let has_key = all.iter().any(|header| header.name.eq_ignore_ascii_case("authorization"));
        Ok(HttpLink {
            client,
            login: (!has_key).then(|| BearerSource::new(name, url.clone(), (logins, pages))),
            url,
            headers: all.into_iter().map(|header| (header.name, header.value)).collect(),
            inbound,
            ended: CancellationToken::new(),
            state: Mutex::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, LinkState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the server has ended the session.
    pub(crate) fn is_over(&self) -> bool {
        self.state().is_over
    }

    pub(super) fn is_older(&self) -> bool {
        self.state().older.is_some()
    }

    /// Sends a request, with the token of a login if there is one, and waits for the headers of its response. A token
    /// that the server refuses is renewed once.
    pub(super) async fn request(&self, verb: Verb<'_>) -> Result<HttpResponse, HttpFailure> {
        let Some(login) = &self.login else { return self.follow(verb, None).await };
        let mut token = login.token().await.map_err(HttpFailure::of_login)?;
        let mut response = self.follow(verb, token.as_deref()).await?;
        if let (401, Some(used)) = (response.status(), &token) {
            token = login.after_refusal(used).await.map_err(HttpFailure::of_login)?;
            if token.is_some() {
                response = self.follow(verb, token.as_deref()).await?;
            }
        }
        match Refusal::of(&response, &self.url) {
            None => Ok(response),
            Some(Refusal::Login(wanted)) => {
                login.note(wanted);
                Err(HttpFailure::LoginNeeded { status: response.status() })
            }
            Some(Refusal::Scope(wanted)) => {
                let scope = wanted.scope.clone().unwrap_or_default();
                login.note(wanted);
                Err(HttpFailure::ScopeNeeded { scope })
            }
        }
    }

    /// Sends a request. A redirect within the host is followed.
    async fn follow(&self, verb: Verb<'_>, token: Option<&str>) -> Result<HttpResponse, HttpFailure> {
        let mut headers = self.headers.clone();
        headers.extend(token.map(|token| ("authorization".to_string(), format!("Bearer {token}"))));
        let mut url = {
            let state = self.state();
            let own = [("mcp-session-id", &state.session), ("mcp-protocol-version", &state.version)];
            let set = own.into_iter().filter_map(|(name, value)| Some((name.to_string(), value.clone()?)));
            headers.extend(set);
            let posts = state.older.as_ref().filter(|_| matches!(verb, Verb::Post(_)));
            posts.unwrap_or(&self.url).clone()
        };
        if let Verb::Listen { after: Some(id) } = verb {
            headers.push(("last-event-id".into(), id.into()));
        }
        for _ in 0..=MOST_REDIRECTS {
            let response = match verb {
                Verb::Post(body) => self.client.post_json(url.as_str(), &headers, body.to_vec()).await?,
                Verb::Listen { .. } => self.client.get_events(url.as_str(), &headers).await?,
                Verb::Delete => self.client.delete(url.as_str(), &headers).await?,
            };
            let (301 | 302 | 307 | 308, Some(to)) = (response.status(), response.header("location")) else {
                return Ok(response);
            };
            url = self.same_host(to)?;
        }
        Err(HttpFailure::TooManyRedirects(MOST_REDIRECTS))
    }

    /// An address that the server names, if it is at the same host, port and scheme as the server's own.
    fn same_host(&self, named: &str) -> Result<Url, HttpFailure> {
        let shown = || HttpFailure::Redirect(named.chars().take(200).collect());
        let url = self.url.join(named).map_err(|_| shown())?;
        let has_user = !url.username().is_empty() || url.password().is_some();
        if url.origin() == self.url.origin() && !has_user { Ok(url) } else { Err(shown()) }
    }

    /// From now on messages go to the address that a server of the older transport named.
    pub(super) fn set_older(&self, named: &str) -> Result<(), HttpFailure> {
        let url = self.same_host(named)?;
        self.state().older = Some(url);
        Ok(())
    }

    /// The session counts from the first answer on: one that a later answer names is not taken.
    pub(super) fn begin_session(&self, response: &HttpResponse) {
        let is_plain = |id: &&str| {
            !id.is_empty() && id.len() <= LONGEST_SESSION && id.bytes().all(|byte| byte.is_ascii_graphic())
        };
        self.state().session = response.header("mcp-session-id").filter(is_plain).map(String::from);
    }

    pub(super) fn has_session(&self) -> bool {
        self.state().session.is_some()
    }

    pub(super) fn end_session(&self) {
        let mut state = self.state();
        (state.session, state.is_over) = (None, true);
    }

    pub(super) fn set_version(&self, version: String) {
        self.state().version = Some(version);
    }

    pub(super) fn begin(&self, id: &RequestId) -> RunningRequest<'_> {
        let stop = CancellationToken::new();
        self.state().running.insert(id.clone(), stop.clone());
        RunningRequest { link: self, id: id.clone(), stop }
    }

    /// Ends the wait for an answer, and with it its connection.
    pub(super) fn stop(&self, id: &RequestId) {
        if let Some(stop) = self.state().running.get(id) {
            stop.cancel();
        }
    }

    /// Keeps the task that listens, until the end of the link.
    pub(super) fn set_listener(&self, listener: AbortHandle) {
        if let Some(before) = self.state().listener.replace(listener) {
            before.abort();
        }
    }

    pub(super) fn stop_listening(&self) {
        if let Some(listener) = self.state().listener.take() {
            listener.abort();
        }
    }

    /// Reports the end of the session to the server, within a second.
    pub(super) async fn close(&self) {
        self.stop_listening();
        if self.has_session() {
            drop(tokio::time::timeout(SAY_END, self.request(Verb::Delete)).await);
            self.end_session();
        }
    }
}
