//! fetch_url against a server of the test's own: redirects, bombs, slow bodies, types, and the question about a host.

use crate::support::binary::Place;
use crate::support::tool_bench::{Bench, Person};
use crate::support::wait;
use placet::conversation::CallOutcome;
use placet::http::{HttpClientSettings, PageClient, ProxySource};
use placet::permission::Mode;
use placet::session::{ScratchpadBackend, ScratchpadEntry, ScratchpadStoreError, Scratchpads};
use placet::tools::{OutputInspector, WebPages};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

/// Answers each path with what `answer` writes, and notes the paths.
struct Site {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn new(answer: impl Fn(&str, &mut TcpStream) + Send + Sync + 'static) -> Site {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (asked, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let noted = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                let (noted, answer) = (Arc::clone(&noted), Arc::clone(&answer));
                std::thread::spawn(move || {
                    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
                    let Some(Ok(first)) = lines.next() else { return };
                    while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
                    let path = first.split(' ').nth(1).unwrap_or_default().to_string();
                    noted.lock().unwrap().push(path.clone());
                    answer(&path, &mut stream);
                });
            }
        });
        Site { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    /// A bench whose person has named this site.
    fn bench(&self) -> Bench {
        let mut bench = Bench::new();
        let settings = HttpClientSettings { proxies: ProxySource::Off, ..HttpClientSettings::default() };
        let named = [format!("127.0.0.1:{}", self.port)];
        Arc::get_mut(&mut bench.env).unwrap().pages =
            Arc::new(WebPages::new(PageClient::new(settings), named));
        bench
    }
}

fn reply(stream: &mut TcpStream, head: &str, body: &[u8]) {
    let head = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body));
}

#[test]
fn a_page_is_markdown_and_goes_to_a_scratchpad_on_request() {
    let site = Site::new(|_, to| {
        reply(to, "200 OK\r\nContent-Type: text/html", b"<title>T</title><h1>Hi</h1><a href=/x>more</a>");
    });
    let bench = site.bench();
    let got = bench.call("fetch_url", json!({"url": site.url("/a#part")}));
    let text = got.body();
    assert!(text.contains("# Hi") && text.contains(&format!("[more]({})", site.url("/x"))), "{text}");
    assert!(text.contains("title: T") && text.contains("Markdown of"), "{text}");
    assert_eq!(*site.asked.lock().unwrap(), ["/a"]);
    bench.call("fetch_url", json!({"url": site.url("/a"), "scratchpad": "page"}));
    assert!(bench.pad("page").contains("# Hi"));
}

#[test]
fn redirects_stay_on_the_host_and_end_somewhere() {
    let elsewhere = Site::new(|_, to| reply(to, "200 OK", b"not asked about"));
    let other = elsewhere.url("/there");
    let site = Site::new(move |path, to| match path {
        "/a" => reply(to, "302 Found\r\nLocation: /b", b""),
        "/b" => reply(to, "200 OK\r\nContent-Type: text/plain", b"arrived"),
        "/loop" => reply(to, "301 Moved\r\nLocation: /loop", b""),
        "/file" => reply(to, "302 Found\r\nLocation: file:///etc/passwd", b""),
        _ => reply(to, &format!("302 Found\r\nLocation: {other}"), b""),
    });
    let bench = site.bench();
    let text = bench.call("fetch_url", json!({"url": site.url("/a")})).body();
    assert!(text.contains("arrived") && text.contains("redirected from"), "{text}");
    for (path, why) in [
        ("/loop", "redirects more than 5 times"),
        ("/file", "only http and https"),
        ("/away", "which is not the same host"),
    ] {
        let got = bench.call("fetch_url", json!({"url": site.url(path)}));
        assert_eq!(got.0.outcome, CallOutcome::Failed);
        assert!(got.body().contains(why), "{}", got.body());
    }
    assert!(elsewhere.asked.lock().unwrap().is_empty());
}

