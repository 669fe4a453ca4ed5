//! A server that means harm, or one that is broken: answers without an end, calls without number, comments for ever,
//! keys in its errors. Each ends at a limit that is named, runs nothing, is not asked for again, and takes no memory.

use crate::support::binary::{Out, Place, Running};
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::talk::{ALL_WIRES, Wire};
use std::time::Duration;

const NO_PAUSE: Duration = Duration::ZERO;

/// A place where `server` answers over `wire`, with these settings besides. Five attempts, so that a retry is seen.
fn place(wire: Wire, server: &MockServer, settings: &str) -> Place {
    let (url, dialect) = (server.url(), wire.setting());
    Place::new().config(&format!(
        "provider = \"mock\"\nmodel = \"mock-1\"\ncontext_window = 200000\nnetwork.attempts = 5\nmax_repeats = 0\n{settings}\n\
         [providers.mock]\ndialect = \"{dialect}\"\nbase_url = \"{url}\"\n"
    ))
}

/// The events before the first that carries `mark`, and that one.
fn split(events: &[String], mark: &str) -> (String, String) {
    let at = events.iter().position(|event| event.contains(mark)).unwrap();
    (events[..at].concat(), events[at].clone())
}

/// An answer that repeats its text, or the arguments of its call, for ever.
fn endless(wire: Wire, say: Say) -> Reply {
    // The second keeps the end out of the event that is repeated, which has it in Gemini's format.
    let events = wire.events(&[say, Say::Text("end")]);
    let (before, again) = split(&events, "aaaa");
    Reply::stream().write(before).forever(again, NO_PAUSE)
}

