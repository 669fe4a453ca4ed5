//! The client: built when the first request is sent, so that a start needs no TLS and opens no connection. Connections
//! are reused for later requests, but not after the machine slept: such connections are dead and look alive.
//!
//! Plain HTTP to this machine is sent directly and loads no certificates; everything else uses the proxies of the
//! environment. Redirects are not followed: they would send a key to a host that nobody configured.

use super::body_pump::BodyPump;
use super::error_cause;
pub use super::error_kind::HttpErrorKind;
use super::proxy::EnvProxy;
use super::sleep_detector::{SleepDetector, WallClock};
use placet_text::text::regular_file;
use reqwest::header::{HeaderMap, HeaderValue};
use reqwest::{Certificate, Method, StatusCode, Url};
use std::path::PathBuf;
use std::sync::{Mutex, Once, PoisonError};
use std::time::{Duration, SystemTime};
use thiserror::Error;

/// The largest file of certificates; the bundles of systems have 200 to 300 KB.
const LARGEST_CA_FILE: u64 = 16 << 20;

/// How long a reused connection may be silent before the system probes it.
const PROBE: Duration = Duration::from_secs(20);

#[derive(Clone, Debug)]
pub struct HttpClientSettings {
    pub connect_timeout: Duration,
    pub proxies: ProxySource,
    /// Certificates, as PEM, that are trusted in addition to those of the system.
    pub ca_file: Option<PathBuf>,
    pub wall: WallClock,
}

/// The source of the proxy settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProxySource {
    /// `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY`, or the system's settings.
    Environment,
    Off,
}

impl Default for HttpClientSettings {
    fn default() -> HttpClientSettings {
        HttpClientSettings {
            connect_timeout: Duration::from_secs(15),
            proxies: ProxySource::Environment,
            ca_file: None,
            wall: SystemTime::now,
        }
    }
}

