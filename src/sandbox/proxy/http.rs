//! HTTP: `CONNECT host:port`, and requests with a whole address (`GET http://host/path`), as RFC 9110 and 9112 define
//! them.

use super::{ProxyRefusal, ProxyRules, split_port};
use std::io;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest head of a request.
const HEAD: usize = 32 << 10;

/// Reads one request, whose first byte is `first`, and makes its connection. `None` if the request was refused with an
/// answer.
pub(super) async fn ask<C: AsyncRead + AsyncWrite + Unpin>(
    client: &mut C,
    first: u8,
    rules: &ProxyRules,
) -> io::Result<Option<TcpStream>> {
    let head = head(client, first).await?;
    let Some(request) = ProxyRequest::parse(&head) else {
        answer(client, "400 Bad Request", "placet: this is not a proxy request").await?;
        return Ok(None);
    };
    match rules.connect(request.host, request.port).await {
        Ok(mut server) => {
            match request.forward {
                None => client.write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").await?,
                Some(head) => server.write_all(head.as_bytes()).await?,
            }
            Ok(Some(server))
        }
        Err(refusal) => {
            let status = match refusal {
                ProxyRefusal::Unreachable(_) => "502 Bad Gateway",
                ProxyRefusal::NotListed(_) | ProxyRefusal::Private(_) => "403 Forbidden",
            };
            answer(client, status, &refusal.sentence()).await?;
            Ok(None)
        }
    }
}

async fn head<C: AsyncRead + Unpin>(client: &mut C, first: u8) -> io::Result<String> {
    let mut head = vec![first];
    // Byte by byte: the bytes after the head belong to the connection.
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > HEAD {
            return Err(io::Error::other("the head of the request is too long"));
        }
        head.push(client.read_u8().await?);
    }
    String::from_utf8(head).map_err(io::Error::other)
}

async fn answer<C: AsyncWrite + Unpin>(client: &mut C, status: &str, text: &str) -> io::Result<()> {
    let length = text.len() + 1;
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    client.write_all(format!("{head}{text}\n").as_bytes()).await?;
    client.shutdown().await
}

#[derive(Debug, PartialEq, Eq)]
struct ProxyRequest<'a> {
    host: &'a str,
    port: u16,
    /// The head as the server gets it; for `CONNECT` there is none.
    forward: Option<String>,
}

impl ProxyRequest<'_> {
    fn parse(head: &str) -> Option<ProxyRequest<'_>> {
        let (line, headers) = head.split_once("\r\n")?;
        let mut words = line.split(' ');
        let (method, target, version) = (words.next()?, words.next()?, words.next()?);
        if method == "CONNECT" {
            let (host, port) = split_port(target);
            return Some(ProxyRequest { host, port: port?, forward: None });
        }
        let rest = target.strip_prefix("http://")?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at_checked(end)?;
        let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
        let (host, port) = split_port(authority);
        let slash = if path.starts_with('/') { "" } else { "/" };
        let mut forward = format!("{method} {slash}{path} {version}\r\n");
        for header in headers.split("\r\n").filter(|header| !header.is_empty()) {
            let name = header.split(':').next()?.trim().to_ascii_lowercase();
            // One request per connection: the next may be for another host.
            if !matches!(name.as_str(), "connection" | "keep-alive") && !name.starts_with("proxy-") {
                forward.push_str(header);
                forward.push_str("\r\n");
            }
        }
        forward.push_str("Connection: close\r\n\r\n");
        Some(ProxyRequest { host, port: port.unwrap_or(80), forward: Some(forward) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_cleaned() {
        let connect = ProxyRequest::parse("CONNECT crates.io:443 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        assert_eq!((connect.host, connect.port, connect.forward), ("crates.io", 443, None));
        let connect = ProxyRequest::parse("CONNECT [2606::1]:443 HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!((connect.host, connect.port), ("[2606::1]", 443));
        let get = "GET http://u:p@example.org:81/a?b HTTP/1.1\r\nHost: example.org\r\nProxy-Authorization: x\r\nConnection: keep-alive\r\n\r\n";
        let get = ProxyRequest::parse(get).unwrap();
        assert_eq!((get.host, get.port), ("example.org", 81));
        assert_eq!(
            get.forward.unwrap(),
            "GET /a?b HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n\r\n"
        );
        let bare = ProxyRequest::parse("GET http://example.org?q HTTP/1.0\r\n\r\n").unwrap();
        assert_eq!((bare.host, bare.port), ("example.org", 80));
        assert!(bare.forward.unwrap().starts_with("GET /?q HTTP/1.0\r\n"));
        for garbage in ["GET / HTTP/1.1\r\n\r\n", "CONNECT crates.io HTTP/1.1\r\n\r\n", "\r\n\r\n", "x"] {
            assert_eq!(ProxyRequest::parse(garbage), None, "{garbage}");
        }
    }
}
