//! A tunnel through a proxy of the host's environment: HTTP `CONNECT` (RFC 9110) or SOCKS5 (RFC 1928 and 1929). The
//! proxy gets the name, because behind such a proxy a machine often cannot resolve names itself.

use super::upstream_error::UpstreamError;
use base64::Engine;
use reqwest::Url;
use std::io;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The longest head of an answer.
const LONGEST_HEAD: usize = 16 << 10;

pub(super) async fn open(proxy: &Url, name: &str, port: u16) -> Result<TcpStream, UpstreamError> {
    let host = proxy.host_str().unwrap_or_default();
    let is_socks = matches!(proxy.scheme(), "socks5" | "socks5h");
    // Only the SOCKS schemes have no known port here.
    let at = proxy.port_or_known_default().unwrap_or(1080);
    let shown = format!("{host}:{at}");
    if !is_socks && proxy.scheme() != "http" {
        return Err(UpstreamError::ProxyKind(shown));
    }
    let unreachable = |error| UpstreamError::ProxyUnreachable(shown.clone(), error);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let mut stream = TcpStream::connect((bare, at)).await.map_err(unreachable)?;
    let asked = match is_socks {
        true => socks(&mut stream, proxy, name, port).await,
        false => connect(&mut stream, proxy, name, port).await,
    };
    match asked.map_err(unreachable)? {
        None => Ok(stream),
        Some(refusal) => Err(UpstreamError::ProxyRefused(shown, refusal)),
    }
}

/// The name and the password in the address of the proxy.
fn login(proxy: &Url) -> Option<(Vec<u8>, Vec<u8>)> {
    let password = proxy.password().unwrap_or_default();
    let is_set = !proxy.username().is_empty() || !password.is_empty();
    is_set.then(|| (unescaped(proxy.username()), unescaped(password)))
}

/// `%40` is `@`.
fn unescaped(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    while let [first, rest @ ..] = bytes {
        let digits = rest.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                plain.push(byte);
                bytes = rest.get(2..).unwrap_or_default();
            }
            None => {
                plain.push(*first);
                bytes = rest;
            }
        }
    }
    plain
}

/// Asks an HTTP proxy. `Some` is its refusal.
async fn connect(stream: &mut TcpStream, proxy: &Url, name: &str, port: u16) -> io::Result<Option<String>> {
    let mut request = format!("CONNECT {name}:{port} HTTP/1.1\r\nHost: {name}:{port}\r\n");
    if let Some((user, password)) = login(proxy) {
        let login = base64::engine::general_purpose::STANDARD.encode([&user[..], b":", &password].concat());
        request.push_str(&format!("Proxy-Authorization: Basic {login}\r\n"));
    }
    request.push_str("\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut head = Vec::new();
    // Byte by byte: the bytes after the head belong to the connection.
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > LONGEST_HEAD {
            return Err(io::Error::other("the head of its answer is too long"));
        }
        head.push(stream.read_u8().await?);
    }
    let head = String::from_utf8_lossy(&head);
    let code = head.split(' ').nth(1).and_then(|code| code.parse::<u16>().ok());
    Ok(match code {
        Some(200..=299) => None,
        Some(407) => Some("it requires a name and a password that it accepts (HTTP 407)".into()),
        Some(code) => Some(format!("HTTP {code}")),
        None => Some("its answer is not HTTP".into()),
    })
}

/// Asks a SOCKS5 proxy. `Some` is its refusal.
async fn socks(stream: &mut TcpStream, proxy: &Url, name: &str, port: u16) -> io::Result<Option<String>> {
    // Method 0 is no login, method 2 a name and a password.
    let login = login(proxy);
    stream.write_all(&[5, 1, if login.is_some() { 2 } else { 0 }]).await?;
    let mut chosen = [0; 2];
    stream.read_exact(&mut chosen).await?;
    match (chosen, login) {
        ([5, 0], _) => {}
        ([5, 2], Some((user, password))) => {
            let mut message = vec![1];
            for part in [user, password] {
                message.push(u8::try_from(part.len()).map_err(io::Error::other)?);
                message.extend_from_slice(&part);
            }
            stream.write_all(&message).await?;
            stream.read_exact(&mut chosen).await?;
            if chosen != [1, 0] {
                return Ok(Some("it does not accept the name or the password".into()));
            }
        }
        _ => return Ok(Some("it requires a login that placet does not know".into())),
    }
    // Command 1 connects; address type 3 is a name.
    let length = u8::try_from(name.len()).map_err(io::Error::other)?;
    let request = [&[5, 1, 0, 3, length][..], name.as_bytes(), &port.to_be_bytes()].concat();
    stream.write_all(&request).await?;
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await?;
    let [_, code, _, kind] = answer;
    if code != 0 {
        return Ok(Some(format!("SOCKS error {code}")));
    }
    // The address in an answer is not used: 4 bytes, 16 bytes or a name, and a port.
    let length = match kind {
        1 => 4,
        4 => 16,
        _ => usize::from(stream.read_u8().await?),
    };
    stream.read_exact(&mut vec![0; length + 2]).await?;
    Ok(None)
}
