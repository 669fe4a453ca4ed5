//! Starts the network thread of a supervisor.

use super::host_rule::HostRule;
use super::name_table::{NameListener, NameTable};
use super::record::NetworkRecord;
use super::relay;
use super::socket_plan::{OWN_ADDRESS, SocketPlan};
use super::state::NetworkState;
use super::upstream::UpstreamWays;
use super::{control_server, stub};
use placet_process::{ChildPid, SandboxReport};
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::{Arc, PoisonError};
use tokio::net::{TcpListener, UdpSocket, UnixListener};

/// How many names the system's resolver looks up at a time; each needs a thread.
const MOST_LOOKUPS: usize = 16;

/// Serves the sockets that the child made by `plan`, on a thread of its own until this process ends. The result
/// reports what the command asked for. `first` is the first process inside.
pub(crate) fn serve(
    (rules, private_hosts): (Vec<HostRule>, Vec<String>),
    plan: &SocketPlan,
    sockets: Vec<OwnedFd>,
    (first, control): (ChildPid, Option<&Path>),
) -> io::Result<SandboxReport> {
    let missing = || io::Error::other("a socket of its network was not passed");
    let mut sockets = sockets.into_iter();
    let udp = std::net::UdpSocket::from(sockets.next().ok_or_else(missing)?);
    let tcp = std::net::TcpListener::from(sockets.next().ok_or_else(missing)?);
    udp.set_nonblocking(true)?;
    tcp.set_nonblocking(true)?;
    let mut localhost = Vec::new();
    for &port in &plan.localhost {
        let socket = sockets.next().ok_or_else(missing)?;
        localhost.push(NameListener { socket, name: "localhost".into(), port });
    }
    let own: Vec<OwnedFd> = sockets.by_ref().take(plan.own).collect();
    let table = NameTable::new(rules, (own, sockets.collect()), OWN_ADDRESS);
    let state = Arc::new(NetworkState::new(table, UpstreamWays::real(private_hosts), Some(first)));
    let record = Arc::clone(&state.record);
    let control = control.map(control_server::listen).transpose()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(MOST_LOOKUPS)
        .build()?;
    let work = move || {
        let served = runtime.block_on(async {
            relay::serve_all(localhost, &state);
            if let Some(control) = control {
                tokio::spawn(control_server::serve(UnixListener::from_std(control)?, Arc::clone(&state)));
            }
            tokio::spawn(stub::serve_tcp(TcpListener::from_std(tcp)?, Arc::clone(&state)));
            stub::serve_udp(UdpSocket::from_std(udp)?, state).await;
            Ok::<_, io::Error>(())
        });
        if let Err(error) = served {
            tracing::error!("the network of the command is not served: {error}");
        }
    };
    std::thread::Builder::new().name("network".into()).spawn(work)?;
    Ok(SandboxReport::new(move || {
        let record: &NetworkRecord = &record.lock().unwrap_or_else(PoisonError::into_inner);
        record.to_report()
    }))
}
