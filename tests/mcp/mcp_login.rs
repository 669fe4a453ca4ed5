//! Login at servers over HTTP, through the program: what is stored, what is sent to whom, and what a look-alike gets.

use crate::support::binary::{Out, Place};
use crate::support::pty::shell;
use crate::support::require::require;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

const SERVER: &str = include_str!("../support/mcp_oauth_server.py");
/// A browser in which the person is logged in: it opens the page and follows it back.
const BROWSER: &str = "import sys, urllib.request\nurllib.request.urlopen(sys.argv[1], timeout=10).read()\n";

/// A server and its authorization server on loopback; a drop ends both.
struct LoginServer {
    child: Child,
    ports: (u16, u16),
    dir: TempDir,
}

impl LoginServer {
    fn start(script: &str) -> LoginServer {
        let dir = TempDir::new().unwrap();
        std::fs::write(dir.path().join("server.py"), SERVER).unwrap();
        std::fs::write(dir.path().join("browser.py"), BROWSER).unwrap();
        let mut child = Command::new("python3")
            .arg(dir.path().join("server.py"))
            .env("MCP_SCRIPT", script)
            .env("MCP_LOG", dir.path().join("log"))
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let (server, auth) = line.trim().split_once(' ').unwrap();
        LoginServer { child, ports: (server.parse().unwrap(), auth.parse().unwrap()), dir }
    }

    fn log(&self) -> Vec<String> {
        let path: PathBuf = self.dir.path().join("log");
        std::fs::read_to_string(path).unwrap_or_default().lines().map(String::from).collect()
    }

    fn place(&self, more: &str) -> Place {
        let url = format!("http://127.0.0.1:{}/mcp", self.ports.0);
        Place::new().config(&format!("provider = \"offline\"\n[mcp.servers.s]\nurl = \"{url}\"\n{more}\n"))
    }

    fn log_in(&self, place: &Place, more: &[&str]) -> Out {
        let browser = format!("python3 {}", self.dir.path().join("browser.py").display());
        let words = ["mcp", "login", "s"].into_iter().chain(more.iter().copied());
        let out = place.placet(words).env("BROWSER", browser).go();
        hides_secrets(&out);
        out
    }
}

impl Drop for LoginServer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// No token, no code and no secret is on a screen, and nothing acts on the terminal. The page has only the challenge.
#[track_caller]
fn hides_secrets(out: &Out) {
    for text in [&out.stdout, &out.stderr] {
        assert!(!text.contains("canary") && !text.contains('\x1b'), "{out:#?}");
    }
}

fn call(place: &Place) -> Out {
    let out = place.run(["--mode", "ask", "--allow", "mcp(*)", "-p", "call s__act {}"]);
    hides_secrets(&out);
    out
}

fn login_files(place: &Place) -> Vec<PathBuf> {
    let all = std::fs::read_dir(place.state_dir().join("mcp")).unwrap();
    all.map(|entry| entry.unwrap().path()).filter(|path| path.to_string_lossy().contains("-login-")).collect()
}

#[test]
fn a_person_logs_in_once_and_the_tokens_go_to_nobody_else() {
    if !require("python3") {
        return;
    }
    let server = LoginServer::start("secret");
    let place = server.place("");
    let before = place.run(["mcp", "test", "s"]).code(1);
    assert!(
        before.stderr.contains("it answered with HTTP 401: it needs a login, or a key in `headers`"),
        "{before:#?}"
    );
    assert!(before.stderr.contains("placet mcp login s"), "{before:#?}");
    place.run(["mcp", "list"]).code(0).says("needs login: placet mcp login s");
    let done = server.log_in(&place, &[]).code(0);
    assert!(
        done.stderr.contains(&format!("wants a login at http://127.0.0.1:{}", server.ports.1)),
        "{done:#?}"
    );
    // With the feature `keyring`, and on a machine without one, it goes on with the file that has them.
    assert!(done.stdout.contains("logged in to s · rights: read · placet renews the login"), "{done:#?}");
    place.run(["mcp", "test", "s"]).code(0).says("safe 1, 1 tool");
    assert!(call(&place).stdout.contains("acted for read"));
    place.run(["mcp", "list"]).code(0).says("· logged in ·");
    for path in login_files(&place) {
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{path:?}");
    }
    let log = server.log();
    let to_auth: Vec<&String> = log.iter().filter(|line| line.starts_with("auth ")).collect();
    // The page has the resource, a state and the challenge; the code was exchanged with its proof.
    assert!(
        to_auth.iter().any(|line| line.contains("code_challenge_method=S256") && line.contains("resource="))
    );
    assert!(
        to_auth
            .iter()
            .any(|line| line.contains("code_verifier=") && line.contains("grant_type=authorization_code"))
    );
    assert!(to_auth.iter().all(|line| !line.contains("canary-access")), "{to_auth:#?}");
    assert!(
        log.iter().filter(|line| line.starts_with("server ")).all(|line| !line.contains("canary-refresh"))
    );
    let shown = place.run(["config", "show"]).code(0);
    hides_secrets(&shown);
    // Without the login the server is as it was, and the authorization server knows.
    place.run(["mcp", "logout", "s"]).code(0).says("removed the login at s");
    assert!(
        server
            .log()
            .iter()
            .any(|line| line.starts_with("auth POST /revoke") && line.contains("canary-refresh"))
    );
    place.run(["mcp", "logout", "s"]).code(0).says("there was no login at s");
    place.run(["mcp", "test", "s"]).code(1);
}

