//! The network by name: what is allowed is reached without proxy variables, and nothing else is.
//!
//! The tests use loopback only. A name leads to a server here through the proxy of the host's environment, which is a
//! proxy of the test: it notes each name that placet asks it for, and connects to the test's server.

use crate::support::den::Den;
use crate::support::network::{Log, connect_proxy, socks_proxy};
use crate::support::program::placet;
use crate::support::wait;
use placet::sandbox::{
    HostRule, MOST_SHARED_NAMES, NameService, NetworkControl, NetworkEventKind, NetworkRecord,
    SandboxNetwork, SandboxSpec,
};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use std::time::Instant;

macro_rules! needs {
    ($($program:literal),*) => {
        if !$crate::support::require::has_view() $(|| !$crate::support::require::require($program))* {
            return;
        }
    };
}
pub(super) use needs;

/// Without any host: each name that was asked for is recorded, also in the network of another command, and nobody can
/// answer in its place.
#[test]
fn a_command_without_hosts_records_the_names_that_it_asked_for() {
    needs!("python3");
    let network = Connected::to(capitals(), &[]);
    let ask = "import socket\nfor name in ['a.example', 'b.example', 'a.example']:\n  try: socket.getaddrinfo(name, 443)\n  except socket.gaierror as e: print(e.errno)\n";
    let names = |seen: &Seen| -> Vec<String> {
        seen.record.of(NetworkEventKind::Refused).map(|event| event.name.clone()).collect()
    };
    let seen = network.python(ask);
    assert_eq!(
        (seen.text.as_str(), names(&seen)),
        ("-2\n-2\n-2\n", vec!["a.example".into(), "b.example".into()])
    );
    // A command that runs on answers on every port that it can take; the later one asks placet all the same.
    let spec = network.den.again(&network.spec);
    let liar = "exec python3 -c \"import socket, time\nfor a in ['127.0.0.2', '0.0.0.0']:\n  try: s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind((a, 53))\n  except OSError as e: print(a, e.errno, flush=True)\ntime.sleep(60)\"";
    let (mut first, line) = network.start(&spec, liar);
    let mut refused = String::new();
    let mut output = std::io::BufReader::new(first.stdout.take().unwrap());
    for _ in 0..2 {
        std::io::BufRead::read_line(&mut output, &mut refused).unwrap();
    }
    assert_eq!(refused, "127.0.0.2 13\n0.0.0.0 13\n");
    let beside = SandboxSpec { beside: Some(first.id()), ..network.den.again(&network.spec) };
    std::fs::write(network.den.root.join("program.py"), ask).unwrap();
    let seen = Connected::end(network.start(&beside, "cat /etc/resolv.conf; exec python3 program.py"));
    assert!(seen.text.starts_with("nameserver 127.") && seen.text.contains("-2\n-2\n-2\n"), "{}", seen.text);
    assert_eq!(names(&seen), ["a.example", "b.example"]);
    drop(line);
    first.wait().unwrap();
}

/// A server that answers what it was sent, after its end, in capitals.
fn capitals() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut heard = Vec::new();
                let _ = stream.read_to_end(&mut heard);
                let _ = stream.write_all(&heard.to_ascii_uppercase());
            });
        }
    });
    at
}

/// A command with a network by name, and the proxy that leads its connections to one server.
pub(super) struct Connected {
    pub(super) den: Den,
    pub(super) spec: SandboxSpec,
    pub(super) proxy: String,
    pub(super) log: Log,
}

/// What a command printed, and what its network recorded.
pub(super) struct Seen {
    pub(super) text: String,
    pub(super) record: NetworkRecord,
    pub(super) exit: String,
}

impl Connected {
    pub(super) fn to(server: SocketAddr, hosts: &[&str]) -> Connected {
        let (proxy, log) = connect_proxy("user:p@ss", server);
        let den = Den::new();
        let hosts = hosts.iter().map(ToString::to_string).collect();
        let spec = SandboxSpec { network: SandboxNetwork::Hosts(hosts), ..den.spec() };
        Connected { den, spec, proxy: format!("http://user:p%40ss@{proxy}"), log }
    }

