//! The one way out of a sandbox whose network is a list of hosts: an HTTP and SOCKS5 proxy, outside, on a listener inside.
//!
//! A network namespace knows no host names. So the command has no network but this listener, whose other end lives in
//! the supervisor: names are resolved there, after they were found in the list, and the connection goes to the very
//! address that was checked. An address of a private network is refused whatever name leads to it.
//!
//! Programs that ignore the proxy variables have no network. That is wanted.

mod address;
mod http;
mod socks;

use crate::text::secret::matches;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// Connections at a time.
const MOST: usize = 256;
/// For a request to be said, and for a connection to be made.
const PATIENCE: Duration = Duration::from_secs(20);

/// Which connections are made.
#[derive(Clone, Debug)]
pub(super) struct ProxyRules {
    /// `host`, `*.host`, `host:port`.
    hosts: Vec<String>,
    /// True for an address that may be connected to.
    reaches: fn(IpAddr) -> bool,
}

/// Why there is no connection, for whoever reads the program's error.
#[derive(Debug, PartialEq, Eq)]
enum ProxyRefusal {
    NotListed(String),
    Private(String),
    Unreachable(String),
}

impl ProxyRefusal {
    fn sentence(&self) -> String {
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

/// Serves `listener` on a thread of its own until this process ends.
pub(super) fn serve(listener: std::net::TcpListener, hosts: Vec<String>) -> std::io::Result<()> {
    listener.set_nonblocking(true)?;
    let rules = ProxyRules { hosts, reaches: address::is_public };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let work = move || {
        runtime.block_on(async {
            if let Ok(listener) = TcpListener::from_std(listener) {
                accept(listener, rules).await;
            }
        });
    };
    std::thread::Builder::new().name("proxy".into()).spawn(work).map(drop)
}

async fn accept(listener: TcpListener, rules: ProxyRules) {
    let rules = Arc::new(rules);
    let room = Arc::new(Semaphore::new(MOST));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((client, _)) => {
                let rules = Arc::clone(&rules);
                tokio::spawn(async move {
                    let _ = converse(client, &rules).await;
                    drop(permit);
                });
            }
            // Too many open files: a moment later there may be fewer.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// One client, from its first byte to its last.
async fn converse<C: AsyncRead + AsyncWrite + Unpin>(
    mut client: C,
    rules: &ProxyRules,
) -> std::io::Result<()> {
    let asked = tokio::time::timeout(PATIENCE, async {
        match client.read_u8().await? {
            5 => socks::ask(&mut client, rules).await,
            first => http::ask(&mut client, first, rules).await,
        }
    });
    if let Ok(Some(mut server)) = asked.await.map_err(std::io::Error::other)? {
        copy_bidirectional(&mut client, &mut server).await?;
    }
    Ok(())
}

impl ProxyRules {
    /// A connection to `host`, or why there is none.
    async fn connect(&self, host: &str, port: u16) -> Result<TcpStream, ProxyRefusal> {
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

    fn lists(&self, host: &str, port: u16) -> bool {
        let plain = !host.is_empty() && host.chars().all(|c| c.is_ascii_alphanumeric() || "-._:".contains(c));
        plain
            && self.hosts.iter().any(|pattern| {
                let (pattern, wanted) = split_port(pattern);
                matches(&normal(pattern), host) && wanted.is_none_or(|wanted| wanted == port)
            })
    }
}

/// In small letters, without the dot at the end and the brackets of an address.
fn normal(host: &str) -> String {
    host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.').to_ascii_lowercase()
}

/// `host:port`, `[address]:port`, or either without a port. A bare address with colons has none.
fn split_port(text: &str) -> (&str, Option<u16>) {
    match text.rsplit_once(':') {
        Some((host, port)) if !host.contains(':') || host.ends_with(']') => match port.parse() {
            Ok(port) => (host, Some(port)),
            Err(_) => (text, None),
        },
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests;
