//! Servers and proxies on loopback that do one thing each: keep a connection, speak TLS, tunnel, speak SOCKS.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What a proxy was asked for, in order.
pub type Log = Arc<Mutex<Vec<String>>>;

/// A server that answers every request with the same event stream and keeps the connection.
pub struct Keeping {
    address: SocketAddr,
    counts: Arc<(AtomicUsize, AtomicUsize)>,
}

impl Keeping {
    pub fn start(body: String) -> Keeping {
        let counts: Arc<(AtomicUsize, AtomicUsize)> = Arc::default();
        let counted = Arc::clone(&counts);
        let address = listen(move |stream| {
            counted.0.fetch_add(1, Ordering::SeqCst);
            let mut reader = BufReader::new(stream);
            while read_request(&mut reader).is_some() {
                counted.1.fetch_add(1, Ordering::SeqCst);
                if reader.get_mut().write_all(&answer(&body)).is_err() {
                    return;
                }
            }
        });
        Keeping { address, counts }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn connections(&self) -> usize {
        self.counts.0.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> usize {
        self.counts.1.load(Ordering::SeqCst)
    }
}

/// A server for `model.test` with a certificate that only `tests/fixtures/tls/ca.pem` vouches for.
pub fn tls_server(body: String) -> SocketAddr {
    placet::http::install_tls();
    let file = |name: &str| {
        let path = format!("{}/tests/fixtures/tls/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(path).unwrap()
    };
    use rustls::pki_types::pem::PemObject;
    use rustls::pki_types::{CertificateDer, PrivateKeyDer};
    let chain = vec![CertificateDer::from_pem_slice(&file("leaf.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(&file("leaf.key")).unwrap();
    let config = rustls::ServerConfig::builder().with_no_client_auth().with_single_cert(chain, key).unwrap();
    let config = Arc::new(config);
    listen(move |stream| {
        let session = rustls::ServerConnection::new(Arc::clone(&config)).unwrap();
        let mut reader = BufReader::new(rustls::StreamOwned::new(session, stream));
        if read_request(&mut reader).is_some() {
            let _ = reader.get_mut().write_all(&answer(&body));
            let _ = reader.get_mut().flush();
        }
    })
}

/// An HTTP proxy that tunnels everything to `target`, for whoever knows `password` (as `user:password`).
pub fn connect_proxy(password: &str, target: SocketAddr) -> (SocketAddr, Log) {
    use base64::Engine;
    let wanted = format!("basic {}", base64::engine::general_purpose::STANDARD.encode(password));
    let log = Log::default();
    let noted = Arc::clone(&log);
    let address = listen(move |stream| {
        let mut reader = BufReader::new(stream);
        let Some((first, headers)) = read_request(&mut reader) else { return };
        let allowed = headers.iter().any(|line| {
            line.strip_prefix("proxy-authorization: ")
                .is_some_and(|given| given.eq_ignore_ascii_case(&wanted))
        });
        if !allowed {
            let _ = reader.get_mut().write_all(b"HTTP/1.1 407 no\r\ncontent-length: 0\r\n\r\n");
            return;
        }
        noted.lock().unwrap().push(first.split(" HTTP/").next().unwrap_or_default().to_string());
        let mut stream = reader.into_inner();
        let _ = stream.write_all(b"HTTP/1.1 200 ok\r\n\r\n");
        join(stream, TcpStream::connect(target).unwrap());
    });
    (address, log)
}

/// A SOCKS5 proxy that sends everything to `target`.
pub fn socks_proxy(target: &str) -> (SocketAddr, Log) {
    let target = target.to_string();
    let log = Log::default();
    let noted = Arc::clone(&log);
    let address = listen(move |mut stream| {
        let mut take = |n: usize| {
            let mut bytes = vec![0; n];
            stream.read_exact(&mut bytes).unwrap();
            bytes
        };
        let methods = take(2)[1];
        take(usize::from(methods));
        stream.write_all(&[5, 0]).unwrap();
        let mut take = |n: usize| {
            let mut bytes = vec![0; n];
            stream.read_exact(&mut bytes).unwrap();
            bytes
        };
        // Version, command, reserved, and 3 for a name.
        assert_eq!(take(4)[3], 3, "the name is the proxy's to resolve");
        let length = take(1)[0];
        let name = String::from_utf8(take(usize::from(length))).unwrap();
        let port = take(2);
        noted.lock().unwrap().push(format!("{name}:{}", u16::from_be_bytes([port[0], port[1]])));
        stream.write_all(&[5, 0, 0, 1, 0, 0, 0, 0, 0, 0]).unwrap();
        join(stream, TcpStream::connect(&target).unwrap());
    });
    (address, log)
}

/// An address where a connection neither comes about nor is refused, for as long as what fills its queue is kept.
pub fn black_hole() -> (SocketAddr, (rustix::fd::OwnedFd, Vec<TcpStream>)) {
    use rustix::net::{AddressFamily, SocketType, bind, listen, socket};
    let listener = socket(AddressFamily::INET, SocketType::STREAM, None).unwrap();
    bind(&listener, &SocketAddr::from(([127, 0, 0, 1], 0))).unwrap();
    listen(&listener, 0).unwrap();
    let listener = TcpListener::from(listener);
    let address = listener.local_addr().unwrap();
    let wait = std::time::Duration::from_millis(100);
    let queued = std::iter::from_fn(|| TcpStream::connect_timeout(&address, wait).ok()).take(64).collect();
    assert!(TcpStream::connect_timeout(&address, wait).is_err(), "the queue is full");
    (address, (listener.into(), queued))
}

fn listen(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let serve = Arc::new(serve);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = Arc::clone(&serve);
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

/// The first line and the headers, in lower case but for their values; the body is read and forgotten.
fn read_request(reader: &mut impl BufRead) -> Option<(String, Vec<String>)> {
    let mut line = || {
        let mut text = String::new();
        match reader.read_line(&mut text) {
            Ok(n) if n > 0 => Some(text.trim_end().to_string()),
            _ => None,
        }
    };
    let first = line()?;
    let mut headers = Vec::new();
    loop {
        let text = line()?;
        if text.is_empty() {
            break;
        }
        let (name, value) = text.split_once(": ").unwrap_or((&text, ""));
        headers.push(format!("{}: {value}", name.to_ascii_lowercase()));
    }
    let length = headers.iter().find_map(|h| h.strip_prefix("content-length: ")?.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((first, headers))
}

fn answer(body: &str) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 ok\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    (head + body).into_bytes()
}

fn join(one: TcpStream, other: TcpStream) {
    let (mut from, mut to) = (one.try_clone().unwrap(), other.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut from, &mut to);
        let _ = to.shutdown(std::net::Shutdown::Write);
    });
    let (mut from, mut to) = (other, one);
    let _ = std::io::copy(&mut from, &mut to);
    // The other thread has these connections, too, and may wait for the client, which waits for this end.
    let _ = to.shutdown(std::net::Shutdown::Write);
}
