//! Servers of tools over HTTP, through the program: what they get, what nobody sees, and what a hostile one can do.

use crate::support::binary::{Out, Place};
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::shell;
use crate::support::require::require;
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const SERVER: &str = include_str!("../support/mcp_http_server.py");

/// A server on loopback; a drop ends it.
struct WebServer {
    child: Child,
    port: u16,
    dir: TempDir,
}

impl WebServer {
    fn start(script: &str) -> WebServer {
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("server.py"), SERVER).unwrap();
        let mut child = Command::new("python3")
            .arg(dir.path().join("server.py"))
            .env("MCP_SCRIPT", script)
            .env("MCP_LOG", dir.path().join("log"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        WebServer { child, port: line.trim().parse().unwrap(), dir }
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port)
    }

    /// Method, path, session, version and key of each request.
    fn log(&self) -> Vec<String> {
        let path: PathBuf = self.dir.path().join("log");
        std::fs::read_to_string(path).unwrap_or_default().lines().map(String::from).collect()
    }

    fn settings(&self, more: &str) -> String {
        format!("[mcp.servers.s]\nurl = \"{}\"\n{more}\n", self.url())
    }
}

impl Drop for WebServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn place(server: &WebServer, more: &str) -> Place {
    Place::new().config(&format!("provider = \"offline\"\n{}", server.settings(more)))
}

fn call(place: &Place, text: &str) -> Out {
    let message = format!("call s__act {{\"text\": \"{text}\"}}");
    place.run(["--mode", "ask", "--allow", "mcp(*)", "-p", &message])
}

/// The texts of the results of these calls, made in one conversation.
fn results(server: &WebServer, more: &str, texts: &[&str]) -> Vec<String> {
    let model = MockServer::start([]);
    for (n, text) in texts.iter().enumerate() {
        model.push(Reply::anthropic(&[Say::Call(
            &format!("c{n}"),
            "s__act",
            &format!("{{\"text\": \"{text}\"}}"),
        )]));
    }
    model.push(Reply::anthropic(&[Say::Text("done")]));
    let place = Place::new().answered_by(&model);
    let config = std::fs::read_to_string(place.config_dir().join("config.toml")).unwrap();
    let place = place.config(&format!("{config}{}", server.settings(more)));
    let out = place.run(["--mode", "ask", "--allow", "mcp(*)", "-p", "go"]);
    assert!(!out.stderr.contains('\x1b') && !out.stdout.contains('\x1b'), "{out:#?}");
    let requests = model.requests();
    let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
    let blocks = messages.iter().flat_map(|m| m["content"].as_array().cloned().unwrap_or_default());
    let text = |block: Value| match &block["content"] {
        Value::String(text) => text.clone(),
        other => other.as_array().unwrap().iter().filter_map(|b| b["text"].as_str()).collect(),
    };
    blocks.filter(|block| block["type"] == "tool_result").map(text).collect()
}

#[test]
fn a_server_over_http_is_called_in_one_session_whatever_later_answers_name() {
    if !require("python3") {
        return;
    }
    for script in ["", "json", "here json"] {
        let server = WebServer::start(script);
        let place = place(&server, "");
        let tested = place.run(["mcp", "test", "s"]).code(0);
        assert!(tested.stdout.starts_with("s: web 2, 1 tool, about"), "{tested:#?}");
        let out = call(&place, "hello");
        assert!(out.stdout.contains("said hello"), "{script}: {out:#?}");
        let log = server.log();
        // The start of the test has ended its session; the second process has another.
        assert!(log.iter().any(|line| line.starts_with("DELETE /mcp session-1 2025-06-18")), "{log:#?}");
        assert!(log.iter().all(|line| !line.contains("swapped")), "{log:#?}");
        let later = log.iter().filter(|line| line.contains(" session-2 2025-06-18 ")).count();
        assert!(later >= 2, "{log:#?}");
        let list = place.run(["mcp", "list"]).code(0);
        assert!(list.stdout.contains(&format!("over HTTP · {}", server.url())), "{list:#?}");
    }
}

