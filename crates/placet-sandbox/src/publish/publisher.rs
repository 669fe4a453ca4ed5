//! The process behind a published port: `placet __run --publish SUPERVISOR PORT`. Its standard input is a socket to
//! placet, over which the listener comes, and which ends it when it closes.

use super::super::linux::join_network;
use super::super::network::join;
use placet_process::{ChildPid, pass_descriptors};
use rustix::process::{DumpableBehavior, set_dumpable_behavior};
use std::ffi::OsString;
use std::io;
use std::net::{Ipv4Addr, Ipv6Addr};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncReadExt;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::sync::Semaphore;

/// The most simultaneous connections of a port; more wait.
const MOST_CONNECTIONS: usize = 128;

/// Serves one port until placet closes the line. Called while the process has one thread.
pub(crate) fn publish(words: &[OsString]) -> ExitCode {
    match serve(words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn serve(words: &[OsString]) -> io::Result<()> {
    let number = |word: &OsString| word.to_str().and_then(|digits| digits.parse::<u32>().ok());
    let [supervisor, port] = words else { return Err(io::ErrorKind::InvalidInput.into()) };
    let (Some(supervisor), Some(port)) = (number(supervisor), number(port)) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let supervisor = ChildPid::checked(supervisor)?;
    let port = u16::try_from(port).map_err(io::Error::other)?;
    // Keys that the person types to placet are no signals for it, and no program reads its memory.
    rustix::process::setsid()?;
    set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    let line = std::os::unix::net::UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let (mut byte, mut passed) = ([0], Vec::new());
    pass_descriptors::receive(&line, &mut byte, &mut passed)?;
    let listener = passed.into_iter().next().ok_or(io::ErrorKind::UnexpectedEof)?;
    let listener = std::net::TcpListener::from(listener);
    listener.set_nonblocking(true)?;
    line.set_nonblocking(true)?;
    // One thread: a process with several cannot enter the namespaces of the command.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (listener, mut line) = (TcpListener::from_std(listener)?, UnixStream::from_std(line)?);
        tokio::select! {
            () = accept(listener, supervisor, port) => {}
            _ = line.read(&mut byte) => {}
        }
        Ok(())
    })
}

async fn accept(listener: TcpListener, supervisor: ChildPid, port: u16) {
    let room = Arc::new(Semaphore::new(MOST_CONNECTIONS));
    let mut is_inside = false;
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        let Ok((client, _)) = listener.accept().await else {
            // Too many open files: a moment later there may be fewer.
            tokio::time::sleep(Duration::from_millis(20)).await;
            continue;
        };
        // Not before: the sandbox of the command may still be in the making.
        is_inside = is_inside || join_network(supervisor).unwrap_or(false);
        let connecting = is_inside.then_some(port);
        tokio::spawn(async move {
            match connecting {
                Some(port) => converse(client, port).await,
                None => drop(client.set_zero_linger()),
            }
            drop(permit);
        });
    }
}

/// One connection, from its first byte to its last. A program may listen on either `localhost`.
async fn converse(client: TcpStream, port: u16) {
    let server = match TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await {
        Ok(server) => Ok(server),
        Err(_) => TcpStream::connect((Ipv6Addr::LOCALHOST, port)).await,
    };
    match server {
        Ok(server) => join(client, server).await,
        // A reset, and not an end: a browser must not take it for an empty answer.
        Err(_) => drop(client.set_zero_linger()),
    }
}