    pub(super) fn start(&self, spec: &SandboxSpec, line: &str) -> (Child, UnixStream) {
        let words = self.den.base.join(format!("words-{}", line.len()));
        std::fs::write(&words, spec.to_words()).unwrap();
        let (mine, theirs) = UnixStream::pair().unwrap();
        let child = Command::new(placet())
            .args(["__run", "--sandbox", words.to_str().unwrap(), "--", line])
            .env_remove("NO_PROXY")
            .env_remove("no_proxy")
            .env("HTTP_PROXY", &self.proxy)
            .env("HTTPS_PROXY", &self.proxy)
            .env("all_proxy", "socks5h://127.0.0.1:1")
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        (child, mine)
    }

    pub(super) fn end((child, mut line): (Child, UnixStream)) -> Seen {
        let out = child.wait_with_output().unwrap();
        let mut said = String::new();
        line.read_to_string(&mut said).unwrap();
        let (exit, record) = said.split_once('\n').unwrap_or((&said, ""));
        let text =
            [out.stdout, out.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        Seen { text, record: NetworkRecord::from_words(record).unwrap_or_default(), exit: exit.into() }
    }

    pub(super) fn run(&self, line: &str) -> Seen {
        Connected::end(self.start(&self.den.again(&self.spec), line))
    }

    /// Runs a Python program.
    pub(super) fn python(&self, program: &str) -> Seen {
        std::fs::write(self.den.root.join("program.py"), program).unwrap();
        self.run("exec python3 program.py")
    }

    pub(super) fn asked(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }
}

impl Seen {
    #[track_caller]
    pub(super) fn done(self) -> (String, NetworkRecord) {
        assert_eq!(self.exit, "exit 0", "{}", self.text);
        (self.text, self.record)
    }

    pub(super) fn counts(record: &NetworkRecord, kind: NetworkEventKind) -> Vec<(String, u64)> {
        record.of(kind).map(|event| (event.name.clone(), event.count)).collect()
    }
}

/// `talk(name, port, bytes)` connects, sends, ends its own side, and returns the answer.
pub(super) const TALK: &str = "import os, socket, ssl, struct, sys, threading, time\n\
def talk(name, port, data=b'hello'):\n    s = socket.create_connection((name, port), 10)\n    s.sendall(data)\n    \
s.shutdown(socket.SHUT_WR)\n    got = b''\n    while True:\n        part = s.recv(65536)\n        if not part:\n            \
return got\n        got += part\n\
def refused(name, port):\n    try:\n        socket.create_connection((name, port), 5)\n    except OSError as e:\n        \
return type(e).__name__ + ' ' + str(e)\n    return 'REACHED'\n";

#[test]
fn an_allowed_name_is_reached_without_proxy_variables_and_another_name_does_not_exist() {
    needs!("python3", "getent");
    let network = Connected::to(capitals(), &["a.example", "b.example:8443"]);
    let program = format!(
        "{TALK}print(talk('a.example', 443), talk('A.Example.', 80), talk('b.example', 8443))\n\
         print(refused('a.example', 8443), '|', refused('b.example', 443), '|', refused('pkg.example.org', 443))\n\
         print([name for name in os.environ if 'proxy' in name.lower()])\n\
         print(open('/etc/resolv.conf').read().splitlines()[0])\n\
         print([line.split()[:2] for line in open('/etc/hosts')], socket.gethostbyname('localhost'))\n\
         print(socket.getaddrinfo('a.example', 443, type=socket.SOCK_STREAM))"
    );
    let (text, record) = network.python(&program).done();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "b'HELLO' b'HELLO' b'HELLO'");
    let [other_port, usual_port, other_name] = lines[1].split('|').collect::<Vec<_>>()[..] else { panic!() };
    assert!(other_port.contains("Connection refused") && usual_port.contains("Connection refused"), "{text}");
    assert!(other_name.contains("gaierror") && other_name.contains("not known"), "{text}");
    assert_eq!(lines[2..4], ["[]", "nameserver 127.0.0.1"]);
    // What the host's file has would be asked for before the stub, and cannot be reached.
    assert_eq!(lines[4], "[['127.0.0.1', 'localhost'], ['::1', 'ip6-localhost']] 127.0.0.1");
    assert!(lines.last().unwrap().contains("('198.18.0."), "{text}");
    let mut asked = network.asked();
    asked.sort();
    assert_eq!(asked, ["CONNECT a.example:443", "CONNECT a.example:80", "CONNECT b.example:8443"]);
    // glibc asks again on a machine whose name has a domain.
    let refused = Seen::counts(&record, NetworkEventKind::Refused);
    assert!(matches!(refused.as_slice(), [(name, 1 | 2)] if name == "pkg.example.org"), "{refused:?}");
    let program = record.of(NetworkEventKind::Refused).next().and_then(|event| event.program.clone());
    assert!(program.is_some_and(|name| name.starts_with("python")), "{record:?}");
    assert_eq!(Seen::counts(&record, NetworkEventKind::Connected).len(), 3);
    let looked = network.run("getent ahostsv4 a.example; getent hosts nothing.example; echo $?");
    assert!(looked.text.starts_with("198.18.0.") && looked.text.ends_with("2\n"), "{}", looked.text);
}

