use super::control::short_path;
use super::name_table::{NameListener, NameTable};
use super::record::{NetworkEvent, NetworkEventKind};
use super::state::NetworkState;
use super::upstream::UpstreamWays;
use super::{HostRule, NetworkControl, control_server, relay};
use placet_http::is_public_address;
use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream, UnixListener};

#[test]
fn only_the_public_internet_is_public() {
    for private in [
        "127.0.0.1",
        "0.0.0.0",
        "10.1.2.3",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "100.127.255.255",
        "192.0.0.1",
        "198.18.0.1",
        "224.0.0.1",
        "255.255.255.255",
        "203.0.113.9",
        "::",
        "::1",
        "fe80::1",
        "fc00::1",
        "fd00:ec2::254",
        "ff02::1",
        "fec0::1",
        "::ffff:10.0.0.1",
        "::ffff:169.254.169.254",
        "64:ff9b::a00:1",
        "2002:a00:1::",
        "2001:0:1::",
        "2001:db8::1",
        "::10.0.0.1",
    ] {
        assert!(!is_public_address(private.parse().unwrap()), "{private}");
    }
    for public in [
        "1.1.1.1",
        "172.32.0.1",
        "100.128.0.1",
        "192.169.0.1",
        "2606:4700::1111",
        "::ffff:1.1.1.1",
        "64:ff9b::101:101",
        "2001:4860:4860::8888",
    ] {
        assert!(is_public_address(public.parse().unwrap()), "{public}");
    }
}

/// Finds no name, uses no proxy.
const NOWHERE: UpstreamWays = UpstreamWays {
    look_up: |_, _| Box::pin(async { Err(io::Error::other("no such name")) }),
    is_public: |_| true,
    proxy: |_, _| None,
    private_hosts: Vec::new(),
};

fn state(hosts: &[&str], ways: UpstreamWays) -> Arc<NetworkState> {
    let rules = hosts.iter().map(|host| HostRule::parse(host).unwrap()).collect();
    Arc::new(NetworkState::new(
        NameTable::new(rules, (Vec::new(), Vec::new()), Ipv4Addr::LOCALHOST),
        ways,
        None,
    ))
}

/// A listener for `name` as the stub would make it; and its port.
fn listener(name: &str) -> (NameListener, SocketAddr) {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let at = socket.local_addr().unwrap();
    (NameListener { socket: OwnedFd::from(socket), name: name.into(), port: at.port() }, at)
}

/// A server that answers each connection with what it was sent, in capitals, after the end of what it was sent.
async fn capitals() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let at = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut heard = Vec::new();
                client.read_to_end(&mut heard).await.unwrap();
                client.write_all(&heard.to_ascii_uppercase()).await.unwrap();
            });
        }
    });
    at
}

async fn talk(to: SocketAddr, said: &[u8]) -> io::Result<Vec<u8>> {
    let mut client = TcpStream::connect(to).await?;
    client.write_all(said).await?;
    // Half closed: the answer comes after the question has ended.
    client.shutdown().await?;
    let mut heard = Vec::new();
    client.read_to_end(&mut heard).await?;
    Ok(heard)
}

fn reasons(state: &NetworkState) -> Vec<(NetworkEventKind, String, u64)> {
    let record = state.record.lock().unwrap();
    let one = |event: &NetworkEvent| (event.event, event.reason.clone().unwrap_or_default(), event.count);
    record.events.iter().map(one).collect()
}

static SERVER: std::sync::OnceLock<SocketAddr> = std::sync::OnceLock::new();

#[tokio::test]
async fn a_connection_belongs_to_the_name_of_its_listener_and_may_be_half_closed() {
    SERVER.set(capitals().await).unwrap();
    let look_up: fn(String, u16) -> _ = |name, _| {
        Box::pin(async move {
            assert_eq!(name, "a.example");
            Ok(vec![*SERVER.get().unwrap()])
        }) as futures_util::future::BoxFuture<'static, _>
    };
    let state = state(&[], UpstreamWays { look_up, ..NOWHERE });
    let (listener, at) = listener("a.example");
    relay::serve_all(vec![listener], &state);
    let long = vec![b'x'; 3 << 20];
    assert_eq!(talk(at, b"hello").await.unwrap(), b"HELLO");
    assert_eq!(talk(at, &long).await.unwrap().len(), long.len());
    assert_eq!(reasons(&state), [(NetworkEventKind::Connected, String::new(), 2)]);
}

