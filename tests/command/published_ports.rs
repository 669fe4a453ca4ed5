//! A port of a command at 127.0.0.1 of this machine: who reaches it, and that nothing is left of it.

use crate::support::binary::Place;
use crate::support::job_calls::call;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::{joined, shell};
use crate::support::require::has_view;
use crate::support::wait;
use serde_json::json;
use std::io::{ErrorKind, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

/// Answers `GET /out` with whether it reaches the port of the machine that leads to it, and all others with `inside`.
const SERVER: &str = r#"import http.server, socket, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        text = 'inside'
        if self.path == '/out':
            text = 'refused' if socket.socket().connect_ex(('127.0.0.1', int(sys.argv[2]))) else 'reached'
        self.send_response(200)
        self.end_headers()
        self.wfile.write(text.encode())
    def log_message(self, *_): pass
http.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), Handler).serve_forever()
"#;

fn can_serve() -> bool {
    let python = std::process::Command::new("python3").arg("-V").output();
    has_view() && python.is_ok_and(|out| out.status.success())
}

/// A port that nobody uses.
fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// What the program behind the port answers; an error where it does not.
fn get(port: u16, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    write!(stream, "GET {path} HTTP/1.0\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.rsplit("\r\n\r\n").next().unwrap_or_default().into())
}

/// The same, when the program listens.
fn get_when_there(port: u16, path: &str) -> String {
    wait::until_some("an answer", || get(port, path).ok())
}

fn refuses(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_err_and(|e| e.kind() == ErrorKind::ConnectionRefused)
}

/// The addresses at which somebody listens on the port.
fn listeners(port: u16) -> Vec<String> {
    let tables =
        ["/proc/net/tcp", "/proc/net/tcp6"].map(|table| std::fs::read_to_string(table).unwrap_or_default());
    let rows = tables.iter().flat_map(|table| table.lines());
    let fields = rows.map(|row| row.split_ascii_whitespace().collect::<Vec<_>>());
    let listening = fields.filter(|fields| fields.get(3) == Some(&"0A"));
    let local = listening
        .filter_map(|fields| fields[1].split_once(':').map(|(at, port)| (at.to_string(), port.to_string())));
    local.filter(|(_, found)| *found == format!("{port:04X}")).map(|(at, _)| at).collect()
}

fn background(inside: u16, outside: u16, more: serde_json::Value) -> String {
    let mut input = json!({"command": format!("echo begun; exec python3 server.py {inside} {outside}"), "background": true});
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input.to_string()
}

#[test]
fn the_person_opens_a_port_of_a_job_and_it_ends_with_the_job() {
    if !can_serve() {
        return;
    }
    let (inside, outside) = (free_port(), free_port());
    let server = MockServer::start([
        Reply::openai(&[call("c1", "run_command", &background(inside, outside, json!({})))]),
        Reply::openai(&[Say::Text("it runs")]),
    ]);
    let args =
        ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url(), "--mode", "ask"];
    let mut pty = args.iter().fold(shell().file("server.py", SERVER), |start, arg| start.arg(arg)).open();
    pty.line("begin");
    pty.until_prompt_with_jobs(1, "");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let used = taken.local_addr().unwrap().port();
    pty.line(&format!("/jobs open 1 {used}:{inside}"));
    pty.until("the port that is in use, and the way out", |s| {
        s.contains(&format!("port {used} of this machine is in use"))
            && s.contains(&format!("`/jobs open 1 OTHER:{inside}`"))
    });
    pty.line(&format!("/jobs open 1 {outside}:{inside}"));
    let url = format!("http://127.0.0.1:{outside}/");
    pty.until("the address", |s| s.contains(&format!("port {inside} of job 1, until it ends: {url}")));
    assert_eq!(get_when_there(outside, "/"), "inside");
    // Only this machine, only that port, and not from inside.
    assert_eq!(listeners(outside), ["0100007F"]);
    assert_eq!(listeners(inside), Vec::<String>::new());
    assert_eq!(get(outside, "/out").unwrap(), "refused");
    // It listens on one port, whose address is known.
    pty.line("/jobs open 1");
    pty.until("the same", |s| s.matches(&format!("until it ends: {url}")).count() == 2);
    pty.line("/jobs");
    pty.until("the list", |s| joined(s).contains(&format!(", port {inside} at {url}")));
    pty.line("/jobs kill 1");
    pty.until("its end", |s| s.contains("ended job 1 and everything"));
    assert!(refuses(outside));
    pty.line("/jobs open 1");
    pty.until("nothing to open", |s| s.contains("job 1 has ended"));
}

