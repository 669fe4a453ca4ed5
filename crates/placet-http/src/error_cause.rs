//! Explains why a request failed and names the layer: DNS, TLS, a proxy, a refused or a reset connection. The libraries
//! below report "error sending request" and hide the reason in a chain; this module reads the chain.

use super::client::HttpErrorKind;
use std::error::Error;
use std::io::{self, ErrorKind};

/// The prefix of a reason that a proxy gave.
pub(super) const PROXY: &str = "proxy: ";

const TLS: &str = "TLS: ";

/// True for a reason from the TLS handshake: everything between the two ends let the connection pass.
pub(super) fn is_tls(reason: &str) -> bool {
    reason.starts_with(TLS)
}

/// Whether another attempt may succeed.
pub(super) fn kind(error: &(dyn Error + 'static)) -> HttpErrorKind {
    let texts = texts(error);
    let said = |words: &[&str]| words.iter().any(|word| texts.contains(word));
    // A connection that closes during the handshake is a broken connection and not a wrong certificate.
    if said(&["handshake eof", "unexpected eof", "closed early"]) {
        return HttpErrorKind::Connection;
    }
    if said(&["certificate", "received fatal alert", "corrupt message", "invalidcontenttype"]) {
        return HttpErrorKind::Untrusted;
    }
    if said(&[" parsed", "message head is too large", "invalid chunk", "invalid trailer"]) {
        return HttpErrorKind::Malformed;
    }
    HttpErrorKind::Connection
}

/// True if nobody listens at the port.
pub(super) fn is_refused(error: &(dyn Error + 'static)) -> bool {
    system_error(error) == Some(ErrorKind::ConnectionRefused)
}

fn system_error(error: &(dyn Error + 'static)) -> Option<ErrorKind> {
    let mut chain = std::iter::successors(Some(error), |e| (*e).source()).take(16);
    chain.find_map(|e| e.downcast_ref::<io::Error>()).map(io::Error::kind)
}

/// The messages of all layers, in lower case.
fn texts(error: &(dyn Error + 'static)) -> String {
    let chain = std::iter::successors(Some(error), |e| (*e).source()).take(16);
    chain.map(|e| e.to_string().to_lowercase()).collect::<Vec<_>>().join("; ")
}

/// True if a proxy requires a name and a password for a TLS connection.
pub(super) fn wants_password(error: &(dyn Error + 'static)) -> bool {
    std::iter::successors(Some(error), |e| (*e).source())
        .any(|e| e.to_string().contains("proxy authorization required"))
}

/// The layer and the deepest reason, as one line.
pub(super) fn of(error: &(dyn Error + 'static)) -> String {
    let chain: Vec<&(dyn Error + 'static)> =
        std::iter::successors(Some(error), |e| (*e).source()).take(16).collect();
    let deepest = chain.last().map(ToString::to_string).unwrap_or_default();
    let texts = texts(error);
    let said = |words: &[&str]| words.iter().any(|word| texts.contains(word));
    if said(&["dns error", "failed to lookup", "name resolution"]) {
        return format!("DNS: {deepest}");
    }
    if said(&[
        "certificate",
        "tls handshake",
        "received fatal alert",
        "corrupt message",
        "invalidcontenttype",
    ]) {
        // Only an unknown issuer can be added to the trusted certificates; a wrong name or date remains wrong.
        let unknown = said(&["unknownissuer", "unknown issuer", "self-signed", "self signed"]);
        let cure =
            if unknown { "; `network.ca_file` names certificates to trust, such as a company's" } else { "" };
        return format!("{TLS}{deepest}{cure}");
    }
    if said(&["proxy", "tunnel"]) {
        return format!("{PROXY}{deepest}");
    }
    match system_error(error) {
        Some(ErrorKind::ConnectionRefused) => "connection refused".into(),
        Some(ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe) => {
            format!("connection reset: {deepest}")
        }
        Some(ErrorKind::UnexpectedEof) => "the connection was closed early".into(),
        Some(ErrorKind::TimedOut) => "timed out".into(),
        Some(ErrorKind::NetworkUnreachable | ErrorKind::HostUnreachable) => format!("network: {deepest}"),
        _ if said(&["connection closed before message completed", "incompletemessage", "unexpected eof"]) => {
            "the connection was closed early".into()
        }
        _ if said(&["operation timed out", "deadline has elapsed"]) => "timed out".into(),
        _ => deepest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use thiserror::Error;

    #[derive(Debug, Error)]
    #[error("{0}")]
    struct TestErrorLayer(&'static str, #[source] Option<Box<dyn Error + 'static>>);

    fn chain(above: &'static str, below: impl Error + 'static) -> TestErrorLayer {
        TestErrorLayer(above, Some(Box::new(below)))
    }

    #[test]
    fn only_what_may_pass_is_a_failure_of_the_connection() {
        for (words, wanted) in [
            ("invalid peer certificate: UnknownIssuer", HttpErrorKind::Untrusted),
            ("invalid peer certificate: Expired", HttpErrorKind::Untrusted),
            ("received fatal alert: ProtocolVersion", HttpErrorKind::Untrusted),
            ("received corrupt message of type InvalidContentType", HttpErrorKind::Untrusted),
            ("tls handshake eof", HttpErrorKind::Connection),
            ("invalid HTTP version parsed", HttpErrorKind::Malformed),
            ("invalid HTTP status-code parsed", HttpErrorKind::Malformed),
            ("invalid HTTP header parsed", HttpErrorKind::Malformed),
            ("message head is too large", HttpErrorKind::Malformed),
            ("connection closed before message completed", HttpErrorKind::Connection),
            ("dns error: failed to lookup", HttpErrorKind::Connection),
        ] {
            assert_eq!(kind(&chain("client error", TestErrorLayer(words, None))), wanted, "{words}");
        }
    }

    #[test]
    fn each_layer_is_named() {
        let io = |kind| io::Error::from(kind);
        let table: [(TestErrorLayer, &str); 7] = [
            (chain("dns error", TestErrorLayer("no such host", None)), "DNS: no such host"),
            (
                chain(
                    "client error (Connect)",
                    TestErrorLayer("invalid peer certificate: UnknownIssuer", None),
                ),
                "TLS: invalid peer certificate: UnknownIssuer; `network.ca_file` names certificates to trust, such as a company's",
            ),
            (
                chain("client error (Connect)", TestErrorLayer("invalid peer certificate: Expired", None)),
                "TLS: invalid peer certificate: Expired",
            ),
            (chain("tunnel error", TestErrorLayer("unsuccessful", None)), "proxy: unsuccessful"),
            (chain("tcp connect error", io(ErrorKind::ConnectionRefused)), "connection refused"),
            (chain("error", io(ErrorKind::ConnectionReset)), "connection reset: connection reset"),
            (
                chain("x", TestErrorLayer("connection closed before message completed", None)),
                "the connection was closed early",
            ),
        ];
        for (error, words) in table {
            assert_eq!(of(&error), words);
        }
    }
}
