//! Why a connection could not be made outside.

use std::io;
use std::time::Duration;
use thiserror::Error;

/// The time limit for finding an address, connecting, and the answer of a proxy.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Why there is no connection.
#[derive(Debug, Error)]
pub(super) enum UpstreamError {
    #[error("its address could not be found: {0}")]
    NotFound(io::Error),
    #[error("it is in a private network, which commands may not use")]
    Private,
    #[error("{0}")]
    Connect(#[from] io::Error),
    #[error("no connection within {} seconds", PATIENCE.as_secs())]
    Late,
    #[error("the proxy {0} cannot be reached: {1}")]
    ProxyUnreachable(String, io::Error),
    #[error("the proxy {0} refused the connection: {1}")]
    ProxyRefused(String, String),
    #[error("the proxy {0} is not an HTTP or SOCKS5 proxy")]
    ProxyKind(String),
}