#[test]
fn a_port_that_the_model_publishes_is_asked_about_once_and_nobody_listening_is_a_closed_connection() {
    if !can_serve() {
        return;
    }
    let (port, silent) = (free_port(), free_port());
    let input = background(port, port, json!({"publish": [port, silent]}));
    let server = MockServer::start([
        Reply::openai(&[call("c1", "run_command", &input)]),
        Reply::openai(&[Say::Text("it runs")]),
        Reply::openai(&[call("c2", "job", r#"{"action":"list"}"#)]),
        Reply::openai(&[Say::Text("listed")]),
    ]);
    let args =
        ["--provider", "openai-compatible", "--model", "m", "--base-url", &server.url(), "--mode", "read"];
    let mut pty = args.iter().fold(shell().file("server.py", SERVER), |start, arg| start.arg(arg)).open();
    pty.line("begin");
    let asks = format!("would reach port {} of the command", port.min(silent));
    pty.until("the question", |s| joined(s).contains(&asks) && joined(s).contains("at 127.0.0.1"));
    assert!(refuses(port) && refuses(silent), "published before the answer");
    pty.answer("y");
    pty.until_prompt_with_jobs(1, "");
    assert_eq!(get_when_there(port, "/"), "inside");
    assert_eq!(get(silent, "/").unwrap_err().kind(), ErrorKind::ConnectionReset);
    pty.line("list");
    pty.until("the answer", |s| s.contains("listed"));
    let told = server.requests().last().unwrap().body["messages"].to_string();
    for one in [port, silent] {
        assert!(
            told.contains(&format!(
                "the person reaches its port {one} at http://127.0.0.1:{one}/ until it ends"
            )),
            "{told}"
        );
        assert!(told.contains(&format!(", port {one} at http://127.0.0.1:{one}/")), "{told}");
    }
    // Also when placet is killed.
    drop(pty.kill());
    wait::until("no listener", || refuses(port) && refuses(silent));
}

#[test]
fn a_port_is_published_only_in_the_background_after_consent_and_where_it_is_free() {
    if !can_serve() {
        return;
    }
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let used = taken.local_addr().unwrap().port();
    let nine: Vec<u16> = (1..10).collect();
    let cases = [
        (json!({"command": "true", "publish": [used]}), "`publish` needs `background`"),
        (json!({"command": "true", "publish": [0], "background": true}), "`publish` names port 0"),
        (json!({"command": "true", "publish": nine, "background": true}), "more than 8 ports"),
        (json!({"command": "true", "publish": [70000], "background": true}), "70000"),
        (json!({"command": "true", "publish": [81], "background": true}), "--allow 'publish(81)' allows it"),
        (json!({"command": "touch ran", "publish": [used], "background": true}), "of this machine is in use"),
    ];
    let server = MockServer::start([]);
    let place = Place::new().answered_by(&server);
    for (at, (input, _)) in cases.iter().enumerate() {
        server.push(Reply::anthropic(&[call(&format!("c{at}"), "run_command", &input.to_string())]));
    }
    server.push(Reply::anthropic(&[Say::Text("done")]));
    let rule = format!("publish({used})");
    place.run(["-p", "go", "--mode", "write", "--allow", &rule]).code(3);
    let told = server.requests().last().unwrap().body["messages"].to_string();
    for (input, words) in cases {
        assert!(told.contains(words), "{input}: {told}");
    }
    assert!(!place.tree.join("ran").exists());
}

#[test]
fn a_program_of_the_persons_own_has_its_port_published_as_long_as_it_runs() {
    if !can_serve() {
        return;
    }
    let (inside, outside) = (free_port(), free_port());
    let place = Place::new().file("server.py", SERVER);
    let mapping = format!("{outside}:{inside}");
    let inside = inside.to_string();
    let words = [
        "run",
        "--publish",
        &mapping,
        "--",
        "python3",
        "server.py",
        &inside,
        &mapping[..mapping.find(':').unwrap()],
    ];
    let running = place.placet(words).start();
    assert_eq!(get_when_there(outside, "/"), "inside");
    running.until_warned(&format!("its port {inside} is at http://127.0.0.1:{outside}/"));
    assert_eq!(get(outside, "/out").unwrap(), "refused");
    // The port is taken now, and says so.
    let again = place.run(["run", "--publish", &mapping, "--", "touch", "ran"]).code(1);
    again
        .warns(&format!("port {outside} of this machine is in use"))
        .warns(&format!("`--publish OTHER:{inside}`"));
    running.signal(rustix::process::Signal::TERM);
    drop(running.end());
    assert!(refuses(outside) && !place.tree.join("ran").exists());
    place
        .run(["run", "--publish", "0.0.0.0:80", "--", "true"])
        .code(2)
        .warns("is not a port from 1 to 65535");
}
