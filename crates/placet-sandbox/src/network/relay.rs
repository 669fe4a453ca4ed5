//! Connections of the command: each belongs to the name and port of its listener, and is made outside.

use super::name_table::NameListener;
use super::record::{NetworkEvent, NetworkEventKind};
use super::state::NetworkState;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::copy_bidirectional_with_sizes;
use tokio::net::{TcpListener, TcpStream};

/// Bytes on their way in each direction of a connection.
const BUFFER: usize = 32 << 10;

/// How long a connection may be silent before the system asks whether its other end still exists. There is no limit on
/// silence itself: some programs wait for hours on an open connection.
const SILENT: Duration = Duration::from_secs(60);

/// Starts to accept on each of `listeners`.
pub(super) fn serve_all(listeners: Vec<NameListener>, state: &Arc<NetworkState>) {
    for listener in listeners {
        let (name, port) = (listener.name.clone(), listener.port);
        match tokio_listener(listener) {
            Ok(listener) => drop(tokio::spawn(accept(listener, (name, port), Arc::clone(state)))),
            Err(error) => state.count(failed(&name, port, error.to_string())),
        }
    }
}

fn tokio_listener(listener: NameListener) -> io::Result<TcpListener> {
    let listener = std::net::TcpListener::from(listener.socket);
    listener.set_nonblocking(true)?;
    TcpListener::from_std(listener)
}

async fn accept(listener: TcpListener, (name, port): (String, u16), state: Arc<NetworkState>) {
    loop {
        match listener.accept().await {
            Ok((client, _)) => {
                // Only now: listeners that nobody connects to must not take the room of others.
                let Ok(permit) = Arc::clone(&state.room).acquire_owned().await else { return };
                let (name, state) = (name.clone(), Arc::clone(&state));
                tokio::spawn(async move {
                    converse(client, &name, port, &state).await;
                    drop(permit);
                });
            }
            // Too many open files: a moment later there may be fewer.
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// One connection, from its first byte to its last.
async fn converse(client: TcpStream, name: &str, port: u16, state: &NetworkState) {
    let server = match state.ways.connect(name, port).await {
        Ok(server) => server,
        Err(error) => {
            state.count(failed(name, port, error.to_string()));
            // A reset, and not an end: the program must not take it for an empty answer.
            let _ = client.set_zero_linger();
            return;
        }
    };
    let connected = NetworkEvent::new(NetworkEventKind::Connected, name);
    state.count(NetworkEvent { port: Some(port), ..connected });
    join(client, server).await;
}

/// Passes the bytes of two connections on to each other, until both directions have ended.
pub(crate) async fn join(mut client: TcpStream, mut server: TcpStream) {
    for stream in [&client, &server] {
        // Small messages go at once, and an end that has disappeared is noticed.
        let _ = stream.set_nodelay(true);
        let _ = rustix::net::sockopt::set_socket_keepalive(stream, true);
        let _ = rustix::net::sockopt::set_tcp_keepidle(stream, SILENT);
    }
    // Each direction ends by itself: a program may close its own side and still read the answer.
    if copy_bidirectional_with_sizes(&mut client, &mut server, BUFFER, BUFFER).await.is_err() {
        // What was cut must not look complete to the other end.
        let _ = client.set_zero_linger();
        let _ = server.set_zero_linger();
    }
}

fn failed(name: &str, port: u16, reason: String) -> NetworkEvent {
    let failed = NetworkEvent::new(NetworkEventKind::Failed, name);
    NetworkEvent { port: Some(port), reason: Some(reason), ..failed }
}
