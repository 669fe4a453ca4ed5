//! The only network access of a sandbox with a list of hosts: an HTTP and SOCKS5 proxy, outside, on a listener inside.
//!
//! A network namespace knows no host names. Therefore the command has no network except this listener, whose other end
//! is in the supervisor: the supervisor resolves a name after it was found in the list, and connects to exactly the
//! address that it checked. An address of a private network is refused whatever name leads to it.
//!
//! Programs that ignore the proxy variables have no network. This is intended.

mod address;
mod http;
mod rules;
mod socks;

use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, copy_bidirectional};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

/// The most simultaneous connections.
const MOST: usize = 256;
/// The time limit for the arrival of a request, and for a connection.
const PATIENCE: Duration = Duration::from_secs(20);

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
            // Every SOCKS5 client begins with this version; no HTTP method does.
            5 => socks::ask(&mut client, rules).await,
            first => http::ask(&mut client, first, rules).await,
        }
    });
    if let Ok(Some(mut server)) = asked.await.map_err(std::io::Error::other)? {
        copy_bidirectional(&mut client, &mut server).await?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;

pub(super) use rules::ProxyRules;
use rules::{ProxyRefusal, split_port};
