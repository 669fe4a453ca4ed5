//! SOCKS5 (RFC 1928): only connections, without authentication. The proxy resolves the name, as with `socks5h`.

use super::{ProxyRefusal, ProxyRules};
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;

/// Answers of the protocol.
const DONE: u8 = 0;
const NOT_ALLOWED: u8 = 2;
const UNREACHABLE: u8 = 4;
const NO_SUCH_COMMAND: u8 = 7;
const NO_SUCH_ADDRESS: u8 = 8;

/// Reads a request after its first byte. `None` if the request was refused with an answer.
pub(super) async fn ask<C: AsyncRead + AsyncWrite + Unpin>(
    client: &mut C,
    rules: &ProxyRules,
) -> io::Result<Option<TcpStream>> {
    let count = client.read_u8().await?;
    let mut methods = vec![0; usize::from(count)];
    client.read_exact(&mut methods).await?;
    // Method 0 is no authentication; 0xff means that none of the offered methods is acceptable.
    if !methods.contains(&0) {
        client.write_all(&[5, 0xff]).await?;
        return Ok(None);
    }
    client.write_all(&[5, 0]).await?;
    let mut request = [0; 4];
    client.read_exact(&mut request).await?;
    let [_, command, _, kind] = request;
    let Some(host) = host(client, kind).await? else { return refuse(client, NO_SUCH_ADDRESS).await };
    let port = client.read_u16().await?;
    // 1 is CONNECT; BIND and UDP ASSOCIATE are not offered.
    if command != 1 {
        return refuse(client, NO_SUCH_COMMAND).await;
    }
    match rules.connect(&host, port).await {
        Ok(server) => {
            reply(client, DONE).await?;
            Ok(Some(server))
        }
        Err(ProxyRefusal::Unreachable(_)) => refuse(client, UNREACHABLE).await,
        Err(_) => refuse(client, NOT_ALLOWED).await,
    }
}

async fn host<C: AsyncRead + Unpin>(client: &mut C, kind: u8) -> io::Result<Option<String>> {
    // 1 is an IPv4 address, 3 a name, 4 an IPv6 address.
    Ok(match kind {
        1 => Some(Ipv4Addr::from_bits(client.read_u32().await?).to_string()),
        3 => {
            let length = client.read_u8().await?;
            let mut name = vec![0; usize::from(length)];
            client.read_exact(&mut name).await?;
            String::from_utf8(name).ok()
        }
        4 => Some(Ipv6Addr::from_bits(client.read_u128().await?).to_string()),
        _ => None,
    })
}

async fn refuse<C: AsyncWrite + Unpin>(client: &mut C, reason: u8) -> io::Result<Option<TcpStream>> {
    reply(client, reason).await?;
    client.shutdown().await?;
    Ok(None)
}

/// Nobody uses the address in an answer: zeros.
async fn reply<C: AsyncWrite + Unpin>(client: &mut C, reason: u8) -> io::Result<()> {
    client.write_all(&[5, reason, 0, 1, 0, 0, 0, 0, 0, 0]).await
}