/// A server that accepts an upgrade to WebSocket, sends a frame, and answers one masked frame with its text.
fn web_socket() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let Ok((mut stream, _)) = listener.accept() else { return };
        let mut request = Vec::new();
        while !request.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            request.extend(byte);
        }
        assert!(String::from_utf8_lossy(&request).contains("Upgrade: websocket\r\n"));
        let answer = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                      Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        stream.write_all(answer.as_bytes()).unwrap();
        stream.write_all(b"\x81\x05first").unwrap();
        let mut head = [0; 6];
        stream.read_exact(&mut head).unwrap();
        let mut text = vec![0; usize::from(head[1] & 0x7f)];
        stream.read_exact(&mut text).unwrap();
        text.iter_mut().zip(head[2..].iter().cycle()).for_each(|(byte, mask)| *byte ^= mask);
        stream.write_all(&[&[0x81, head[1] & 0x7f], text.as_slice()].concat()).unwrap();
    });
    at
}

#[test]
fn a_web_socket_to_an_allowed_name_carries_frames_in_both_directions() {
    needs!("python3");
    let network = Connected::to(web_socket(), &["a.example:80"]);
    let program = format!(
        "{TALK}s = socket.create_connection(('a.example', 80), 10)\n\
         s.sendall(b'GET /chat HTTP/1.1\\r\\nHost: a.example\\r\\nUpgrade: websocket\\r\\nConnection: Upgrade\\r\\n'\n\
         \x20   b'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\\r\\nSec-WebSocket-Version: 13\\r\\n\\r\\n')\n\
         f = s.makefile('rb')\n\
         print(f.readline())\n\
         while f.readline().strip(): pass\n\
         print(f.read(7))\n\
         s.sendall(b'\\x81\\x84abcd' + bytes(x ^ y for x, y in zip(b'ping', b'abcd')))\n\
         print(f.read(6))\n\
         print(f.read())"
    );
    let (text, record) = network.python(&program).done();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], r"b'HTTP/1.1 101 Switching Protocols\r\n'");
    assert_eq!(lines[1..], [r"b'\x81\x05first'", r"b'\x81\x04ping'", "b''"]);
    assert_eq!(network.asked(), ["CONNECT a.example:80"]);
    assert_eq!(Seen::counts(&record, NetworkEventKind::Connected).len(), 1);
}

