//! Why a connection could not be made outside.

use std::io;
use std::time::Duration;
use thiserror::Error;

/// The time limit for finding an address, connecting, and the answer of a proxy.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// Why there is no connection.
#[derive(Debug, Error)]
pub(super) enum UpstreamError {
    #[error("its address could not be found{}", unusual_reason(.0))]
    NotFound(io::Error),
    #[error("it is in a private network, and `network.private_hosts` does not name it")]
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

/// The reason, where it is another than that nobody knows the name: the name server may not answer.
fn unusual_reason(error: &io::Error) -> String {
    let text = error.to_string();
    let reason = text.rsplit(": ").next().unwrap_or_default();
    let usual = ["Name or service not known", "No address associated with hostname"];
    if usual.contains(&reason) { String::new() } else { format!(": {reason}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_name_needs_no_reason() {
        let words = |text: &str| UpstreamError::NotFound(io::Error::other(text)).to_string();
        let prefix = "failed to lookup address information: ";
        let unknown = words(&format!("{prefix}Name or service not known"));
        assert_eq!(unknown, "its address could not be found");
        let silent = words(&format!("{prefix}Temporary failure in name resolution"));
        assert_eq!(silent, "its address could not be found: Temporary failure in name resolution");
    }
}