#[test]
fn a_person_logs_in_and_out_in_the_shell() {
    if !require("python3") {
        return;
    }
    let server = LoginServer::start("secret");
    let url = format!("http://127.0.0.1:{}/mcp", server.ports.0);
    let config = format!(
        "provider = \"offline\"\n[mcp.servers.s]\nurl = \"{url}\"\n[mcp.servers.p]\ncommand = \"true\"\n"
    );
    let browser = format!("python3 {}", server.dir.path().join("browser.py").display());
    let start = shell().size(110, 40).arg("--mode").arg("ask").arg("--allow").arg("mcp(*)").config(&config);
    let mut pty = start.variable("BROWSER", &browser).open();
    pty.line("/mcp login p");
    pty.until("no login", |screen| screen.contains("the server `p` is a program"));
    pty.line("/mcp login s");
    pty.until("the login", |screen| {
        screen.contains("logged in to s · rights: read · placet renews the login")
    });
    let (port, issuer) = server.ports;
    let issuer = format!("the server s (127.0.0.1:{port}) wants a login at http://127.0.0.1:{issuer}");
    assert!(pty.transcript().contains(&issuer), "{}", pty.transcript());
    assert!(!pty.transcript().contains("canary"), "{}", pty.transcript());
    pty.until_prompt("");
    pty.line("/mcp");
    pty.until("the state", |screen| screen.contains("logged in"));
    pty.line("/mcp logout s");
    pty.until("the end", |screen| screen.contains("removed the login at s"));
    pty.line("/mcp logout s");
    pty.until("no login", |screen| screen.contains("there was no login at s"));
    pty.line("/quit");
}

/// The person closes the browser: Ctrl-C gives the line back, and nothing is stored.
#[test]
fn a_login_in_the_shell_that_nobody_finishes_is_stopped_by_ctrl_c() {
    if !require("python3") {
        return;
    }
    let server = LoginServer::start("secret");
    let url = format!("http://127.0.0.1:{}/mcp", server.ports.0);
    let config = format!("provider = \"offline\"\n[mcp.servers.s]\nurl = \"{url}\"\n");
    let mut pty = shell().size(110, 40).config(&config).variable("BROWSER", "true").open();
    pty.line("/mcp login s");
    pty.until("the wait", |screen| screen.contains("waiting for the browser; Ctrl-C stops"));
    pty.by_hand("\x03");
    pty.until("the end", |screen| screen.contains("stopped: no login at s"));
    pty.until_prompt("");
    pty.line("/mcp logout s");
    pty.until("no login", |screen| screen.contains("there was no login at s"));
    pty.line("/quit");
}

