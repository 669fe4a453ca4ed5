//! The socket at which a [`NetworkControl`](super::NetworkControl) asks: events out, entries in.

use super::control::{ControlCommand, LONGEST_LINE, short_path};
use super::record::NetworkEvent;
use super::relay;
use super::state::NetworkState;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::unix::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::sync::broadcast::error::RecvError;

/// How many clients may be connected: placet's page, and a few other terminals.
const MOST_CLIENTS: usize = 8;

/// How long a client may take to read an event.
const PATIENCE: Duration = Duration::from_secs(10);

/// Makes the socket. Its directory is the caller's, who removes it.
pub(super) fn listen(path: &Path) -> io::Result<std::os::unix::net::UnixListener> {
    let (_dir, short) = short_path(path)?;
    let listener = std::os::unix::net::UnixListener::bind(short)?;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

pub(super) async fn serve(listener: UnixListener, state: Arc<NetworkState>) {
    let room = Arc::new(Semaphore::new(MOST_CLIENTS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((client, _)) => {
                let state = Arc::clone(&state);
                tokio::spawn(async move {
                    let _ = attend(client, &state).await;
                    drop(permit);
                });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn attend(client: UnixStream, state: &Arc<NetworkState>) -> io::Result<()> {
    let (commands, events) = client.into_split();
    tokio::select! {
        done = obey(commands, state) => done,
        done = report(events, state) => done,
    }
}

async fn obey(commands: OwnedReadHalf, state: &Arc<NetworkState>) -> io::Result<()> {
    let mut commands = BufReader::new(commands);
    loop {
        let mut line = Vec::new();
        let limit = u64::try_from(LONGEST_LINE).map_err(io::Error::other)?;
        (&mut commands).take(limit).read_until(b'\n', &mut line).await?;
        if line.last() != Some(&b'\n') {
            return Ok(());
        }
        let ControlCommand::Allow(rule) = serde_json::from_slice(&line)?;
        // The client has parsed the entry already; one that is not a host came from another program.
        let listeners = state.allow(&rule).map_err(io::Error::other)?;
        relay::serve_all(listeners, state);
    }
}

async fn report(mut to: OwnedWriteHalf, state: &NetworkState) -> io::Result<()> {
    let (mut known, mut next) = state.listen();
    loop {
        for event in &known {
            send(&mut to, event).await?;
        }
        known = match next.recv().await {
            Ok(event) => vec![event],
            // Counts are totals, so the record makes up for what was missed.
            Err(RecvError::Lagged(_)) => {
                let (all, newer) = state.listen();
                next = newer;
                all
            }
            Err(RecvError::Closed) => return Ok(()),
        };
    }
}

async fn send(to: &mut OwnedWriteHalf, event: &NetworkEvent) -> io::Result<()> {
    let mut line = serde_json::to_vec(event)?;
    line.push(b'\n');
    tokio::time::timeout(PATIENCE, to.write_all(&line)).await?
}
