//! What a server needs of the machine: hosts at its start, and files at home.

use super::mcp_client::{SERVER, call, is_possible, place};
use crate::support::binary::Place;
use crate::support::pty::shell;

/// Settings of a server that starts only where a registry can be found, as `npx -y` does without a cache.
fn needing_a_host(server: &str) -> String {
    let script = format!(
        "getent hosts registry.npmjs.org >&2 || {{ echo ENOTFOUND >&2; exit 1; }}; exec python3 {server}"
    );
    format!("[mcp.servers.s]\ncommand = \"sh\"\nargs = [\"-c\", {script:?}]\n")
}

#[test]
fn a_host_that_a_start_needs_is_asked_about_and_a_rule_answers() {
    if !is_possible() {
        return;
    }
    let place = Place::new();
    let server = place.write("server.py", SERVER).display().to_string();
    let place = place.config(&format!("provider = \"offline\"\n{}", needing_a_host(&server)));
    let echo = "{\"text\": \"hello\"}";
    let refused = call(&place, "s__echo", echo, &["--mode", "ask"]);
    let refused =
        refused.warns("it may not connect to registry.npmjs.org").warns("its tools are not offered");
    assert!(!refused.stdout.contains("hello"), "{refused:#?}");
    let other = call(&place, "s__echo", echo, &["--mode", "ask", "--allow", "network(example.org)"]);
    assert!(!other.stdout.contains("hello"), "{other:#?}");
    let read = call(&place, "s__echo", echo, &["--mode", "read", "--allow", "network(registry.npmjs.org)"]);
    assert!(!read.stdout.contains("hello"), "{read:#?}");
    let tested = place.run(["mcp", "test", "s"]).code(1);
    tested.warns("hint: `hosts = [\"registry.npmjs.org\"]` in its settings allows what its start needs");
    let allowed = ["--mode", "ask", "--allow", "network(registry.npmjs.org)"];
    let out = call(&place, "s__echo", echo, &allowed);
    assert!(out.stdout.contains("hello"), "{out:#?}");
    let script = String::from(
        "[ -z \"$UV_OFFLINE\" ] || { echo 'unavailable because the network was disabled' >&2; exit 1; }; exec python3 server.py",
    );
    let uv = Place::new().config(&format!(
        "provider = \"offline\"\n[mcp.servers.s]\ncommand = \"sh\"\nargs = [\"-c\", {script:?}]\n"
    ));
    uv.write("server.py", SERVER);
    let both =
        ["--mode", "ask", "--allow", "network(pypi.org)", "--allow", "network(files.pythonhosted.org)"];
    let out = call(&uv, "s__echo", echo, &both);
    assert!(out.stdout.contains("hello"), "{out:#?}");
    // Its tools are stored now, and so the first call starts it.
    let out = call(&place, "s__echo", echo, &["--mode", "ask"]);
    assert!(out.stdout.contains("make the call again: the person is asked about these hosts"), "{out:#?}");
}

#[test]
fn always_for_a_server_lasts_for_the_session_and_is_for_this_server_only() {
    if !is_possible() {
        return;
    }
    let start = shell().size(110, 40).arg("--mode").arg("ask").arg("--allow").arg("mcp(*)");
    let mut pty = start.config(&needing_a_host("server.py")).file("server.py", SERVER).open();
    pty.line("call s__write {\"path\": \"a.txt\", \"text\": \"one\"}");
    pty.until("the question", |screen| screen.contains("the MCP server `s` wants to connect to"));
    let asked = pty.screen();
    assert!(asked.contains("always for the server s connecting to registry.npmjs.org"), "{asked}");
    pty.answer("a");
    pty.until("the answer", |screen| screen.contains("allowed for the server s: registry.npmjs.org"));
    pty.until("the apply question", |screen| screen.contains("apply?"));
    pty.answer("a");
    pty.until_prompt("");
    // The server has ended, because it changed a file: the next start needs the host again, and nobody is asked.
    pty.line("call s__count {}");
    pty.until("the failed start", |screen| screen.contains("make the call again"));
    pty.until_prompt("");
    pty.line("call s__count {}");
    pty.until("the second start", |screen| screen.contains("call 1"));
    pty.until_prompt("");
    pty.line("/permission");
    pty.until("the grant", |screen| screen.contains("the server s connecting to registry.npmjs.org"));
    pty.line("/quit");
}

#[test]
fn what_a_server_writes_at_home_is_kept_by_its_settings_or_named() {
    if !is_possible() {
        return;
    }
    let kept = place("", "keep = [\"~/.notes/\", \".bashrc\"]");
    kept.home_file(".notes/a.md", "old\n");
    let write = |place: &Place, name: &str, text: &str| {
        let path = place.home.join(name);
        let arguments = format!("{{\"path\": \"{}\", \"text\": \"{text}\"}}", path.display());
        call(place, "s__write", &arguments, &["--mode", "ask"])
    };
    let at_home = |place: &Place, name: &str| std::fs::read_to_string(place.home.join(name)).ok();
    write(&kept, ".notes/a.md", "new").warns("wrote to your home directory · kept ~/.notes/a.md");
    assert_eq!(at_home(&kept, ".notes/a.md").as_deref(), Some("new"));
    write(&kept, ".other", "x")
        .warns("the server `s` wrote ~/.other, which lasts until the session ends; `keep = [\".other\"]`");
    assert_eq!(at_home(&kept, ".other"), None);
    // A directory of data may have anything in it: what some program would run is not data.
    kept.home_file(".notes/.git/config", "");
    write(&kept, ".notes/.git/config", "[core]").warns("which lasts until the session ends");
    assert_eq!(at_home(&kept, ".notes/.git/config").as_deref(), Some(""));
    // Not by its own name, either.
    write(&kept, ".bashrc", "x").warns("session ends; no setting keeps what another program runs or obeys");
    assert_eq!(at_home(&kept, ".bashrc"), None);
    // In read mode nothing is.
    let path = kept.home.join(".notes/b.md");
    let arguments = format!("{{\"path\": \"{}\", \"text\": \"x\"}}", path.display());
    call(&kept, "s__write", &arguments, &["--mode", "read"]);
    assert!(!path.exists());
    let wrong = place("", "keep = [\"../x\"]").run(["mcp", "list"]);
    assert!(wrong.stderr.contains("`../x` is not a path below the home directory"), "{wrong:#?}");
}