#[test]
fn headers_come_from_variables_and_commands_and_nobody_sees_them() {
    if !require("python3") {
        return;
    }
    let server = WebServer::start("key");
    let without = place(&server, "").run(["mcp", "test", "s"]).code(1);
    assert!(without.stderr.contains("it answered with HTTP 401"), "{without:#?}");
    assert!(!without.stderr.contains("canary-page"), "{without:#?}");
    let of_variable = place(&server, "headers = [\"X-Key: ${MCP_KEY}\"]");
    let unset = of_variable.run(["mcp", "list"]).code(0);
    assert!(unset.stderr.contains("needs the environment variable MCP_KEY, which is not set"), "{unset:#?}");
    for command in [["mcp", "test", "s"].as_slice(), &["mcp", "list"], &["config", "show"], &["doctor"]] {
        let out = of_variable.placet(command).env("MCP_KEY", "canary-key").go();
        assert!(!out.stdout.contains("canary") && !out.stderr.contains("canary"), "{out:#?}");
    }
    let tested = of_variable.placet(["mcp", "test", "s"]).env("MCP_KEY", "canary-key").go().code(0);
    assert!(tested.stdout.contains("1 tool"), "{tested:#?}");
    let literal = place(&server, "headers = [\"X-Key: canary-key\"]");
    let shown = literal.run(["config", "show"]).code(0);
    assert!(shown.stdout.contains("X-Key: [hidden]") && !shown.stdout.contains("canary"), "{shown:#?}");
    for printed in ["echo 'X-Key: canary-key'", "echo '{\\\"X-Key\\\": \\\"canary-key\\\"}'"] {
        let of_command = place(&server, &format!("headers_command = \"{printed}\""));
        of_command.run(["mcp", "test", "s"]).code(0).says("1 tool");
    }
    let failing = place(&server, "headers_command = \"echo locked >&2; exit 3\"");
    let failed = failing.run(["mcp", "test", "s"]).code(1);
    assert!(failed.stderr.contains("`headers_command` failed (exit status: 3): locked"), "{failed:#?}");
}

#[test]
fn a_server_of_the_older_transport_is_recognized() {
    if !require("python3") {
        return;
    }
    let server = WebServer::start("older");
    let place = place(&server, "timeout_seconds = 10");
    let out = call(&place, "hello");
    assert!(out.stdout.contains("said hello"), "{out:#?}");
    assert!(server.log().iter().any(|line| line.starts_with("POST /messages?s=1")), "{:#?}", server.log());
    let away = WebServer::start("older-away");
    let out = self::place(&away, "").run(["mcp", "test", "s"]).code(1);
    assert!(out.stderr.contains("redirects to `http://127.0.0.2:9/away`"), "{out:#?}");
}

#[test]
fn a_broken_stream_is_continued_and_a_forgotten_session_is_opened_again() {
    if !require("python3") {
        return;
    }
    let server = WebServer::start("");
    let found = results(&server, "", &["break", "cut", "forget"]);
    assert_eq!(found[0].trim(), "after the break");
    assert!(found[1].contains("its answer ended before the result"), "{found:?}");
    assert_eq!(found[2].trim(), "said forget");
}

#[test]
fn hostile_servers_over_http_are_cut_off_and_named() {
    if !require("python3") {
        return;
    }
    for (script, expected) in [
        ("away", "it redirects to `http://127.0.0.2:9/mcp`, which is not the host of its `url`"),
        ("around", "it redirects more than 3 times"),
        ("page", "it answered with `text/html`, which is neither JSON nor an event stream"),
        ("hung", "it did not answer within 2 s"),
    ] {
        let server = WebServer::start(script);
        let out = place(&server, "timeout_seconds = 2").run(["mcp", "test", "s"]).code(1);
        assert!(out.stderr.contains(expected) && !out.stderr.contains('\x1b'), "{script}: {out:#?}");
    }
    let gone =
        Place::new().config("provider = \"offline\"\n[mcp.servers.s]\nurl = \"http://127.0.0.1:9/mcp\"\n");
    let gone = gone.run(["mcp", "test", "s"]).code(1);
    assert!(gone.stderr.contains("127.0.0.1:9"), "{gone:#?}");
}

#[test]
fn hostile_answers_over_http_are_bounded() {
    if !require("python3") {
        return;
    }
    let server = WebServer::start("json");
    let bounded = [
        ("huge", "a message of it is longer than 16 MB"),
        ("bomb", "a message of it is longer than 16 MB"),
        ("line", "a message of it is longer than 16 MB"),
        ("other", "its answer ended before the result"),
        ("broken", "its answer is not a message of the protocol"),
        ("error", "it answered with HTTP 500: out"),
        ("hello", "said hello"),
    ];
    let without_end = [
        ("endless", "it did not answer within 2 s"),
        ("flood", "the server `s` failed: it"),
        ("hello", "said hello"),
    ];
    for (timeout, cases) in [("timeout_seconds = 60", &bounded[..]), ("timeout_seconds = 2", &without_end)] {
        let texts: Vec<&str> = cases.iter().map(|(text, _)| *text).collect();
        for ((text, expected), found) in cases.iter().zip(results(&server, timeout, &texts)) {
            assert!(found.contains(expected), "{text}: {found}");
        }
    }
}

