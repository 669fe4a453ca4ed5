//! The kind of failure of a request.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpErrorKind {
    /// The host may be available again in a moment.
    Connection,
    /// The host is this machine, and no program listens at the port.
    NotListening,
    /// A proxy requires another name or password, which a second attempt does not have.
    ProxyRefuses,
    /// The other end cannot prove that it is the requested host, or does not support TLS. Another attempt has the same
    /// result.
    Untrusted,
    /// The response is not HTTP.
    Malformed,
    /// The body is longer than the caller's limit.
    TooLong { most: usize },
}