#[test]
fn a_quic_packet_to_an_allowed_name_is_refused_at_once_and_nothing_arrives() {
    needs!("python3");
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let udp = UdpSocket::bind(tcp.local_addr().unwrap()).unwrap();
    let network = Connected::to(tcp.local_addr().unwrap(), &["a.example"]);
    // The first packet of a client: a long header, version 1, two ids, padded to what the protocol asks for.
    let program = format!(
        "{TALK}packet = b'\\xc3\\0\\0\\0\\x01\\x08' + os.urandom(8) + b'\\0\\0\\x44\\x9e'\n\
         packet += os.urandom(1200 - len(packet))\n\
         started = time.monotonic()\n\
         for connects in (True, False):\n\
         \x20   u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n\
         \x20   u.settimeout(2)\n\
         \x20   at = (socket.gethostbyname('a.example'), 443)\n\
         \x20   try:\n\
         \x20       u.connect(at) if connects else None\n\
         \x20       u.send(packet) if connects else u.sendto(packet, at)\n\
         \x20       print('REACHED', u.recv(1500))\n\
         \x20   except OSError as e:\n\
         \x20       print(type(e).__name__)\n\
         print(connects, time.monotonic() - started < 8)"
    );
    let (text, _) = network.python(&program).done();
    let lines: Vec<&str> = text.lines().collect();
    // A socket that is not connected hears nothing of the refusal.
    assert_eq!(lines, ["ConnectionRefusedError", "TimeoutError", "False True"], "{text}");
    assert_eq!(network.asked(), Vec::<String>::new());
    udp.set_nonblocking(true).unwrap();
    assert!(udp.recv(&mut [0; 9]).is_err(), "a packet arrived");
    tcp.set_nonblocking(true).unwrap();
    assert!(tcp.accept().is_err(), "a connection arrived");
}

