//! Programs and slow servers behind an allowed name.

use super::sandbox_escape_network::{Connected, TALK, needs};
use crate::support::require::require;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

#[test]
fn other_programs_find_an_allowed_name() {
    needs!("curl", "git", "python3");
    // A web server that answers every request with the same text.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                let mut head = Vec::new();
                while !head.ends_with(b"\r\n\r\n") {
                    let mut byte = [0];
                    if stream.read(&mut byte).unwrap_or(0) == 0 {
                        return;
                    }
                    head.push(byte[0]);
                }
                let answer = "HTTP/1.1 200 ok\r\ncontent-length: 6\r\nconnection: close\r\n\r\nhello\n";
                let _ = stream.write_all(answer.as_bytes());
            });
        }
    });
    let network = Connected::to(server, &["a.example", "git.example:8080"]);
    assert_eq!(network.run("curl -sS http://a.example/").done().0, "hello\n");
    let refused = network.run("curl -sS http://b.example/");
    assert!(refused.text.contains("Could not resolve host: b.example"), "{}", refused.text);
    // The answer is no repository; git asked the right server for it.
    let git = network.run("git ls-remote http://git.example:8080/x 2>&1");
    assert!(git.text.contains("not valid") || git.text.contains("fatal"), "{}", git.text);
    assert!(network.asked().contains(&"CONNECT git.example:8080".to_string()), "{:?}", network.asked());
    if require("node") {
        let line =
            "node -e 'fetch(\"http://a.example/\").then(r => r.text()).then(t => process.stdout.write(t))'";
        assert_eq!(network.run(line).done().0, "hello\n");
    }
}

/// A server that accepts late and answers late is waited for, and a program that gives up does not harm others.
#[test]
fn a_slow_server_is_waited_for() {
    needs!("python3");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                for part in [&b"slow "[..], b"but ", b"sure"] {
                    std::thread::sleep(Duration::from_millis(200));
                    if stream.write_all(part).is_err() {
                        return;
                    }
                }
            });
        }
    });
    let network = Connected::to(server, &["a.example"]);
    let program = format!(
        "{TALK}\nfor n in range(20):\n    socket.create_connection(('a.example', 443)).close()\nprint(talk('a.example', 443))"
    );
    assert_eq!(network.python(&program).done().0, "b'slow but sure'\n");
    assert!(TcpStream::connect(server).is_ok());
}