#[tokio::test]
async fn private_addresses_are_refused_whatever_name_leads_to_them() {
    static PORT: AtomicUsize = AtomicUsize::new(0);
    let forbidden = TcpListener::bind("127.0.0.1:0").await.unwrap();
    PORT.store(forbidden.local_addr().unwrap().port().into(), Ordering::Relaxed);
    let look_up: fn(String, u16) -> _ = |_, _| {
        let port = u16::try_from(PORT.load(Ordering::Relaxed)).unwrap();
        let found = ["127.0.0.1", "10.0.0.1", "169.254.169.254", "198.18.0.2", "::1", "fd00::1"];
        let found = found.map(|at| SocketAddr::new(at.parse().unwrap(), port)).to_vec();
        Box::pin(async move { Ok(found) }) as futures_util::future::BoxFuture<'static, _>
    };
    let state = state(&[], UpstreamWays { look_up, is_public: is_public_address, ..NOWHERE });
    let (listener, at) = listener("rebinds.example");
    relay::serve_all(vec![listener], &state);
    // A reset, which no program takes for an empty answer.
    let error = talk(at, b"hello").await.unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
    let why = "it is in a private network, and `network.private_hosts` does not name it";
    assert_eq!(reasons(&state), [(NetworkEventKind::Failed, why.into(), 1)]);
    let nobody = tokio::time::timeout(std::time::Duration::ZERO, forbidden.accept()).await;
    assert!(nobody.is_err(), "the forbidden server was reached");
}

/// A name that changes its address between the check and the connection: it is looked up once.
#[tokio::test]
async fn exactly_the_address_that_was_checked_is_used() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    static PORTS: [AtomicUsize; 2] = [AtomicUsize::new(0), AtomicUsize::new(0)];
    let [good, bad] = [TcpListener::bind("127.0.0.1:0"), TcpListener::bind("127.0.0.2:0")];
    let (good, bad) = (good.await.unwrap(), bad.await.unwrap());
    for (port, listener) in PORTS.iter().zip([&good, &bad]) {
        port.store(listener.local_addr().unwrap().port().into(), Ordering::Relaxed);
    }
    let look_up: fn(String, u16) -> _ = |_, _| {
        let time = ASKED.fetch_add(1, Ordering::Relaxed);
        // Of the first answer only 127.0.0.1 counts as public; the second answer is the attack.
        let hosts: &[(u8, usize)] = if time == 0 { &[(2, 1), (1, 0)] } else { &[(2, 1)] };
        let port = |number: usize| u16::try_from(PORTS[number].load(Ordering::Relaxed)).unwrap();
        let found = hosts.iter().map(|(host, number)| SocketAddr::from(([127, 0, 0, *host], port(*number))));
        let found: Vec<SocketAddr> = found.collect();
        Box::pin(async move { Ok(found) }) as futures_util::future::BoxFuture<'static, _>
    };
    let is_public: fn(IpAddr) -> bool = |address| address == IpAddr::V4(Ipv4Addr::LOCALHOST);
    let ways = UpstreamWays { look_up, is_public, ..NOWHERE };
    let stream = ways.connect("rebinds.example", 443).await.unwrap();
    assert_eq!(stream.peer_addr().unwrap(), good.local_addr().unwrap());
    assert_eq!(ways.connect("rebinds.example", 443).await.unwrap_err().to_string().split(',').count(), 2);
    assert_eq!(ASKED.load(Ordering::Relaxed), 2);
    assert!(tokio::time::timeout(std::time::Duration::ZERO, bad.accept()).await.is_err());
}

