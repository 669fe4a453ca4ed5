//! The DNS stub on 127.0.0.1:53 of the command's network. It runs outside, so that no program inside can change what it
//! answers, and it asks nobody: a question never leaves the machine.

use super::dns_message::LONGEST_MESSAGE;
use super::relay;
use super::state::NetworkState;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};
use tokio::sync::Semaphore;

/// How many connections may ask at a time; resolvers use one only for answers that are too long for UDP, and none is.
const MOST_CONNECTIONS: usize = 32;

/// How long a connection may take for its next question.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) async fn serve_udp(socket: UdpSocket, state: Arc<NetworkState>) {
    let mut message = vec![0; LONGEST_MESSAGE];
    loop {
        let Ok((length, from)) = socket.recv_from(&mut message).await else {
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        if let Some(answer) = reply(&state, message.get(..length).unwrap_or_default(), Some(from.port())) {
            // A full buffer drops the answer, and the resolver asks again.
            let _ = socket.try_send_to(&answer, from);
        }
    }
}

pub(super) async fn serve_tcp(listener: TcpListener, state: Arc<NetworkState>) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((client, _)) => {
                let state = Arc::clone(&state);
                tokio::spawn(async move {
                    let _ = answer_all(client, &state).await;
                    drop(permit);
                });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

/// Over TCP each message follows its length.
async fn answer_all(mut client: TcpStream, state: &Arc<NetworkState>) -> io::Result<()> {
    loop {
        let read = async {
            let length = usize::from(client.read_u16().await?);
            if length > LONGEST_MESSAGE {
                return Err(io::Error::from(io::ErrorKind::InvalidData));
            }
            let mut message = vec![0; length];
            client.read_exact(&mut message).await?;
            Ok(message)
        };
        let message = tokio::time::timeout(PATIENCE, read).await??;
        let Some(answer) = reply(state, &message, None) else { return Ok(()) };
        let length = u16::try_from(answer.len()).map_err(io::Error::other)?;
        let framed = [&length.to_be_bytes()[..], &answer].concat();
        tokio::time::timeout(PATIENCE, client.write_all(&framed)).await??;
    }
}

/// The answer, after the listeners of its address are served.
fn reply(state: &Arc<NetworkState>, message: &[u8], port: Option<u16>) -> Option<Vec<u8>> {
    let (answer, listeners) = state.reply(message, port);
    relay::serve_all(listeners, state);
    answer
}