#[test]
fn the_settings_of_a_server_over_http_are_checked_and_a_project_cannot_get_its_headers() {
    let wrong = |settings: &str| {
        let out = Place::new()
            .config(&format!("provider = \"offline\"\n[mcp.servers.s]\n{settings}\n"))
            .run(["mcp", "list"]);
        assert!(!out.stderr.contains("canary"), "{out:#?}");
        out.stderr
    };
    assert!(wrong("url = \"ftp://x/\"").contains("the `url` of the server `s` is neither http nor https"));
    assert!(wrong("url = \"https://me:canary@x/\"").contains("has a name or a password in it"));
    assert!(wrong("url = \"https://x/\"\ncommand = \"y\"").contains("has a `command` and a `url`"));
    assert!(
        wrong("url = \"https://x/\"\nhosts = [\"x\"]").contains("`hosts` of the server `s` has no effect")
    );
    assert!(
        wrong("url = \"https://x/\"\nheaders = [\"canary\"]").contains("is not of the form `NAME: VALUE`")
    );
    assert!(
        wrong("command = \"y\"\nheaders = [\"A: b\"]").contains("`headers` of the server `s` has no effect")
    );
    let place = Place::new().config(
        "provider = \"offline\"\n[mcp.servers.s]\nurl = \"https://example.org/mcp\"\nheaders = [\"X-Key: canary\"]\n",
    );
    place.write(
        ".mcp.json",
        "{\"mcpServers\": {\"s\": {\"type\": \"http\", \"url\": \"https://example.com/\"}}}",
    );
    place.run(["config", "trust"]).code(0).says("https://example.com/");
    let other = Place::new().config("provider = \"offline\"\n");
    let entry = "{\"url\": \"https://example.com/\", \"headers\": {\"X-Key\": \"canary\"}}";
    other.write(".mcp.json", format!("{{\"mcpServers\": {{\"t\": {entry}}}}}"));
    let ignored = other.run(["mcp", "list"]).code(0);
    assert!(ignored.stderr.contains("mcp.servers.t.url = \"https://example.com/\""), "{ignored:#?}");
    assert!(ignored.stderr.contains("X-Key: [hidden]") && !ignored.stderr.contains("canary"), "{ignored:#?}");
    let list = place.run(["mcp", "list"]).code(0);
    assert!(list.stdout.contains("https://example.org/mcp"), "{list:#?}");
    let note = "the server `s` is not used: your own settings have one";
    assert_eq!(list.stderr.matches(note).count(), 1, "{list:#?}");
    let added =
        place.run(["mcp", "add", "t", "--url", "https://example.net/mcp", "--header", "X-Key: ${K}"]).code(0);
    assert!(
        added
            .stdout
            .contains("[mcp.servers.t]\nurl = \"https://example.net/mcp\"\nheaders = [\"X-Key: ${K}\"]\n"),
        "{added:#?}"
    );
    place.run(["mcp", "add", "u", "--url", "example.net"]).code(1).warns("is not a URL");
}

#[test]
fn the_question_shows_the_address_and_read_mode_refuses_it() {
    if !require("python3") {
        return;
    }
    let server = WebServer::start("json");
    let config = format!("provider = \"offline\"\n{}", server.settings(""));
    let mut pty = shell().arg("--mode").arg("ask").config(&config).open();
    pty.line("call s__act {\"text\": \"hello\"}");
    pty.until("the question", |screen| screen.contains("arguments:"));
    let asked = pty.screen();
    assert!(asked.contains(&format!("server s: {}", server.url())), "{asked}");
    assert!(asked.contains(&format!("is at 127.0.0.1:{}, and gets the arguments", server.port)), "{asked}");
    pty.until("keys to count", |screen| !screen.contains("a moment"));
    pty.answer("y");
    pty.until("the result", |screen| screen.contains("said hello"));
    pty.line("/quit");
    let refused =
        Place::new().config(&config).run(["--mode", "read", "--allow", "mcp(*)", "-p", "call s__act {}"]);
    assert!(refused.stdout.contains("only in the copy-on-write view"), "{refused:#?}");
}

#[test]
fn a_server_over_http_that_takes_no_answers_is_ended() {
    if !require("python3") {
        return;
    }
    let server = WebServer::start("");
    let found = results(&server, "timeout_seconds = 30", &["requests"]);
    assert!(found[0].contains("it sent 64 requests and did not read the answers for 3 s"), "{found:?}");
}