/// Each address that a name may have, and whether a command that is allowed this host may connect there.
#[test]
fn a_private_host_may_be_in_a_private_network_and_nowhere_else_that_is_not_public() {
    let private_hosts = vec!["npm.corp:4873".into()];
    let ways = UpstreamWays { is_public: is_public_address, private_hosts, ..NOWHERE };
    for (address, port, is_open) in [
        ("10.1.2.3", 4873, true),
        ("192.168.7.7", 4873, true),
        ("fd00::7", 4873, true),
        ("198.18.9.9", 4873, true),
        ("9.9.9.9", 80, true),
        ("10.1.2.3", 80, false),
        ("127.0.0.1", 4873, false),
        ("127.9.9.9", 4873, false),
        ("::1", 4873, false),
        ("::ffff:127.0.0.1", 4873, false),
        ("0.0.0.0", 4873, false),
        ("169.254.169.254", 4873, false),
        ("fe80::1", 4873, false),
        ("224.0.0.1", 4873, false),
    ] {
        assert_eq!(
            ways.may_use("npm.corp", SocketAddr::new(address.parse().unwrap(), port)),
            is_open,
            "{address}:{port}"
        );
    }
    assert!(!ways.may_use("other.corp", "10.1.2.3:4873".parse().unwrap()));
}

/// The message of a resolver for `name` and the type `kind`.
fn question(name: &str, kind: u8) -> Vec<u8> {
    let mut message = vec![0, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
    for label in name.split('.') {
        message.push(u8::try_from(label.len()).unwrap());
        message.extend_from_slice(label.as_bytes());
    }
    message.extend_from_slice(&[0, 0, kind, 0, 1]);
    message
}

#[test]
fn refused_names_do_not_exist_and_are_counted() {
    let state = state(&["a.example"], NOWHERE);
    let code = |name: &str, kind: u8| state.reply(&question(name, kind), None).0.unwrap()[3] & 15;
    for _ in 0..3 {
        assert_eq!((code("Pkg.Example.org", 1), code("pkg.example.org", 28)), (3, 3));
    }
    // Names that are only on the way to others are not counted.
    assert_eq!((code("build-host", 1), code("1.0.0.127.in-addr.arpa", 12), code("a.local", 28)), (3, 3, 3));
    // This machine is known, and the root exists.
    let own = state.reply(&question("x.localhost", 1), None).0.unwrap();
    assert_eq!((own[3] & 15, &own[own.len() - 4..]), (0, &[127, 0, 0, 1][..]));
    assert_eq!(code("localhost", 28), 0);
    let record = state.record.lock().unwrap().clone();
    let [event] = record.events.as_slice() else { panic!("{record:?}") };
    assert_eq!((event.name.as_str(), event.count), ("pkg.example.org", 3));
}

#[tokio::test]
async fn a_client_gets_the_events_so_far_and_the_next_ones_and_allows_an_entry() {
    let dir = tempfile::tempdir().unwrap();
    // Longer than the path of a socket may be.
    let dir = dir.path().join("d".repeat(150));
    std::fs::create_dir(&dir).unwrap();
    let path = dir.join("network");
    let state = state(&[], NOWHERE);
    state.reply(&question("pkg.example.org", 1), None);
    let listener = UnixListener::from_std(control_server::listen(&path).unwrap()).unwrap();
    tokio::spawn(control_server::serve(listener, Arc::clone(&state)));
    let client = tokio::task::spawn_blocking(move || {
        let mut control = NetworkControl::connect(&path).unwrap();
        let until = |control: &mut NetworkControl, kind: NetworkEventKind, count: u64| {
            while !control.record().of(kind).any(|event| event.count == count) {
                control.events().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        };
        until(&mut control, NetworkEventKind::Refused, 1);
        control.allow(&HostRule::parse("pkg.example.org:8443").unwrap()).unwrap();
        until(&mut control, NetworkEventKind::Allowed, 1);
        // What is not a command ends the connection, and only this one.
        let (_dir, short) = short_path(&path).unwrap();
        let mut other = std::os::unix::net::UnixStream::connect(short).unwrap();
        other.write_all(b"{\"deny\":\"x\"}\n").unwrap();
        let mut rest = String::new();
        other.read_to_string(&mut rest).unwrap();
        assert!(rest.lines().count() <= 2, "{rest}");
        control.events().unwrap();
    });
    client.await.unwrap();
    // The name is allowed now; these tests have no sockets for it.
    state.reply(&question("pkg.example.org", 1), None);
    assert_eq!(reasons(&state)[2], (NetworkEventKind::UsedUp, String::new(), 1));
}
