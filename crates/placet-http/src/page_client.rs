//! The client for addresses that a page, a model or a server named: requests without cookies, and only to public
//! addresses.
//!
//! The address that is checked is the address that is used: the check is in the client's own resolver. Where a proxy of
//! the environment makes the connection, the proxy resolves the name, and only the name can be checked here.

use super::client::{self, HttpClientSettings, HttpError, HttpResponse, HttpSetupError, ProxySource};
use super::error_cause;
use super::proxy::environment_proxy;
use super::public_address::is_public_address;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::HeaderValue;
use reqwest::{Method, Url};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use thiserror::Error;

/// Why a page is not requested at all, or what failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PageRefusal {
    #[error("`{0}` is this machine or in a private network")]
    Private(String),
    #[error(transparent)]
    Failed(#[from] HttpError),
}

/// The resolver's own error, which is found again in the causes of the request's error.
#[derive(Debug, Error)]
#[error("every address of the name is private")]
struct OnlyPrivate;

/// A request of any method. Each value of a header may be a key.
#[derive(Clone, Copy)]
pub struct WebRequest<'a> {
    pub method: &'a str,
    pub url: &'a Url,
    pub headers: &'a [(String, String)],
    pub body: &'a [u8],
}

/// Builds its connections at the first request.
#[derive(Debug, Default)]
pub struct PageClient {
    settings: HttpClientSettings,
    built: Mutex<[Option<Result<reqwest::Client, HttpSetupError>>; 3]>,
}

/// Which way a request takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PageRoute {
    /// Directly, to a public address.
    Public,
    /// Directly, to any address: the person has named the host.
    Named,
    /// By the proxy of the environment.
    Proxy,
}

impl PageClient {
    /// Opens nothing yet.
    pub fn new(settings: HttpClientSettings) -> PageClient {
        PageClient { settings, built: Mutex::default() }
    }

    /// Refuses an address that is private by its name alone; nothing is resolved.
    pub fn check_name(url: &Url) -> Result<(), PageRefusal> {
        let name = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        if may_be_public(name) { Ok(()) } else { Err(PageRefusal::Private(client::host_of(url))) }
    }

    /// Sends a GET request and waits for the response's headers; a redirect is a response like any other. With
    /// `is_named` the host may be private. Dropping the future closes the connection.
    pub async fn get(&self, url: &Url, accept: &str, is_named: bool) -> Result<HttpResponse, PageRefusal> {
        let headers = [("accept".to_string(), accept.to_string())];
        self.send(WebRequest { method: "GET", url, headers: &headers, body: &[] }, is_named).await
    }

    /// The same with any method.
    pub async fn send(&self, request: WebRequest<'_>, is_named: bool) -> Result<HttpResponse, PageRefusal> {
        let url = request.url;
        let host = client::host_of(url);
        let name = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        if !is_named {
            PageClient::check_name(url)?;
        }
        let port = url.port_or_known_default().unwrap_or(443);
        let has_proxy =
            self.settings.proxies == ProxySource::Environment && environment_proxy(name, port).is_some();
        let route = match (has_proxy, is_named) {
            (true, _) => PageRoute::Proxy,
            (false, true) => PageRoute::Named,
            (false, false) => PageRoute::Public,
        };
        let failed = |message: String| PageRefusal::Failed(HttpError::connection(host.clone(), message));
        let client = self.client(route).map_err(|e| failed(e.to_string()))?;
        let method = Method::from_bytes(request.method.as_bytes()).map_err(|e| failed(e.to_string()))?;
        let mut building = client.request(method, url.clone()).body(request.body.to_vec());
        for (name, value) in request.headers {
            let value = HeaderValue::from_str(value);
            let mut value =
                value.map_err(|_| failed(format!("the value of the header `{name}` is not text")))?;
            value.set_sensitive(true);
            building = building.header(name, value);
        }
        match building.send().await.map_err(reqwest::Error::without_url) {
            Ok(response) => Ok(HttpResponse::new(host, response)),
            Err(error) if is_only_private(&error) => Err(PageRefusal::Private(host)),
            Err(error) => {
                let kind = error_cause::kind(&error);
                Err(HttpError { host, message: error_cause::of(&error), kind }.into())
            }
        }
    }

    fn client(&self, route: PageRoute) -> Result<reqwest::Client, HttpSetupError> {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        let [public, named, proxy] = &mut *built;
        let slot = match route {
            PageRoute::Public => public,
            PageRoute::Named => named,
            PageRoute::Proxy => proxy,
        };
        slot.get_or_insert_with(|| self.build(route)).clone()
    }

    fn build(&self, route: PageRoute) -> Result<reqwest::Client, HttpSetupError> {
        let mut builder = self.settings.with_certificates(self.settings.builder())?;
        if route != PageRoute::Proxy {
            builder = builder.no_proxy();
        }
        if route == PageRoute::Public {
            builder = builder.dns_resolver(Arc::new(PublicResolver { lookup: system_lookup }));
        }
        builder.build().map_err(|e| HttpSetupError::Client(error_cause::of(&e)))
    }
}

