//! The child's part of a network by name: an address for the loopback interface, and the sockets that the supervisor
//! serves. Made before capabilities are dropped, because port 53 needs one.

use super::super::network::{HostRule, LaterRules, OWN_ADDRESS, PREFIX, SocketPlan};
use super::super::spec::{SandboxBackend, SandboxNetwork, SandboxSpec};
use placet_process::pass_descriptors;
use rustix::io::{Errno, retry_on_intr};
use rustix::net::netlink::SocketAddrNetlink;
use rustix::net::{
    AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, bind, listen, recv, sendto, socket_with,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

/// The line that announces passed sockets to the supervisor.
pub(super) const SOCKETS: &str = "sockets";

/// The rules of a network by name, and its sockets. `None` if the command has no network of its own, or no hosts.
pub(super) fn sockets_of(spec: &SandboxSpec) -> io::Result<Option<(Vec<HostRule>, SocketPlan)>> {
    let SandboxNetwork::Hosts(hosts) = &spec.network else { return Ok(None) };
    if spec.backend != SandboxBackend::Overlay {
        return Ok(None);
    }
    let rules = hosts.iter().map(|host| HostRule::parse(host)).collect::<Result<Vec<_>, _>>();
    let rules = rules.map_err(io::Error::other)?;
    let later = match spec.names.control {
        Some(_) => LaterRules::Possible,
        None => LaterRules::None,
    };
    let plan = SocketPlan::of(&rules, later);
    Ok(Some((rules, plan)))
}

/// Prepares the network and passes its sockets to the supervisor.
pub(super) fn prepare(plan: &SocketPlan, line: &UnixStream) -> io::Result<()> {
    add_address()?;
    let usual = getrlimit(Resource::Nofile);
    // For these sockets only. Without the right to more, there are fewer shared sockets.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: usual.maximum, maximum: usual.maximum });
    let passed = open(Ipv4Addr::LOCALHOST, plan).and_then(|sockets| pass(line, &sockets));
    setrlimit(Resource::Nofile, usual)?;
    passed
}

/// The sockets of a command without hosts in the network of another command, whose own name server has 127.0.0.1. Called
/// by a process that has joined that network. The address is that of no other command: it contains the process id.
pub(super) fn beside() -> io::Result<(Ipv4Addr, Vec<OwnedFd>)> {
    // Process ids have at most 22 bits, and addresses below 127.64.0.0 are left to programs.
    let [_, high, middle, low] = std::process::id().to_be_bytes();
    let address = Ipv4Addr::new(127, 64 | (high & 0x3f), middle, low);
    let none = SocketPlan { localhost: Vec::new(), own: 0, shared: 0 };
    Ok((address, open(address, &none)?))
}

/// In the order in which `network::serve` takes them.
fn open(server: Ipv4Addr, plan: &SocketPlan) -> io::Result<Vec<OwnedFd>> {
    let udp = socket(SocketType::DGRAM)?;
    bind(&udp, &SocketAddrV4::new(server, 53))?;
    let mut sockets = vec![udp];
    let localhost = plan.localhost.iter().map(|port| (Ipv4Addr::LOCALHOST, *port));
    for (address, port) in std::iter::once((server, 53)).chain(localhost) {
        let listener = socket(SocketType::STREAM)?;
        bind(&listener, &SocketAddrV4::new(address, port))?;
        listen(&listener, 128)?;
        sockets.push(listener);
    }
    for number in 0..plan.own + plan.shared {
        match socket(SocketType::STREAM) {
            Ok(socket) => sockets.push(socket),
            // Of the shared sockets there may be fewer.
            Err(Errno::MFILE | Errno::NFILE | Errno::NOBUFS | Errno::NOMEM) if number >= plan.own => break,
            Err(error) => return Err(error.into()),
        }
    }
    Ok(sockets)
}

fn socket(kind: SocketType) -> rustix::io::Result<OwnedFd> {
    socket_with(AddressFamily::INET, kind, SocketFlags::CLOEXEC, None)
}

fn pass(line: &UnixStream, sockets: &[OwnedFd]) -> io::Result<()> {
    for part in sockets.chunks(pass_descriptors::MOST) {
        let descriptors: Vec<BorrowedFd<'_>> = part.iter().map(AsFd::as_fd).collect();
        pass_descriptors::send(line, format!("{SOCKETS}\n").as_bytes(), &descriptors)?;
    }
    Ok(())
}

/// Gives `lo` a second address. An address is needed and not only a route: glibc asks for IPv4 addresses only where an
/// interface has an address other than 127.0.0.1. On this interface the whole prefix is local.
fn add_address() -> io::Result<()> {
    // The first protocol of netlink is that of routes and addresses.
    let socket = socket_with(AddressFamily::NETLINK, SocketType::RAW, SocketFlags::CLOEXEC, None)?;
    let request = new_address();
    retry_on_intr(|| sendto(&socket, &request, SendFlags::empty(), &SocketAddrNetlink::new(0, 0)))?;
    let mut answer = [0; 256];
    let (length, _) = retry_on_intr(|| recv(&socket, answer.as_mut_slice(), RecvFlags::empty()))?;
    match acknowledged(answer.get(..length).unwrap_or_default()) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(code.saturating_neg())),
        None => Err(io::Error::other("the answer about a new address cannot be read")),
    }
}

/// `RTM_NEWADDR`: a `nlmsghdr`, an `ifaddrmsg`, and two attributes of eight bytes (rtnetlink(7)).
fn new_address() -> Vec<u8> {
    const LENGTH: u32 = 16 + 8 + 8 + 8;
    const NEW_ADDRESS: u16 = 20;
    // Request, acknowledge, create, exclusive.
    const FLAGS: u16 = 0x1 | 0x4 | 0x400 | 0x200;
    /// In every network the loopback interface has this number.
    const LOOPBACK: u32 = 1;
    const INET: u8 = 2;
    let mut message = Vec::new();
    message.extend(LENGTH.to_ne_bytes());
    message.extend(NEW_ADDRESS.to_ne_bytes());
    message.extend(FLAGS.to_ne_bytes());
    // A number for the answer, and the sender, which the kernel fills in.
    message.extend(1u32.to_ne_bytes());
    message.extend(0u32.to_ne_bytes());
    // No flags, and a scope of the whole world.
    message.extend([INET, PREFIX, 0, 0]);
    message.extend(LOOPBACK.to_ne_bytes());
    // IFA_LOCAL and IFA_ADDRESS, which are the same where there is no other end.
    for attribute in [2u16, 1] {
        message.extend(8u16.to_ne_bytes());
        message.extend(attribute.to_ne_bytes());
        message.extend(OWN_ADDRESS.octets());
    }
    message
}

/// The error number of an `NLMSG_ERROR`, which is 0 or negative; `None` for another message.
fn acknowledged(message: &[u8]) -> Option<i32> {
    const ERROR: u16 = 2;
    let kind = u16::from_ne_bytes(message.get(4..6)?.try_into().ok()?);
    let code = i32::from_ne_bytes(message.get(16..20)?.try_into().ok()?);
    (kind == ERROR).then_some(code)
}