#[test]
fn a_token_that_expires_is_renewed_and_a_rejected_renewal_asks_for_a_login() {
    if !require("python3") {
        return;
    }
    let server = LoginServer::start("short secret");
    let place = server.place("");
    server.log_in(&place, &[]).code(0);
    for _ in 0..2 {
        assert!(call(&place).stdout.contains("acted for read"));
    }
    let renewals = |server: &LoginServer| {
        server.log().iter().filter(|line| line.contains("grant_type=refresh_token")).count()
    };
    assert!(renewals(&server) >= 2, "{:#?}", server.log());
    let ended = LoginServer::start("short end");
    let place = ended.place("");
    ended.log_in(&place, &[]).code(0);
    let refused = place.run(["mcp", "test", "s"]).code(1);
    assert!(refused.stderr.contains("placet mcp login s"), "{refused:#?}");
    place.run(["mcp", "list"]).code(0).says("needs login: placet mcp login s");
    assert_eq!(renewals(&ended), 1, "a rejected token was sent again: {:#?}", ended.log());
    ended.log_in(&place, &[]).code(0);
}

#[test]
fn a_call_that_needs_more_rights_names_them_and_the_next_login_asks_for_all() {
    if !require("python3") {
        return;
    }
    let server = LoginServer::start("scope");
    let place = server.place("");
    server.log_in(&place, &[]).code(0);
    let refused = call(&place);
    assert!(refused.stdout.contains("your login does not give it the right `write`"), "{refused:#?}");
    place.run(["mcp", "list"]).code(0).says("needs login: placet mcp login s");
    server.log_in(&place, &[]).code(0).says("rights: read write");
    assert!(call(&place).stdout.contains("acted for read write"));
}

#[test]
fn the_address_can_be_pasted_where_no_browser_is() {
    if !require("python3") {
        return;
    }
    let server = LoginServer::start("");
    let place = server.place("");
    let mut running = place.placet(["mcp", "login", "s", "--no-browser"]).start();
    let page = running.line_where(|line| line.contains("/authorize?"));
    // A person opens the page on another machine, and the browser ends at an address that it cannot reach.
    let shown = Command::new("python3")
        .args(["-c", "import sys, http.client, urllib.parse as u\np = u.urlparse(sys.argv[1])\nc = http.client.HTTPConnection(p.netloc)\nc.request('GET', p.path + '?' + p.query)\nprint(c.getresponse().headers['location'])", page.trim()])
        .output()
        .unwrap();
    running.say(&String::from_utf8(shown.stdout).unwrap());
    let out = running.end().code(0);
    assert!(out.stdout.contains("logged in to s"), "{out:#?}");
    assert!(call(&place).stdout.contains("acted for read"));
    let wrong = place
        .placet(["mcp", "login", "s", "--no-browser", "--scope", "x"])
        .stdin("http://127.0.0.1:9/callback?code=x&state=y\n")
        .go();
    let wrong = wrong.code(1);
    assert!(
        wrong.stderr.contains("that is not the address to which the authorization server sent the browser"),
        "{wrong:#?}"
    );
}

#[test]
fn hostile_logins_get_nothing_and_are_named() {
    if !require("python3") {
        return;
    }
    for (script, expected) in [
        ("false-issuer", "says that it is the authorization server `http://127.0.0.1:9`"),
        ("mixed-up", "says that it is the authorization server `http://127.0.0.1:9`"),
        ("elsewhere", "does not describe this server"),
        ("no-pkce", "does not say that it supports PKCE with S256"),
        ("bad-page", "the address `file:///etc/passwd` of its authorization server is not one of https"),
        ("long-page", "its authorization server has an address of more than 8000 bytes"),
        ("large", "longer than 262144 bytes"),
        ("large-token", "did not give a token: 127.0.0.1:"),
        ("refuse", "did not register placet"),
        ("unregistered", "set `oauth_client_id`"),
        ("deny", "the authorization server refused the login: not"),
        ("crooked", "it has characters that a header cannot have"),
        ("hung", "it did not answer within 20 s"),
    ] {
        let server = LoginServer::start(script);
        let place = server.place("");
        let out = server.log_in(&place, &[]).code(1);
        assert!(out.stderr.contains(expected), "{script}: {out:#?}");
        // Nothing of a login is stored, and no code was given away to be exchanged by somebody else.
        place.run(["mcp", "test", "s"]).code(1);
        let has_exchanged = server.log().iter().any(|line| line.contains("grant_type="));
        assert!(
            !has_exchanged || ["crooked", "large-token"].contains(&script),
            "{script}: {:#?}",
            server.log()
        );
    }
}