struct Attack {
    name: &'static str,
    reply: Reply,
    settings: &'static str,
    /// What the error must say.
    names: [&'static str; 2],
}

fn attacks(wire: Wire) -> Vec<Attack> {
    let text = "a".repeat(20_000);
    let half = format!("{{\"command\":\"touch ran; {text}");
    let calls: Vec<String> = (0..9).map(|n| format!("c{n}")).collect();
    let many: Vec<Say> =
        calls.iter().map(|id| Say::Call(id, "run_command", "{\"command\":\"touch ran\"}")).collect();
    let long = format!("{{\"command\":\"touch ran; : {}\"}}", "b".repeat(1_500_000));
    let nested = format!("{{\"command\":\"touch ran\",\"x\":{}}}", "[".repeat(150_000));
    let mut all = vec![
        Attack {
            name: "text without an end",
            reply: endless(wire, Say::Text(&text)),
            settings: "network.answer_mb = 2",
            names: ["longer than 2 MB", "`network.answer_mb`"],
        },
        Attack {
            name: "an event without an end",
            reply: Reply::stream().write("data: {\"type\":\"").forever(text.clone(), NO_PAUSE),
            settings: "network.event_mb = 2",
            names: ["one event of the server is longer than 2 MB", "`network.event_mb`"],
        },
        Attack {
            name: "an event of lines without an end",
            reply: Reply::stream().forever(format!("data: {text}\n"), NO_PAUSE),
            settings: "network.event_mb = 2",
            names: ["one event of the server is longer than 2 MB", "`network.event_mb`"],
        },
        Attack {
            name: "an answer in one piece without an end",
            reply: Reply::new(200, "application/json").write("{\"a\":\"").forever(text.clone(), NO_PAUSE),
            settings: "network.event_mb = 2",
            names: ["longer than 2 MB", "`network.event_mb`"],
        },
        Attack {
            name: "an event that is nothing but brackets",
            reply: Reply::sse(format!("data: {nested}\n\n")),
            settings: "",
            names: ["more than 100000 JSON values", "none of its calls was run"],
        },
        Attack {
            name: "comments without an end and without a pause",
            reply: Reply::stream().forever(format!(": {text}\n\n"), NO_PAUSE),
            settings: "network.answer_mb = 2",
            names: ["the server sent more than 16 MB for the answer", "`network.answer_mb`"],
        },
        Attack {
            name: "events without a meaning and without an end",
            reply: Reply::stream()
                .forever(format!("data: {{\"type\":\"ping\",\"x\":\"{text}\"}}\n\n"), NO_PAUSE),
            settings: "network.answer_mb = 2",
            names: ["longer than 2 MB", "`network.answer_mb`"],
        },
        Attack {
            name: "more calls than anyone makes",
            reply: wire.reply(&many),
            settings: "network.answer_calls = 8",
            names: ["more than 8 calls", "`network.answer_calls`"],
        },
        Attack {
            name: "a call the time is too long and whole",
            reply: wire.reply(&[Say::Call("c", "run_command", &long)]),
            settings: "network.arguments_mb = 1",
            names: ["arguments of a call to `run_command` are longer than 1 MB", "`network.arguments_mb`"],
        },
        Attack {
            name: "a word now and then for ever",
            reply: {
                let events = wire.events(&[Say::Text("aaaa "), Say::Text("end")]);
                let (before, again) = split(&events, "aaaa");
                Reply::stream().write(before).forever(again, Duration::from_millis(20))
            },
            settings: "network.answer_seconds = 1",
            names: ["incomplete after 1 s", "`network.answer_seconds`"],
        },
        Attack {
            name: "comments now and then for ever",
            reply: Reply::stream().forever(": still here\n\n", Duration::from_millis(20)),
            settings: "network.answer_seconds = 1",
            names: ["incomplete after 1 s", "`network.answer_seconds`"],
        },
    ];
    // Gemini's arguments come whole.
    if wire != Wire::Gemini {
        all.push(Attack {
            name: "arguments without an end",
            reply: endless(wire, Say::Call("c", "run_command", &half)),
            settings: "network.arguments_mb = 1",
            names: ["arguments of a call to `run_command` are longer than 1 MB", "`network.arguments_mb`"],
        });
    }
    all
}

#[test]
fn an_answer_over_a_limit_is_stopped_runs_nothing_and_is_not_asked_for_again() {
    for wire in ALL_WIRES {
        for Attack { name, reply, settings, names } in attacks(wire) {
            let case = format!("{wire:?}: {name}");
            let server = MockServer::start([reply]);
            let place = place(wire, &server, settings);
            let (out, _) = peak(place.placet(["-p", "go", "--mode", "write"]).start());
            assert_eq!(out.code, 4, "{case}: {}", beginning(&out.stderr));
            for words in names {
                assert!(out.stderr.contains(words), "{case}: {words}: {}", beginning(&out.stderr));
            }
            assert_eq!(server.requests().len(), 1, "{case}: {}", beginning(&out.stderr));
            assert!(!place.tree.join("ran").exists(), "{case}");
            // The conversation goes on, and does not carry all of it along.
            server.push(wire.reply(&[Say::Text("there")]));
            place.run(["-c", "-p", "and now?"]).code(0).says("there");
            let body = server.requests().last().unwrap().body.to_string();
            assert!(body.len() < 200_000, "{case}: {}", body.len());
            assert_eq!(server.violations(), Vec::<String>::new(), "{case}");
        }
    }
}

/// Story: 3 GB after 18 s of an answer without an end, 2.3 GB for arguments of 300 MB.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_bounded_with_the_limits_that_nobody_set() {
    let text = "a".repeat(20_000);
    let half = format!("{{\"command\":\"{text}");
    let server = MockServer::start([]);
    let place = place(Wire::Anthropic, &server, "");
    for (name, reply) in [
        ("text", endless(Wire::Anthropic, Say::Text(&text))),
        ("arguments", endless(Wire::Anthropic, Say::Call("c", "run_command", &half))),
        ("one event", Reply::stream().write("data: {\"type\":\"").forever(text.clone(), NO_PAUSE)),
    ] {
        server.push(reply);
        let (out, peak) = peak(place.placet(["-p", "go"]).start());
        assert_eq!(out.code, 4, "{name}: {}", beginning(&out.stderr));
        assert!(peak < 400 * 1024, "{name}: {peak} kB");
    }
}

fn beginning(text: &str) -> String {
    let tail: String = text.chars().rev().take(600).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{} bytes ... {tail}", text.len())
}

/// Runs it to its end; the most memory that it had, in kB.
fn peak(mut running: Running) -> (Out, u64) {
    running.works_hard();
    drop(running.stdin.take());
    let status = format!("/proc/{}/status", running.pid());
    let (done, stop) = std::sync::mpsc::channel::<()>();
    let watching = std::thread::spawn(move || {
        let mut peak = 0;
        while let Err(std::sync::mpsc::RecvTimeoutError::Timeout) =
            stop.recv_timeout(Duration::from_millis(5))
        {
            let text = std::fs::read_to_string(&status).unwrap_or_default();
            let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
            let kb: String = line.chars().filter(char::is_ascii_digit).collect();
            peak = peak.max(kb.parse().unwrap_or(0));
        }
        peak
    });
    let out = running.end();
    drop(done);
    (out, watching.join().unwrap())
}

/// A server of bytes: what it writes to each connection, and how many there were.
struct RawServer {
    address: std::net::SocketAddr,
    count: std::sync::Arc<std::sync::atomic::AtomicUsize>,
}