/// Everything that a program could try in order to reach something else; a server on each path sees nothing.
#[test]
fn nothing_but_the_allowed_host_and_port_is_reached() {
    needs!("python3");
    let network = Connected::to(capitals(), &["a.example", "*.wild.example"]);
    let forbidden = TcpListener::bind("127.0.0.1:0").unwrap();
    let six = TcpListener::bind("[::1]:0").ok();
    let everywhere = TcpListener::bind("0.0.0.0:0").unwrap();
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = |listener: &TcpListener| listener.local_addr().unwrap().port();
    let (own, any) = (port(&forbidden), port(&everywhere));
    let own_six = six.as_ref().map_or(1, port);
    let udp_port = udp.local_addr().unwrap().port();
    // The machine's own address outside of loopback, if it has one; no packet is sent to find it.
    let outside = UdpSocket::bind("0.0.0.0:0").unwrap();
    let machine = outside.connect("192.0.2.1:9").and_then(|()| outside.local_addr());
    let machine = machine.map_or("192.0.2.1".into(), |at| at.ip().to_string());
    let proxy = network.proxy.rsplit(':').next().unwrap().to_string();
    let program = format!(
        r#"{TALK}
for name, port in [('127.0.0.1', {own}), ('::1', {own_six}), ('::ffff:127.0.0.1', {own}), ('127.0.0.1', {proxy}),
                   ('{machine}', {any}), ('192.0.2.1', 443), ('1.1.1.1', 443), ('169.254.169.254', 80),
                   ('2606:4700::1111', 443), ('198.18.0.77', 443), ('198.19.255.254', 443), ('198.18.0.1', 443)]:
    print('raw', name, refused(name, port))
talk('a.example', 443)
at = socket.gethostbyname('a.example')
print('other port', refused(at, {own}), refused(at, 22))
print('above', refused('example', 443), refused('x.a.example', 443), refused('a.example.evil.example', 443))
print('apex', refused('wild.example', 443))
for number in ('1.1.1.1', '127.0.0.1.nip.example', '0x7f000001', '2130706433', 'localhost.evil.example'):
    print('name', number, refused(number, {own}))
# What is said inside a connection does not change where it goes.
print('connect', talk('a.example', 80, b'connect evil.example:443 http/1.1\r\nhost: evil.example\r\n\r\n'))
print('get', talk('a.example', 80, b'get http://127.0.0.1:{own}/ http/1.1\r\nhost: 127.0.0.1\r\n\r\n')[:20])
print('socks', talk('a.example', 80, b'\x05\x01\x00'))
context = ssl.create_default_context()
try:
    context.wrap_socket(socket.create_connection(('a.example', 443), 10), server_hostname='evil.example').do_handshake()
except (ssl.SSLError, OSError) as e:
    print('sni', type(e).__name__)
# UDP, other than questions to the stub.
for host, to in [('127.0.0.1', {udp_port}), (at, 443), ('8.8.8.8', 53), ('{machine}', {udp_port})]:
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.settimeout(0.3)
    try:
        u.connect((host, to)); u.send(b'x'); u.recv(9); print('udp REACHED')
    except OSError as e:
        print('udp', type(e).__name__)
# A server that poses as the stub.
for kind in (socket.SOCK_DGRAM, socket.SOCK_STREAM):
    for where in ('127.0.0.1', '0.0.0.0', '127.0.0.53'):
        s = socket.socket(socket.AF_INET, kind)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        try:
            s.bind((where, 53)); print('stub TAKEN')
        except OSError as e:
            print('stub', e.strerror)
# The network itself.
try:
    n = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    n.send(struct.pack('=IHHIIBBBBI', 24, 20, 0x605, 1, 0, 2, 32, 0, 0, 1)); print('netlink', struct.unpack('=i', n.recv(99)[16:20])[0])
except OSError as e:
    print('netlink', e.strerror)
for path in ('/etc/resolv.conf', '/proc/sys/net/ipv4/ip_unprivileged_port_start', '/proc/sys/net/ipv4/ip_forward'):
    try:
        open(path, 'w').write('1'); print('file WRITTEN', path)
    except OSError as e:
        print('file', e.strerror)
"#
    );
    let (text, record) = network.python(&program).done();
    for wrong in ["REACHED", "TAKEN", "WRITTEN", "netlink 0"] {
        assert!(!text.contains(wrong), "{wrong}: {text}");
    }
    assert!(text.contains("connect b'CONNECT EVIL.EXAMPLE:443"), "{text}");
    assert!(
        text.contains("raw 1.1.1.1 OSError [Errno 101]")
            && text.contains("raw 198.18.0.77 ConnectionRefused")
    );
    assert!(text.contains("raw 2606:4700::1111 OSError [Errno 101]"), "{text}");
    for asked in network.asked() {
        assert!(asked == "CONNECT a.example:443" || asked == "CONNECT a.example:80", "{asked}");
    }
    for listener in [Some(forbidden), six, Some(everywhere)].into_iter().flatten() {
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "a forbidden server was reached");
    }
    udp.set_nonblocking(true).unwrap();
    assert!(udp.recv(&mut [0; 9]).is_err(), "a forbidden server was sent something");
    let refused = Seen::counts(&record, NetworkEventKind::Refused);
    for name in ["x.a.example", "a.example.evil.example", "wild.example", "localhost.evil.example"] {
        assert!(refused.iter().any(|(known, _)| known == name), "{name}: {refused:?}");
    }
}

/// A resolver by hand: asks for A records over one socket.
const ASK: &str = r"
def ask(name, kind=1, over=None):
    u = over or socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.settimeout(10)
    labels = b''.join(bytes([len(l)]) + l.encode() for l in name.split('.')) + b'\0'
    u.sendto(struct.pack('!HHHHHH', 7, 0x100, 1, 0, 0, 0) + labels + struct.pack('!HH', kind, 1), ('127.0.0.1', 53))
    a = u.recv(4096)
    return (a[3] & 15, '.'.join(map(str, a[-4:])) if a[7] else None)
";