/// False for an address that is not public, and for the names of this machine. The client never asks its resolver
/// about addresses.
fn may_be_public(name: &str) -> bool {
    match name.parse::<IpAddr>() {
        Ok(address) => is_public_address(address),
        Err(_) => {
            let name = name.trim_end_matches('.').to_ascii_lowercase();
            !name.is_empty() && name != "localhost" && !name.ends_with(".localhost")
        }
    }
}

fn is_only_private(error: &reqwest::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<OnlyPrivate>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// A resolver without the addresses that are not public.
struct PublicResolver {
    lookup: fn(Name) -> FoundAddresses,
}

type FoundAddresses = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send>>;

/// Asks the resolver of the system.
fn system_lookup(name: Name) -> FoundAddresses {
    Box::pin(async move { Ok(tokio::net::lookup_host((name.as_str(), 0)).await?.collect()) })
}

impl Resolve for PublicResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let looked_up = (self.lookup)(name);
        Box::pin(async move {
            let found = looked_up.await?;
            let is_found = !found.is_empty();
            let public: Vec<SocketAddr> =
                found.into_iter().filter(|address| is_public_address(address.ip())).collect();
            if public.is_empty() && is_found {
                return Err(OnlyPrivate.into());
            }
            Ok::<Addrs, _>(Box::new(public.into_iter()))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HttpClientSettings;

    #[test]
    fn names_and_addresses_of_this_machine_are_not_public() {
        for private in
            ["127.0.0.1", "::1", "10.0.0.8", "169.254.169.254", "localhost", "LOCALHOST.", "a.localhost", ""]
        {
            assert!(!may_be_public(private), "{private}");
        }
        for public in ["docs.rs", "1.1.1.1", "2606:4700::1111"] {
            assert!(may_be_public(public), "{public}");
        }
    }

    /// What a hostile server of names answers.
    fn hostile_lookup(name: Name) -> FoundAddresses {
        let addresses: &[&str] = match name.as_str() {
            "loopback.example" => &["127.0.0.1:0", "[::1]:0"],
            "private.example" => &["10.0.0.8:0", "192.168.1.1:0", "172.16.0.1:0", "[fd00::1]:0"],
            "metadata.example" => &["169.254.169.254:0", "[::ffff:169.254.169.254]:0"],
            "mixed.example" => &["127.0.0.1:0", "93.184.216.34:0", "10.0.0.1:0"],
            _ => &[],
        };
        let found = addresses.iter().map(|address| address.parse().unwrap()).collect();
        Box::pin(async move { Ok(found) })
    }

    #[tokio::test]
    async fn names_lead_only_to_public_addresses() {
        let resolver = PublicResolver { lookup: hostile_lookup };
        let of = |name: &str| resolver.resolve(name.parse().unwrap());
        for name in ["loopback.example", "private.example", "metadata.example"] {
            let refused = of(name).await.err().unwrap();
            assert!(refused.is::<OnlyPrivate>(), "{name}: {refused}");
        }
        // Of several addresses only the public one is used, so that no second attempt reaches a private one.
        let mixed: Vec<String> = of("mixed.example").await.unwrap().map(|a| a.to_string()).collect();
        assert_eq!(mixed, ["93.184.216.34:0"]);
        assert_eq!(of("nothing.example").await.unwrap().count(), 0);
        // The same in a client: the refusal is that of a private address, and nothing connects.
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let settings = HttpClientSettings { proxies: ProxySource::Off, ..HttpClientSettings::default() };
        let page_client = PageClient::new(settings.clone());
        let built = settings.builder().no_proxy().dns_resolver(Arc::new(resolver)).build().unwrap();
        page_client.built.lock().unwrap()[0] = Some(Ok(built));
        let url = Url::parse(&format!("http://loopback.example:{port}/")).unwrap();
        let refused = page_client.get(&url, "*/*", false).await.err();
        assert!(matches!(refused, Some(PageRefusal::Private(_))), "{refused:?}");
        assert!(listener.accept().is_err(), "somebody connected");
    }

    #[tokio::test]
    async fn a_name_with_a_private_address_is_refused_and_nothing_connects() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let port = listener.local_addr().unwrap().port();
        let settings = HttpClientSettings { proxies: ProxySource::Off, ..HttpClientSettings::default() };
        let client = PageClient::new(settings);
        // Each of these is 127.0.0.1: by its address in another spelling, or by the system's list of names.
        for host in ["127.1", "2130706433", "0x7f000001", "[::ffff:127.0.0.1]", "ip6-localhost"] {
            let Ok(url) = Url::parse(&format!("http://{host}:{port}/")) else { panic!("{host}") };
            let refused = client.get(&url, "*/*", false).await;
            // Not every system has the last name.
            let is_unknown = matches!(&refused, Err(PageRefusal::Failed(e)) if e.message.contains("DNS"));
            assert!(matches!(refused, Err(PageRefusal::Private(_))) || is_unknown, "{host}");
        }
        assert!(listener.accept().is_err(), "somebody connected");
    }
}