impl HttpClientSettings {
    /// What every client has: placet's name, the connection timeout, and no redirects, which could send a key to
    /// another host.
    pub(super) fn builder(&self) -> reqwest::ClientBuilder {
        install_tls();
        reqwest::Client::builder()
            .user_agent(concat!("placet/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(self.connect_timeout)
            .redirect(reqwest::redirect::Policy::none())
    }

    pub(super) fn with_certificates(
        &self,
        builder: reqwest::ClientBuilder,
    ) -> Result<reqwest::ClientBuilder, HttpSetupError> {
        let Some(path) = &self.ca_file else { return Ok(builder) };
        let unread = |cause: String| HttpSetupError::CaFile { path: path.clone(), cause };
        let pem = regular_file::read(path, LARGEST_CA_FILE).map_err(|e| unread(e.to_string()))?;
        let certificates = Certificate::from_pem_bundle(&pem).map_err(|e| unread(error_cause::of(&e)))?;
        if certificates.is_empty() {
            return Err(HttpSetupError::EmptyCaFile(path.clone()));
        }
        Ok(builder.tls_certs_merge(certificates))
    }
}

/// No answer came, or it stopped coming.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{host}: {message}")]
pub struct HttpError {
    pub host: String,
    /// The layer and the reason: `DNS: no such host`.
    pub message: String,
    pub kind: HttpErrorKind,
}

/// Why no request can be sent at all. The client stores this error, and so it has the causes as text.
#[derive(Clone, Debug, Error)]
pub(super) enum HttpSetupError {
    #[error("the certificates in `{}` cannot be read: {cause}", .path.display())]
    CaFile { path: PathBuf, cause: String },
    #[error("the certificates in `{}` cannot be read: the file has no certificate", .0.display())]
    EmptyCaFile(PathBuf),
    #[error("the HTTP client cannot be built: {0}")]
    Client(String),
}

/// Sends requests. The only timeout is the connection timeout: the caller limits the time of silence.
#[derive(Debug)]
pub struct HttpClient {
    settings: HttpClientSettings,
    built: Mutex<BuiltClients>,
    awake: SleepDetector,
}

/// Each client has its own connections and reuses them.
#[derive(Debug, Default)]
struct BuiltClients {
    near: Option<Result<reqwest::Client, HttpSetupError>>,
    far: Option<Result<reqwest::Client, HttpSetupError>>,
}

impl HttpClient {
    /// Builds nothing yet.
    pub fn new(settings: HttpClientSettings) -> HttpClient {
        HttpClient { awake: SleepDetector::new(settings.wall), settings, built: Mutex::default() }
    }

    /// Posts `body` as JSON and waits for the response's headers. Dropping the future closes the connection.
    pub async fn post_json(
        &self,
        url: &str,
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Result<HttpResponse, HttpError> {
        let said = [("content-type", "application/json"), ("accept", "text/event-stream, application/json")];
        self.send(Method::POST, url, &said, headers, body).await
    }

    /// Sends a GET request for `url`.
    pub async fn get(&self, url: &str, headers: &[(String, String)]) -> Result<HttpResponse, HttpError> {
        self.send(Method::GET, url, &[("accept", "application/json")], headers, Vec::new()).await
    }

    /// Sends a GET request for the events at `url`.
    pub async fn get_events(
        &self,
        url: &str,
        headers: &[(String, String)],
    ) -> Result<HttpResponse, HttpError> {
        self.send(Method::GET, url, &[("accept", "text/event-stream")], headers, Vec::new()).await
    }

    /// Sends a DELETE request for `url`.
    pub async fn delete(&self, url: &str, headers: &[(String, String)]) -> Result<HttpResponse, HttpError> {
        self.send(Method::DELETE, url, &[], headers, Vec::new()).await
    }

    async fn send(
        &self,
        method: Method,
        url: &str,
        said: &[(&str, &str)],
        headers: &[(String, String)],
        body: Vec<u8>,
    ) -> Result<HttpResponse, HttpError> {
        let url =
            Url::parse(url).map_err(|e| HttpError::connection(url.to_string(), format!("not a URL: {e}")))?;
        let host = host_of(&url);
        let failed = |message| HttpError::connection(host.clone(), message);
        let near = url.scheme() == "http" && is_loopback(&url);
        let broken = |error: &reqwest::Error, message| {
            let kind = match near && error_cause::is_refused(error) {
                true => HttpErrorKind::NotListening,
                false => error_cause::kind(error),
            };
            HttpError { host: host.clone(), message, kind }
        };
        let client = self.client(near).map_err(|e| failed(e.to_string()))?;
        let mut request = client.request(method, url.clone());
        for (name, value) in said {
            request = request.header(*name, *value);
        }
        for (name, value) in headers {
            let Ok(mut value) = HeaderValue::from_str(value) else {
                return Err(failed(format!("the header `{name}` has a control character in its value")));
            };
            // Any header may be the key, and the libraries below log what they send.
            value.set_sensitive(true);
            request = request.header(name, value);
        }
        let sent = request.body(body).send().await.map_err(reqwest::Error::without_url);
        let Some(proxy) = self.proxy(&url).filter(|_| !near) else {
            return sent
                .map(|inner| HttpResponse::new(host.clone(), inner))
                .map_err(|e| broken(&e, error_cause::of(&e)));
        };
        match sent {
            Err(error) if !error_cause::wants_password(&error) => {
                Err(broken(&error, proxy.blamed(&error, &error_cause::of(&error))))
            }
            Ok(inner) if inner.status() != StatusCode::PROXY_AUTHENTICATION_REQUIRED => {
                Ok(HttpResponse::new(host, inner))
            }
            _ => Err(HttpError { host, message: proxy.refusal(), kind: HttpErrorKind::ProxyRefuses }),
        }
    }

    /// From the next request on every connection is new.
    pub fn forget_connections(&self) {
        *self.built.lock().unwrap_or_else(PoisonError::into_inner) = BuiltClients::default();
    }

    fn client(&self, near: bool) -> Result<reqwest::Client, HttpSetupError> {
        if self.awake.slept().is_some() {
            self.forget_connections();
        }
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = if near { &mut built.near } else { &mut built.far };
        slot.get_or_insert_with(|| self.build(near)).clone()
    }

    fn build(&self, near: bool) -> Result<reqwest::Client, HttpSetupError> {
        let mut builder = self
            .settings
            .builder()
            .pool_idle_timeout(Duration::from_secs(60))
            .tcp_keepalive(PROBE)
            .http2_keep_alive_interval(PROBE)
            .http2_keep_alive_timeout(PROBE);
        if near || self.settings.proxies == ProxySource::Off {
            builder = builder.no_proxy();
        }
        if near {
            // The URL is plain HTTP, and so no certificates are loaded for it.
            builder = builder.tls_certs_only([]);
        } else {
            builder = self.settings.with_certificates(builder)?;
        }
        builder.build().map_err(|e| HttpSetupError::Client(error_cause::of(&e)))
    }

    /// The proxy that a request to `url` takes.
    fn proxy(&self, url: &Url) -> Option<EnvProxy> {
        match self.settings.proxies {
            ProxySource::Off => None,
            ProxySource::Environment => EnvProxy::of(url, |name| std::env::var(name).ok()),
        }
    }
}

impl Default for HttpClient {
    fn default() -> HttpClient {
        HttpClient::new(HttpClientSettings::default())
    }
}

impl HttpError {
    pub(super) fn connection(host: String, message: String) -> HttpError {
        HttpError { host, message, kind: HttpErrorKind::Connection }
    }
}

/// A response whose body is still arriving.
#[derive(Debug)]
pub struct HttpResponse {
    host: String,
    status: StatusCode,
    headers: HeaderMap,
    body: ResponseBody,
}

#[derive(Debug)]
enum ResponseBody {
    /// Nobody has asked for it.
    Unread(Box<reqwest::Response>),
    Read(BodyPump),
    /// Between the two.
    Moved,
}

impl HttpResponse {
    pub(super) fn new(host: String, response: reqwest::Response) -> HttpResponse {
        let (status, headers) = (response.status(), response.headers().clone());
        HttpResponse { host, status, headers, body: ResponseBody::Unread(Box::new(response)) }
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn status(&self) -> u16 {
        self.status.as_u16()
    }

    /// A header's value; `None` where it is missing or not text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// All headers whose values are text.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> {
        self.headers.iter().filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?)))
    }