#[test]
fn ten_thousand_names_use_bounded_room_and_the_first_of_them_work() {
    needs!("python3");
    let network = Connected::to(capitals(), &["*.wild.example", "own.example"]);
    let program = format!(
        r#"{TALK}{ASK}
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
found = [ask(f'{{n}}.wild.example', over=u) for n in range(10000)]
print(sum(1 for code, at in found if code == 0), sum(1 for code, at in found if code == 3))
print(len({{at for code, at in found if at}}), [code for code, at in found[:{MOST_SHARED_NAMES}]].count(0))
for n in range(10000): ask(f'{{n}}.refused.example', over=u)
print(all(talk(f'{{n}}.wild.example', 443) == b'HELLO' for n in range({MOST_SHARED_NAMES})))
print(talk('own.example', 443), ask('own.example', 28), ask('own.example', 65), ask('refused.example', 65))
"#
    );
    let started = Instant::now();
    let running = network.start(&network.den.again(&network.spec), "true");
    Connected::end(running).done();
    let before = started.elapsed();
    let (text, record) = network.python(&program).done();
    let lines: Vec<&str> = text.lines().collect();
    let rest = 10_000 - MOST_SHARED_NAMES;
    assert_eq!(lines[0], format!("{MOST_SHARED_NAMES} {rest}"), "{text}");
    assert_eq!(lines[1], format!("{MOST_SHARED_NAMES} {MOST_SHARED_NAMES}"));
    assert_eq!(lines[2..4], ["True", "b'HELLO' (0, None) (0, None) (3, None)"]);
    let count = |kind| record.of(kind).count();
    assert!(count(NetworkEventKind::UsedUp) > 0 && count(NetworkEventKind::UsedUp) <= 256, "{before:?}");
    assert!(count(NetworkEventKind::Refused) <= 256 && record.left_out > 9_000);
}

#[test]
fn many_connections_at_once_and_long_ones_work() {
    needs!("python3");
    let network = Connected::to(capitals(), &["a.example"]);
    let program = format!(
        r"{TALK}
held = [socket.create_connection(('a.example', 443), 20) for n in range(300)]
for n, s in enumerate(held): s.sendall(b'one %d' % n)
time.sleep(0.5)
for s in held: s.sendall(b' two')
for s in held: s.shutdown(socket.SHUT_WR)
def rest(s):
    got = b''
    while (part := s.recv(999)): got += part
    return got
print(all(rest(s) == b'ONE %d TWO' % n for n, s in enumerate(held)))
data = b'x' * 20_000_000
print(talk('a.example', 443, data) == data.upper())
"
    );
    let (text, record) = network.python(&program).done();
    assert_eq!(text, "True\nTrue\n");
    assert_eq!(Seen::counts(&record, NetworkEventKind::Connected), [("a.example".to_string(), 301)]);
}

#[test]
fn a_port_of_this_machine_is_reached_only_by_its_name() {
    needs!("python3");
    let (server, other) = (capitals(), TcpListener::bind("127.0.0.1:0").unwrap());
    let (port, other_port) = (server.port(), other.local_addr().unwrap().port());
    let network = Connected::to(server, &[&format!("localhost:{port}"), "*"]);
    let program = format!("{TALK}print(talk('localhost', {port}), refused('localhost', {other_port}))");
    let (text, _) = network.python(&program).done();
    assert!(text.starts_with("b'HELLO' ConnectionRefusedError"), "{text}");
    assert_eq!(network.asked(), [""; 0], "not through the proxy");
    // A wildcard does not mean this machine.
    let wild = Connected::to(server, &["*"]);
    let (text, _) = wild.python(&format!("{TALK}print(refused('localhost', {port}))")).done();
    assert!(text.starts_with("ConnectionRefusedError"), "{text}");
    other.set_nonblocking(true).unwrap();
    assert!(other.accept().is_err());
}

