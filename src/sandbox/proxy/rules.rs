//! Which hosts the proxy allows, and its answer for others.

use crate::text::secret::matches;
use std::net::IpAddr;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// The allowed connections.
#[derive(Clone, Debug)]
pub(in crate::sandbox) struct ProxyRules {
    /// `host`, `*.host`, `host:port`.
    pub(super) hosts: Vec<String>,
    /// True for an address that may be connected to.
    pub(super) reaches: fn(IpAddr) -> bool,
}

/// Why a connection was refused, for a reader of the program's error.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ProxyRefusal {
    NotListed(String),
    Private(String),
    Unreachable(String),
}

impl ProxyRefusal {
    pub(super) fn sentence(&self) -> String {
        match self {
            ProxyRefusal::NotListed(host) => format!(
                "placet: this command may not connect to {host}\nhint: the person can allow it with `[sandbox] hosts = [\"{host}\"]`, or for one session with --allow-host {host}"
            ),
            ProxyRefusal::Private(host) => {
                format!("placet: {host} is in a private network, which commands in the sandbox may not use")
            }
            ProxyRefusal::Unreachable(reason) => format!("placet: no connection: {reason}"),
        }
    }
}

impl ProxyRules {
    /// A connection to `host`, or why it was refused.
    pub(super) async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, ProxyRefusal> {
        let host = normal(host);
        if !self.lists(&host, port) {
            return Err(ProxyRefusal::NotListed(host));
        }
        let unreachable = |error: std::io::Error| ProxyRefusal::Unreachable(format!("{host}: {error}"));
        let found = tokio::net::lookup_host((host.as_str(), port)).await.map_err(unreachable)?;
        let (allowed, private): (Vec<SocketAddr>, _) = found.partition(|at| (self.reaches)(at.ip()));
        if allowed.is_empty() && !private.is_empty() {
            return Err(ProxyRefusal::Private(host));
        }
        TcpStream::connect(allowed.as_slice()).await.map_err(unreachable)
    }

    pub(super) fn lists(&self, host: &str, port: u16) -> bool {
        let plain = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._:".contains(c));
        plain
            && self.hosts.iter().any(|pattern| {
                let (pattern, wanted) = split_port(pattern);
                matches(&normal(pattern), host) && wanted.is_none_or(|wanted| wanted == port)
            })
    }
}

/// In lower case, without the trailing dot and the brackets of an address.
pub(super) fn normal(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase()
}

/// `host:port`, `[address]:port`, or either without a port. A bare address with colons has none.
pub(super) fn split_port(text: &str) -> (&str, Option<u16>) {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => match port.parse() {
            Ok(port) => (host, Some(port)),
            Err(_) => (text, None),
        },
        _ => (text, None),
    }
}
