//! What kind of failure a request met.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HttpErrorKind {
    /// It may be there again in a moment.
    Connection,
    /// A proxy on the way wants another name or password, which no second attempt has.
    ProxyRefuses,
    /// The other end cannot prove that it is the host that was named, or does not speak TLS. Asking again asks the same.
    Untrusted,
    /// What came is no HTTP.
    Malformed,
    /// The body is longer than the caller takes.
    TooLong { most: usize },
}
