//! The connection outside: directly to a public address, to a port of this machine, or through the proxy that the
//! host's environment names.

use super::host_rule::{is_localhost, names_private_host};
use super::proxy_tunnel;
use super::upstream_error::{PATIENCE, UpstreamError};
use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;

/// How long an address has before the next one is tried as well (RFC 8305).
const NEXT_ADDRESS: Duration = Duration::from_millis(250);

/// How names become addresses, which of them count, and which proxy is used. Tests have others.
pub(super) struct UpstreamWays {
    pub(super) look_up: fn(String, u16) -> BoxFuture<'static, io::Result<Vec<SocketAddr>>>,
    pub(super) is_public: fn(IpAddr) -> bool,
    pub(super) proxy: fn(&str, u16) -> Option<reqwest::Url>,
    /// Hosts that may be in a private network, as `name` or `name:port`.
    pub(super) private_hosts: Vec<String>,
}

impl UpstreamWays {
    /// The resolver of the system, public addresses and those of `private_hosts`, and the proxy of the environment.
    pub(super) fn real(private_hosts: Vec<String>) -> UpstreamWays {
        UpstreamWays {
            look_up: |name, port| {
                Box::pin(async move { Ok(tokio::net::lookup_host((name, port)).await?.collect()) })
            },
            is_public: placet_http::is_public_address,
            proxy: placet_http::environment_proxy,
            private_hosts,
        }
    }

    pub(super) async fn connect(&self, name: &str, port: u16) -> Result<TcpStream, UpstreamError> {
        tokio::time::timeout(PATIENCE, self.connect_patiently(name, port))
            .await
            .unwrap_or(Err(UpstreamError::Late))
    }

    /// True if `at`, an address that was found for `name`, may be connected to.
    pub(super) fn may_use(&self, name: &str, at: SocketAddr) -> bool {
        let is_named = || names_private_host(&self.private_hosts, &format!("{name}:{}", at.port()));
        (self.is_public)(at.ip()) || is_of_a_network(at.ip()) && is_named()
    }

    async fn connect_patiently(&self, name: &str, port: u16) -> Result<TcpStream, UpstreamError> {
        if is_localhost(name) {
            let own = [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)];
            return Ok(connect_first(own.map(|address| SocketAddr::new(address, port)).to_vec()).await?);
        }
        if let Some(proxy) = (self.proxy)(name, port) {
            return proxy_tunnel::open(&proxy, name, port).await;
        }
        let found = (self.look_up)(name.into(), port).await.map_err(UpstreamError::NotFound)?;
        let is_found = !found.is_empty();
        // Exactly these addresses are used: the name is not asked for a second time, when its answer may be another.
        let public: Vec<SocketAddr> = found.into_iter().filter(|at| self.may_use(name, *at)).collect();
        match public.is_empty() {
            true if is_found => Err(UpstreamError::Private),
            _ => Ok(connect_first(public).await?),
        }
    }
}

/// False for this machine and for addresses that belong to one link, such as that of a cloud's metadata: whoever answers
/// for a private host decides about its address, and only an entry with `localhost` allows a port of this machine.
fn is_of_a_network(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(v4) => {
            !(v4.is_loopback()
                || v4.is_unspecified()
                || v4.is_link_local()
                || v4.is_multicast()
                || v4.is_broadcast())
        }
        IpAddr::V6(v6) => {
            !(v6.is_loopback() || v6.is_unspecified() || v6.is_unicast_link_local() || v6.is_multicast())
        }
    }
}

/// The first address that answers; the next one starts while an earlier one may still answer.
async fn connect_first(addresses: Vec<SocketAddr>) -> io::Result<TcpStream> {
    let mut waiting = addresses.into_iter();
    let mut running = FuturesUnordered::new();
    let mut failed = io::Error::other("no address");
    if let Some(first) = waiting.next() {
        running.push(TcpStream::connect(first));
    }
    while !running.is_empty() {
        let next = tokio::time::timeout(NEXT_ADDRESS, running.next()).await;
        match next {
            Ok(Some(Ok(stream))) => return Ok(stream),
            Ok(Some(Err(error))) => failed = error,
            Ok(None) => {}
            Err(_) if waiting.len() == 0 => match running.next().await {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(error)) => failed = error,
                None => {}
            },
            Err(_) => {}
        }
        if let Some(address) = waiting.next() {
            running.push(TcpStream::connect(address));
        }
    }
    Err(failed)
}