    /// The next bytes of the body, all that have arrived; `None` at its end. Safe to drop and to call again.
    pub async fn chunk(&mut self) -> Result<Option<Vec<u8>>, HttpError> {
        let host = &self.host;
        let failed = |e: reqwest::Error| {
            let kind = error_cause::kind(&e);
            HttpError { host: host.clone(), message: error_cause::of(&e.without_url()), kind }
        };
        self.body = match std::mem::replace(&mut self.body, ResponseBody::Moved) {
            ResponseBody::Unread(response) => ResponseBody::Read(BodyPump::new(*response)),
            started => started,
        };
        match &self.body {
            ResponseBody::Read(pump) => pump.take().await.map_err(failed),
            ResponseBody::Unread(_) | ResponseBody::Moved => Ok(None),
        }
    }

    /// The whole body as text; an error if it is cut short or longer than `most` bytes.
    pub async fn whole(&mut self, most: usize) -> Result<String, HttpError> {
        let mut bytes = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if bytes.len() + chunk.len() > most {
                let message = format!("the answer is longer than {most} bytes");
                return Err(HttpError {
                    host: self.host.clone(),
                    message,
                    kind: HttpErrorKind::TooLong { most },
                });
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// The body as text, up to `most` bytes. A part that cannot be read is omitted: this is for error messages.
    pub async fn text(&mut self, most: usize) -> String {
        let mut bytes = Vec::new();
        while let Ok(Some(chunk)) = self.chunk().await {
            bytes.extend_from_slice(&chunk);
            if bytes.len() >= most {
                bytes.truncate(most);
                break;
            }
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

pub fn install_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // An error means that a provider was installed before, which also works.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

/// The host and port of `url` if anyone on the network path can read the request: plain HTTP to another machine.
pub fn readable_host(url: &str) -> Option<String> {
    let url = Url::parse(url).ok()?;
    (url.scheme() == "http" && !is_loopback(&url)).then(|| host_of(&url))
}

/// The host of `url`, with its port if that is not the usual one.
pub fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_string(),
    }
}

/// True for an address of this machine.
pub fn is_local(url: &str) -> bool {
    Url::parse(url).is_ok_and(|url| is_loopback(&url))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    // RFC 6761: every name below `localhost` is this machine as well.
    host == "localhost"
        || host.ends_with(".localhost")
        || bare.parse::<std::net::IpAddr>().is_ok_and(|ip| ip.is_loopback())
}