#[test]
fn a_login_that_cannot_be_stored_or_used_says_so_and_a_logout_removes_it() {
    if !require("python3") {
        return;
    }
    let server = LoginServer::start("");
    let place = server.place("");
    server.log_in(&place, &[]).code(0);
    let has_tokens = |file: &PathBuf| std::fs::read_to_string(file).is_ok_and(|text| text.contains("token"));
    let file = login_files(&place).into_iter().find(has_tokens).unwrap();
    for damage in ["", "{\"url\": \"canary\u{1b}[31m", "[]"] {
        std::fs::write(&file, damage).unwrap();
        place.run(["mcp", "list"]).code(0).says("its stored login cannot be used: placet mcp logout s");
        let out = call(&place);
        assert!(out.stderr.contains("cannot use the stored login: `"), "{out:#?}");
        assert!(!out.stderr.contains("cannot be renewed"), "{out:#?}");
        let again = server.log_in(&place, &[]).code(1);
        assert!(again.stderr.contains("`placet mcp logout s` removes the stored login"), "{again:#?}");
        place.run(["mcp", "logout", "s"]).code(0).says("removed the login at s");
        assert!(!file.exists());
        server.log_in(&place, &[]).code(0);
        assert!(call(&place).stdout.contains("acted for read"));
    }
    // In the place of the lock is a directory: nothing can be stored.
    place.run(["mcp", "logout", "s"]).code(0);
    let lock = file.with_extension("lock");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    let revoked = revocations(&server);
    let out = server.log_in(&place, &[]).code(1);
    assert!(out.stderr.contains("cannot log in to `s`: cannot store the login: "), "{out:#?}");
    assert!(out.stderr.contains("; the new login was revoked"), "{out:#?}");
    assert!(!out.stdout.contains("logged in to s") && !file.exists(), "{out:#?}");
    assert_eq!(revocations(&server), revoked + 1);
}

fn revocations(server: &LoginServer) -> usize {
    server.log().iter().filter(|line| line.starts_with("auth POST /revoke")).count()
}

/// Where the new content of a login's file would be written, is a directory.
fn break_store(login: &Path) -> PathBuf {
    let new = login.with_file_name(format!(".{}.placet-new", login.file_name().unwrap().display()));
    std::fs::create_dir(&new).unwrap();
    new
}

#[test]
fn a_renewed_login_that_cannot_be_stored_is_used_and_revoked_at_the_end() {
    if !require("python3") {
        return;
    }
    for (script, end) in [
        ("short", "could not be stored and was revoked: `placet mcp login s` makes another one"),
        ("short irrevocable", "is lost; its authorization server did not revoke it: `placet mcp login s`"),
    ] {
        let server = LoginServer::start(script);
        let place = server.place("");
        server.log_in(&place, &[]).code(0);
        let file = login_files(&place).into_iter().find(|path| path.extension().is_some_and(|e| e == "json"));
        let broken = break_store(&file.unwrap());
        // Each token lasts a second, and is renewed before each request: with the one that is not stored.
        let out = call(&place).code(0);
        assert!(out.stdout.contains("acted for read"), "{out:#?}");
        let told = ": the new login at s is used until placet ends";
        assert!(out.stderr.contains("cannot store the login: ") && out.stderr.contains(told), "{out:#?}");
        assert_eq!(out.stderr.matches(told).count(), 1, "{out:#?}");
        assert!(out.stderr.contains(end), "{out:#?}");
        assert_eq!(revocations(&server), usize::from(script == "short"), "{:#?}", server.log());
        // The stored token was used up: a login is needed, and is all that is needed.
        std::fs::remove_dir(broken).unwrap();
        let after = place.run(["mcp", "test", "s"]).code(1);
        assert!(after.stderr.contains("placet mcp login s"), "{after:#?}");
        server.log_in(&place, &[]).code(0);
        assert!(call(&place).stdout.contains("acted for read"));
    }
}