impl RawServer {
    fn start(reply: &'static [u8]) -> RawServer {
        use std::io::{Read, Write};
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counted = std::sync::Arc::clone(&count);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let Ok(mut stream) = stream else { return };
                counted.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                std::thread::spawn(move || {
                    let _ = stream.read(&mut [0; 65536]);
                    let _ = stream.write_all(reply);
                    let _ = stream.shutdown(std::net::Shutdown::Write);
                    while matches!(stream.read(&mut [0; 65536]), Ok(n) if n > 0) {}
                });
            }
        });
        RawServer { address, count }
    }

    fn count(&self) -> usize {
        self.count.load(std::sync::atomic::Ordering::SeqCst)
    }
}

fn at(url: &str, settings: &str) -> Place {
    Place::new().config(&format!(
        "provider = \"mock\"\nmodel = \"mock-1\"\ncontext_window = 200000\nnetwork.attempts = 3\n{settings}\n\
         [providers.mock]\ndialect = \"anthropic\"\nkey_env = \"MOCK_KEY\"\nbase_url = \"{url}\"\n"
    ))
}

#[test]
fn a_reply_that_is_no_http_is_not_asked_for_again() {
    for reply in [
        b"HTTP/9.9 what\r\n\r\n".as_slice(),
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nbad header\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
    ] {
        let server = RawServer::start(reply);
        let place = at(&format!("http://{}", server.address), "");
        let case = String::from_utf8_lossy(reply);
        let out = place.placet(["-p", "hi"]).env("MOCK_KEY", "k-1234567890").go();
        assert_eq!(out.code, 4, "{case}: {out:?}");
        assert!(out.stderr.contains("sent an invalid answer"), "{case}: {out:?}");
        assert_eq!(server.count(), 1, "{case}: {out:?}");
    }
}

#[test]
fn a_server_that_cannot_prove_who_it_is_is_not_asked_again() {
    // An alert (handshake_failure), and HTTP where TLS was expected.
    for reply in [b"\x15\x03\x03\x00\x02\x02\x28".as_slice(), b"HTTP/1.1 400 Bad Request\r\n\r\n"] {
        let server = RawServer::start(reply);
        let place = at(&format!("https://{}", server.address), "");
        let out = place.placet(["-p", "hi"]).env("MOCK_KEY", "k-1234567890").go().code(4);
        // On a machine without any certificates there is no client for TLS at all.
        if out.stderr.contains("cannot be built") {
            return;
        }
        assert!(out.stderr.contains("no secure connection to 127.0.0.1"), "{out:?}");
        assert_eq!(server.count(), 1, "{out:?}");
    }
}

#[test]
fn a_key_does_not_leave_this_machine_unencrypted_unless_the_host_is_named() {
    // Reserved for documentation: nothing answers there, and nothing is sent.
    let place = at("http://192.0.2.1:9/v1", "network.connect_seconds = 1");
    let out = place.placet(["-p", "hi"]).env("MOCK_KEY", "k-1234567890").go().code(4);
    assert!(out.stderr.contains("the key was not sent to 192.0.2.1:9"), "{out:?}");
    assert!(out.stderr.contains("`network.plain_http_hosts`"), "{out:?}");
    assert!(!out.stderr.contains("retry"), "{out:?}");
    // The mock stands for the other machine as a proxy would; a name that is no loopback address leads to it.
    let server = MockServer::start([Reply::anthropic(&[Say::Text("there")])]);
    let proxy = server.url();
    for hosts in ["[\"gpu.example\"]", "[\"GPU.example:8080\"]"] {
        server.push(Reply::anthropic(&[Say::Text("there")]));
        let place = at("http://gpu.example:8080", &format!("network.plain_http_hosts = {hosts}"));
        let run = place.placet(["-p", "hi"]).env("MOCK_KEY", "k-1234567890").env("HTTP_PROXY", &proxy);
        run.go().code(0).says("there");
    }
    let sent = server.requests().len();
    let place = at("http://gpu.example:8080", "network.plain_http_hosts = [\"example\", \"gpu.example:80\"]");
    let run = place.placet(["-p", "hi"]).env("MOCK_KEY", "k-1234567890").env("HTTP_PROXY", &proxy);
    run.go().code(4).warns("the key was not sent to gpu.example:8080");
    let out =
        place.placet(["provider", "models"]).env("MOCK_KEY", "k-1234567890").env("HTTP_PROXY", &proxy).go();
    assert!(out.stderr.contains("the key was not sent to") && out.code != 0, "{out:?}");
    assert_eq!(server.requests().len(), sent);
}