#[test]
fn a_proxy_that_refuses_is_a_reset_with_its_reason_in_the_record() {
    needs!("python3");
    let mut network = Connected::to(capitals(), &["a.example"]);
    network.proxy = network.proxy.replace("p%40ss", "wrong");
    // It only reads: a program that sends or shuts down after the reset sees EPIPE or ENOTCONN.
    let ask = format!(
        "{TALK}\ntry:\n    socket.create_connection(('a.example', 443), 10).recv(1)\n\
         except OSError as e:\n    print(type(e).__name__)"
    );
    let (text, record) = network.python(&ask).done();
    assert_eq!(text, "ConnectionResetError\n");
    let [event] = record.of(NetworkEventKind::Failed).collect::<Vec<_>>()[..] else { panic!("{record:?}") };
    let at = network.proxy.rsplit('@').next().unwrap();
    let why = format!(
        "the proxy {at} refused the connection: it requires a name and a password that it accepts (HTTP 407)"
    );
    assert_eq!((event.port, event.reason.as_deref()), (Some(443), Some(why.as_str())));
    network.proxy = "http://127.0.0.1:9".into();
    let (_, record) = network.python(&ask).done();
    let reason = record.of(NetworkEventKind::Failed).next().and_then(|event| event.reason.clone()).unwrap();
    assert!(reason.starts_with("the proxy 127.0.0.1:9 cannot be reached: "), "{reason}");
    let (socks, log) = socks_proxy(&capitals().to_string());
    network.proxy = format!("socks5h://{socks}");
    let (text, _) = network.python(&format!("{TALK}print(talk('a.example', 443))")).done();
    assert_eq!(
        (text.as_str(), log.lock().unwrap().as_slice()),
        ("b'HELLO'\n", &["a.example:443".to_string()][..])
    );
}

#[test]
fn a_host_is_allowed_while_the_command_runs_and_the_command_cannot_do_it() {
    needs!("python3");
    let network = Connected::to(capitals(), &[]);
    let dir = network.den.base.join("control");
    std::fs::create_dir(&dir).unwrap();
    let path = dir.join("network");
    let spec = SandboxSpec {
        names: NameService { control: Some(path.clone()), ..NameService::default() },
        ..network.den.again(&network.spec)
    };
    let program = format!(
        "{TALK}\ndef tried():\n    try:\n        return talk('late.example', 443)\n    except OSError:\n        return None\n\
         try:\n    print(os.listdir({0:?}))\nexcept OSError as e:\n    print(e.strerror)\n\
         s = socket.socket(socket.AF_UNIX)\nprint(s.connect_ex({1:?}) != 0)\n\
         print(tried(), flush=True)\nwhile not (got := tried()): time.sleep(0.02)\nprint(got, refused('late.example', 80))\n\
         while refused('late.example', 8080) != 'REACHED': time.sleep(0.02)\n",
        dir, path
    );
    std::fs::write(network.den.root.join("program.py"), program).unwrap();
    let running = network.start(&spec, "exec python3 program.py");
    // The socket has its name a moment before it listens.
    let mut control = wait::until_some("the socket", || NetworkControl::connect(&path).ok());
    let refused = |control: &NetworkControl| control.record().of(NetworkEventKind::Refused).next().cloned();
    wait::until("the refusal", || control.events().is_ok() && refused(&control).is_some());
    assert_eq!(refused(&control).unwrap().name, "late.example");
    control.allow(&HostRule::parse("late.example:443").unwrap()).unwrap();
    let connected = |control: &NetworkControl| control.record().of(NetworkEventKind::Connected).count();
    wait::until("the connection", || control.events().is_ok() && connected(&control) == 1);
    // The program has the address already, and another port of it is opened.
    control.allow(&HostRule::parse("*.example:8080").unwrap()).unwrap();
    let seen = Connected::end(running);
    let (text, record) = seen.done();
    let lines: Vec<&str> = text.lines().collect();
    let hidden = ["[]", "Permission denied", "No such file or directory"];
    assert!(hidden.contains(&lines[0]), "{text}");
    assert_eq!(lines[1..3], ["True", "None"]);
    assert!(lines[3].starts_with("b'HELLO' ConnectionRefusedError"), "{text}");
    let allowed = Seen::counts(&record, NetworkEventKind::Allowed);
    assert_eq!(allowed, [("late.example:443".to_string(), 1), ("*.example:8080".to_string(), 1)]);
    assert!(control.events().is_ok() || control.events().is_err());
}