#[test]
fn a_login_in_the_shell_that_cannot_be_stored_lasts_until_it_can_or_until_the_end() {
    if !require("python3") {
        return;
    }
    let server = LoginServer::start("");
    let url = format!("http://127.0.0.1:{}/mcp", server.ports.0);
    let config = format!("provider = \"offline\"\n[mcp.servers.s]\nurl = \"{url}\"\n");
    let browser = format!("python3 {}", server.dir.path().join("browser.py").display());
    let start = shell().size(120, 40).arg("--mode").arg("ask").arg("--allow").arg("mcp(*)").config(&config);
    let mut pty = start.variable("BROWSER", &browser).open();
    pty.line("/mcp login s");
    pty.until("the login", |screen| screen.contains("logged in to s ·"));
    pty.until_prompt("");
    let state = pty.home().join(".local/state/placet/mcp");
    let found = std::fs::read_dir(&state).unwrap().map(|entry| entry.unwrap().path());
    let file = found.filter(|path| path.extension().is_some_and(|e| e == "json")).last().unwrap();
    pty.line("/mcp logout s");
    pty.until("the end", |screen| screen.contains("removed the login at s"));
    pty.until_prompt("");
    let broken = break_store(&file);
    let revoked = revocations(&server);
    pty.line("/mcp login s");
    pty.until("the login", |screen| screen.contains("· until placet ends: cannot store the login: "));
    pty.until_prompt("");
    pty.line("call s__act {}");
    pty.until("the call", |screen| screen.contains("acted for read"));
    pty.until("the reason", |screen| screen.contains(": the new login at s is used until placet ends"));
    pty.until_prompt("");
    std::fs::remove_dir(&broken).unwrap();
    pty.line("call s__act {}");
    pty.until("the store", |screen| screen.contains("the login at s is stored now"));
    pty.until_prompt("");
    assert!(file.exists());
    assert_eq!(revocations(&server), revoked);
    std::fs::remove_file(&file).unwrap();
    break_store(&file);
    pty.line("/mcp login s");
    pty.until("the login", |screen| {
        screen.rsplit("/mcp login s").next().is_some_and(|new| new.contains("· until placet ends: "))
    });
    pty.until_prompt("");
    pty.line("/quit");
    pty.ended();
    assert!(
        pty.transcript().contains("the login at s could not be stored and was revoked"),
        "{}",
        pty.transcript()
    );
    assert!(!pty.transcript().contains("canary"), "{}", pty.transcript());
    assert_eq!(revocations(&server), revoked + 1);
}

#[test]
fn hostile_change_of_the_authorization_server_is_refused_until_the_person_logs_out() {
    if !require("python3") {
        return;
    }
    let server = LoginServer::start("switch short");
    let place = server.place("");
    server.log_in(&place, &[]).code(0);
    let count = server.log().len();
    let out = server.log_in(&place, &["--scope", "more"]).code(1);
    assert!(out.stderr.contains("its authorization server is `http://127.0.0.2:"), "{out:#?}");
    assert!(out.stderr.contains("`placet mcp logout s` first"), "{out:#?}");
    // The renewal goes where the tokens came from, whatever the server names now.
    assert!(call(&place).stdout.contains("acted for read"));
    let log = server.log();
    assert!(log.iter().skip(count).any(|line| line.contains("grant_type=refresh_token")), "{log:#?}");
}

#[test]
fn a_key_in_the_settings_a_program_and_an_open_server_have_no_login() {
    if !require("python3") {
        return;
    }
    let server = LoginServer::start("");
    let keyed = server.place("headers = [\"Authorization: Bearer canary-own\"]");
    let out = server.log_in(&keyed, &[]).code(1);
    assert!(out.stderr.contains("remove the header `Authorization`"), "{out:#?}");
    let refused = keyed.run(["mcp", "test", "s"]).code(1);
    assert!(refused.stderr.contains("it wants a key in `headers`, or another one"), "{refused:#?}");
    let program = Place::new().config("provider = \"offline\"\n[mcp.servers.s]\ncommand = \"true\"\n");
    program.run(["mcp", "login", "s"]).code(2).warns("only servers with a `url` have a login");
    program.run(["mcp", "login", "t"]).code(1).warns("no server `t`");
    let own = server.place("oauth_client_id = \"mine\"\noauth_client_secret = \"${LOGIN_SECRET}\"");
    let browser = format!("python3 {}", server.dir.path().join("browser.py").display());
    let out = own
        .placet(["mcp", "login", "s"])
        .env("BROWSER", browser)
        .env("LOGIN_SECRET", "canary-own")
        .go()
        .code(0);
    hides_secrets(&out);
    let log = server.log();
    assert!(
        log.iter().any(|line| line.contains("client_id=mine"))
            && log.iter().all(|line| !line.contains("POST /register")),
        "{log:#?}"
    );
}