#[test]
fn a_key_that_a_server_quotes_is_nowhere() {
    const KEY: &str = "kk-Zq81x7PmW2vT9sLd4";
    // Another's, by its shape alone.
    const OTHER: &str = "sk-proj-AbCdEfGhIjKlMnOpQrStUvWx";
    let text = format!("wrong key {KEY} or {OTHER} ({}...)", &KEY[..12]);
    let html = format!("<html><title>{text}</title></html>");
    let event =
        format!("event: error\ndata: {{\"type\":\"error\",\"error\":{{\"message\":\"{text}\"}}}}\n\n");
    let begun = crate::support::mock_server::anthropic_events(&[Say::Text("half ")])[..3].concat();
    for (name, reply) in [
        ("refused", Reply::error(401, "authentication_error", &text)),
        ("rejected", Reply::error(400, "invalid_request_error", &text)),
        ("retried", Reply::error(529, "overloaded_error", &text)),
        ("limited", Reply::error(429, "rate_limit_error", &text)),
        ("a page", Reply::new(502, "text/html").write(html)),
        ("an event", Reply::sse(event.clone())),
        ("an event after words", Reply::sse([begun, event].concat())),
        ("redirected", Reply::new(302, "text/plain").header("location", &format!("http://x/?key={KEY}"))),
        ("an id", Reply::error(400, "x", "no").header("request-id", KEY)),
    ] {
        let server = MockServer::start([reply.clone(), reply.clone(), reply.clone(), reply.clone()]);
        let place = at(&server.url(), "");
        for args in [
            vec!["-p", "hi"],
            vec!["-p", "hi", "--output-format", "json"],
            vec!["-p", "hi", "--output-format", "stream-json", "-vv"],
            vec!["provider", "test", "mock"],
        ] {
            (0..8).for_each(|_| server.push(reply.clone()));
            let out = place.placet(&args).env("MOCK_KEY", KEY).env("PLACET_LOG", "trace").go();
            for secret in [&KEY[..12], OTHER] {
                assert!(
                    !out.stdout.contains(secret) && !out.stderr.contains(secret),
                    "{name} {args:?}: {out:?}"
                );
                assert_eq!(holding(&place.home, secret), Vec::<String>::new(), "{name} {args:?}");
            }
        }
    }
}

/// The files below `dir` that hold `secret`.
fn holding(dir: &std::path::Path, secret: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![dir.to_path_buf()];
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if std::fs::read(&path)
                .is_ok_and(|bytes| memchr::memmem::find(&bytes, secret.as_bytes()).is_some())
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_failing_server_that_speaks_of_context_windows_is_not_taken_for_an_overflow() {
    for wire in ALL_WIRES {
        let down = Reply::error(500, "api_error", "context window service is down");
        let server = MockServer::start([down, wire.reply(&[Say::Text("there")])]);
        let place = place(wire, &server, "");
        let out = place.run(["-p", "hi"]).code(0).says("there");
        assert!(out.stderr.contains("retry: 2/5"), "{wire:?}: {out:?}");
        assert!(!out.stderr.contains("too long"), "{wire:?}: {out:?}");
    }
}

/// Story: `-p` ended with code 0 and without a word where a local model had only reasoned.
#[test]
fn an_answer_that_says_nothing_is_asked_for_once_more_and_is_no_success() {
    use serde_json::json;
    let thinking = {
        let event = |value: serde_json::Value| {
            format!("event: {}\ndata: {value}\n\n", value["type"].as_str().unwrap())
        };
        let usage = json!({"input_tokens": 1, "output_tokens": 1});
        [
            event(json!({"type": "message_start", "message": {"model": "m", "usage": usage}})),
            event(json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "thinking", "thinking": "hm", "signature": "s"}})),
            event(json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}})),
            event(json!({"type": "message_stop"})),
        ]
        .concat()
    };
    let cases = ALL_WIRES
        .map(|wire| (wire, Reply::sse(wire.events(&[Say::Text("")]).concat()), "the answer was empty"));
    let reasoning =
        (Wire::Anthropic, Reply::sse(thinking), "the answer had reasoning but no text and no call");
    for (wire, reply, words) in cases.into_iter().chain([reasoning]) {
        let case = format!("{wire:?}: {words}");
        let server = MockServer::start([reply.clone(), reply.clone()]);
        let place = place(wire, &server, "");
        let out = place.run(["-p", "hi"]).code(4);
        assert!(out.stderr.contains(&format!("note: {words}; asking once more")), "{case}: {out:?}");
        assert!(out.stderr.contains(&format!("placet: {words}\n")), "{case}: {out:?}");
        assert_eq!(server.requests().len(), 2, "{case}");
        let second = server.requests()[1].body.to_string();
        assert!(second.contains("your last answer had no text and no call"), "{case}: {second}");
        // As JSON it has a name of its own; and where the second one speaks, the turn is done.
        server.push(reply.clone());
        server.push(reply.clone());
        let out = place.run(["-p", "hi", "--output-format", "json"]).code(4);
        assert_eq!(out.json()["ending"], "no_answer", "{case}");
        server.push(reply);
        server.push(wire.reply(&[Say::Text("there")]));
        place.run(["-p", "hi"]).code(0).says("there");
        assert_eq!(server.violations(), Vec::<String>::new(), "{case}");
    }
}