#[test]
fn what_a_hostile_server_sends_has_limits() {
    let site = Site::new(|path, to| match path {
        "/endless" => {
            let _ = to.write_all(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n");
            while to.write_all(&[b'x'; 65_536]).is_ok() {}
        }
        "/binary" => reply(to, "200 OK\r\nContent-Type: application/zip", b"PK\x03\x04\0\0\0"),
        "/missing" => reply(to, "404 Not Found\r\nContent-Type: text/html", b"<p>no such \x1b[2Jpage"),
        "/short" => {
            let _ = to.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
        }
        _ => reply(to, "200 OK\r\nContent-Type: text/html", "<div>".repeat(200_000).as_bytes()),
    });
    let bench = site.bench();
    let got = |path: &str| bench.call("fetch_url", json!({"url": site.url(path)}));
    assert!(got("/endless").body().contains("only the first 5000000 bytes were read"));
    for (path, why) in [
        ("/binary", "no text, picture or PDF"),
        ("/missing", "answered with status 404: no such"),
        ("/short", "127.0.0.1"),
    ] {
        let got = got(path);
        assert_eq!(got.0.outcome, CallOutcome::Failed, "{path}");
        assert!(got.body().contains(why), "{}", got.body());
        assert!(!got.body().contains('\x1b'));
    }
    assert!(got("/deep").body().contains("too deep"), "{}", got("/deep").body());
}

/// A gzip stream of blanks, 258 of them for every 13 bits, written as RFC 1951 has them: one letter, and then copies of
/// what came before.
fn blanks_compressed(megabytes: usize) -> Vec<u8> {
    let mut bits: Vec<bool> = vec![true, true, false];
    let mut code = |code: u32, length: u32| bits.extend((0..length).rev().map(|at| code >> at & 1 == 1));
    code(0x30 + 0x20, 8);
    for _ in 0..megabytes * 1_000_000 / 258 {
        code(0b1100_0101, 8);
        code(0, 5);
    }
    code(0, 7);
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let byte = |bits: &[bool]| bits.iter().enumerate().fold(0, |byte, (at, bit)| byte | u8::from(*bit) << at);
    out.extend(bits.chunks(8).map(byte));
    out
}

#[test]
fn a_bomb_is_read_as_far_as_a_text_may_be_long() {
    let bomb = blanks_compressed(200);
    let length = bomb.len();
    let site = Site::new(move |path, to| {
        let kind = if path == "/html" { "text/html" } else { "text/plain" };
        reply(to, &format!("200 OK\r\nContent-Type: {kind}\r\nContent-Encoding: gzip"), &bomb);
    });
    assert!(length < 1_500_000);
    let bench = site.bench();
    for path in ["/plain", "/html"] {
        let text = bench.call("fetch_url", json!({"url": site.url(path)})).body();
        assert!(text.contains("only the first 5000000 bytes were read"), "{}", &text[..text.len().min(300)]);
    }
}

#[test]
fn a_slow_body_ends_at_the_deadline() {
    let site = Site::new(|path, to| {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n";
        // A server that never answers, one that stops, and one that sends a letter from time to time.
        if path != "/silent" && to.write_all(head.as_bytes()).is_err() {
            return;
        }
        while path != "/drip" || to.write_all(b"x").is_ok() {
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let mut bench = site.bench();
    let settings = HttpClientSettings { proxies: ProxySource::Off, ..HttpClientSettings::default() };
    let pages = WebPages::new(PageClient::new(settings), [format!("127.0.0.1:{}", site.port)]);
    let pages = pages.patient_for(Duration::from_secs(1));
    Arc::get_mut(&mut bench.env).unwrap().pages = Arc::new(pages);
    for path in ["/silent", "/stops", "/drip"] {
        let started = Instant::now();
        let got = bench.call("fetch_url", json!({"url": site.url(path)}));
        assert_eq!(got.0.outcome, CallOutcome::Failed, "{path}");
        assert!(got.body().contains("the page did not arrive within 1 s"), "{}", got.body());
        assert!(started.elapsed() < Duration::from_secs(20), "{path}");
    }
}

/// The end of the process waits for the threads that work, and so the conversion of a page must end with its call.
#[test]
fn a_call_that_is_stopped_does_not_wait_for_its_page() {
    let html = "<ul><li>x <b>y</b><p>z</ul>".repeat(30_000);
    let site = Site::new(move |_, to| reply(to, "200 OK\r\nContent-Type: text/html", html.as_bytes()));
    let host = format!("localhost:{}", site.port);
    let message = format!("call fetch_url {{\"url\":\"http://{host}/\"}}");
    let (named, rule) = (format!("network.private_hosts=[\"{host}\"]"), format!("fetch({host})"));
    let place = Place::new();
    let start = || place.placet(["--set", &named, "--allow", &rule, "-p", &message]).start();
    let out = start().end();
    assert!(out.code == 0 && out.stdout.contains("Markdown of"), "{out:?}");
    for signal in [rustix::process::Signal::TERM, rustix::process::Signal::INT] {
        let count = site.asked.lock().unwrap().len();
        let running = start();
        wait::until("the request", || site.asked.lock().unwrap().len() > count);
        running.signal(signal);
        let out = running.end();
        assert!(!out.stdout.contains("Markdown of"), "{out:?}");
    }
}

/// A page that has arrived is inspected and then stored: a stop is seen before each of these, and nothing is stored.
#[test]
fn a_page_whose_call_is_stopped_while_it_is_inspected_is_not_stored() {
    let text = "words\n".repeat(100_000);
    let site = Site::new(move |_, to| reply(to, "200 OK\r\nContent-Type: text/plain", text.as_bytes()));
    for is_stopped in [false, true] {
        let mut bench = site.bench();
        let cancel = bench.cancel.clone();
        bench.inspect = OutputInspector::new(move |output| {
            if is_stopped {
                cancel.cancel();
            }
            Box::pin(std::future::ready(output))
        });
        let got = bench.call("fetch_url", json!({"url": site.url("/")}));
        assert_eq!(got.body().contains("interrupted"), is_stopped, "{}", got.body());
        assert_eq!(bench.env.scratchpads.list().is_empty(), is_stopped);
    }
}

/// A store that takes long, as a database on a busy disk does, and stops the call when it begins.
struct SlowStore {
    cancel: CancellationToken,
    /// It is as slow as the test wants it to be.
    held: Arc<AtomicBool>,
    saved: Arc<Mutex<Vec<(String, bool)>>>,
}

impl ScratchpadBackend for SlowStore {
    fn save(&self, name: &str, entry: Option<&ScratchpadEntry>) -> Result<(), ScratchpadStoreError> {
        if entry.is_some() {
            self.cancel.cancel();
            wait::until("the store to be let go", || !self.held.load(Ordering::SeqCst));
        }
        self.saved.lock().unwrap().push((name.into(), entry.is_some()));
        Ok(())
    }

    fn load(&self, _: &str) -> Result<ScratchpadEntry, ScratchpadStoreError> {
        Err(ScratchpadStoreError::Lost)
    }

    fn rename(&self, _: &str, _: &str) -> Result<(), ScratchpadStoreError> {
        Err(ScratchpadStoreError::NoBackend)
    }
}

#[test]
fn a_page_whose_call_is_stopped_while_it_is_stored_is_not_waited_for_and_removed() {
    let text = "words\n".repeat(100_000);
    let site = Site::new(move |_, to| reply(to, "200 OK\r\nContent-Type: text/plain", text.as_bytes()));
    for name in [None, Some("mine")] {
        let mut bench = site.bench();
        let saved = Arc::new(Mutex::new(Vec::new()));
        let held = Arc::new(AtomicBool::new(name.is_none()));
        let store =
            SlowStore { cancel: bench.cancel.clone(), held: Arc::clone(&held), saved: Arc::clone(&saved) };
        Arc::get_mut(&mut bench.env).unwrap().scratchpads =
            Arc::new(Scratchpads::saved(BTreeMap::new(), Box::new(store)));
        let started = Instant::now();
        let got = bench.call("fetch_url", json!({"url": site.url("/"), "scratchpad": name}));
        if name.is_some() {
            // It may have replaced one that was there: the call ends as it would without the stop.
            assert!(got.body().contains("stored in the scratchpad `mine`"), "{}", got.body());
            assert_eq!(*saved.lock().unwrap(), [("mine".to_string(), true)]);
            continue;
        }
        assert!(got.body().contains("interrupted"), "{}", got.body());
        assert!(saved.lock().unwrap().is_empty(), "the call waited for the store");
        held.store(false, Ordering::SeqCst);
        let wanted = [("fetch_url-output".to_string(), true), ("fetch_url-output".to_string(), false)];
        while *saved.lock().unwrap() != wanted {
            assert!(started.elapsed() < Duration::from_secs(60), "{:?}", saved.lock().unwrap());
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(bench.env.scratchpads.list().is_empty());
    }
}

#[test]
fn a_page_of_many_cells_keeps_its_rows_in_bounded_memory() {
    let row = format!("<tr>{}</tr>\n", "<td>x</td>".repeat(500));
    let html = format!("<table>{}</table>", row.repeat(900));
    let site = Site::new(move |_, to| reply(to, "200 OK\r\nContent-Type: text/html", html.as_bytes()));
    let text = site.bench().call("fetch_url", json!({"url": site.url("/")})).body();
    assert!(
        text.contains("too many: only the text is shown") && text.contains("x | x | x"),
        "{}",
        &text[..300]
    );
}

#[test]
fn pages_that_are_not_what_they_say_are_read_as_well_as_can_be() {
    let site = Site::new(|path, to| match path {
        // A header that names another character set than the page has.
        "/charset" => reply(to, "200 OK\r\nContent-Type: text/html; charset=utf-8", b"<p>caf\xe9 au lait"),
        "/unknown" => reply(to, "200 OK\r\nContent-Type: text/html; charset=klingon", "<p>café".as_bytes()),
        "/utf16" => {
            let text = "<p>caf\u{e9}".encode_utf16().flat_map(u16::to_le_bytes);
            let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(text).collect();
            reply(to, "200 OK\r\nContent-Type: text/html", &bytes);
        }
        "/gzip" => reply(to, "200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip", b"not gzip"),
        "/scripts" => reply(
            to,
            "200 OK\r\nContent-Type: text/html",
            b"<title>App</title><div id=root></div><script>document.write('secret')</script>",
        ),
        _ => {
            let rows = "<tr><td>one<td>two".repeat(4_000);
            let row = "<td>wide".repeat(2_000);
            let html = format!("<table><tr><th>a<th>b</tr>{rows}<tr>{row}</table>");
            reply(to, "200 OK\r\nContent-Type: text/html", html.as_bytes());
        }
    });
    let bench = site.bench();
    let got = |path: &str| bench.call("fetch_url", json!({"url": site.url(path)}));
    let text = got("/charset").body();
    assert!(text.contains("some bytes are not valid UTF-8") && text.contains("au lait"), "{text}");
    assert!(got("/unknown").body().contains("café"));
    assert!(got("/utf16").body().contains("café"), "{}", got("/utf16").body());
    assert_eq!(got("/gzip").0.outcome, CallOutcome::Failed);
    let text = got("/scripts").body();
    assert!(text.contains("runs its scripts") && text.contains("title: App"), "{text}");
    assert!(!text.contains("secret"), "{text}");
    // A whole table of 4,000 rows, one of them with 2,000 columns, is in the scratchpad of its name.
    bench.call("fetch_url", json!({"url": site.url("/table"), "scratchpad": "table"}));
    let table = bench.pad("table");
    assert!(table.contains("| one | two |") && table.contains("| wide | wide |"));
    assert!(table.len() < 200_000, "{}", table.len());
}

#[test]
fn private_addresses_are_refused_unless_they_are_named() {
    let site = Site::new(|_, to| reply(to, "200 OK", b"secret"));
    let bench = Bench::new();
    for host in ["127.0.0.1", "localhost", "2130706433", "[::1]", "[::ffff:127.0.0.1]"] {
        let got = bench.call("fetch_url", json!({"url": format!("http://{host}:{}/", site.port)}));
        assert_eq!(got.0.outcome, CallOutcome::Failed);
        assert!(got.body().contains("network.private_hosts"), "{host}: {}", got.body());
    }
    for wrong in ["file:///etc/passwd", "docs.rs", "https://a:b@docs.rs/"] {
        assert_eq!(bench.call("fetch_url", json!({"url": wrong})).0.outcome, CallOutcome::Failed, "{wrong}");
    }
    assert!(site.asked.lock().unwrap().is_empty());
}

#[test]
fn a_host_needs_consent_in_every_mode_that_asks() {
    let site = Site::new(|_, to| reply(to, "200 OK\r\nContent-Type: text/plain", b"hello"));
    for mode in [Mode::Read, Mode::Ask, Mode::Write] {
        let mut bench = site.bench();
        (bench.mode, bench.person) = (mode, Person::Away);
        assert_eq!(bench.call("fetch_url", json!({"url": site.url("/")})).0.outcome, CallOutcome::Failed);
        assert!(site.asked.lock().unwrap().is_empty(), "{mode:?}");
        let mut bench = site.bench();
        bench.mode = mode;
        assert!(bench.call("fetch_url", json!({"url": site.url("/")})).body().contains("hello"));
        site.asked.lock().unwrap().clear();
    }
}
