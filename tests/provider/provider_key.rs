//! A key travels in one header and is found nowhere else: not in a file, a log, an export, a recording, a request's body,
//! a command's environment, or anything that is shown, whatever the server says about it.

use crate::support::binary::{Out, Place};
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::talk::{ALL_WIRES, Wire};
use std::path::Path;

/// No secret by its shape, so that nothing but knowing it can hide it.
const CANARY: &str = "canary0bird1sings2never3";

fn config(wire: Wire, url: &str) -> String {
    let dialect = match wire {
        Wire::Anthropic => "anthropic",
        Wire::OpenAi => "openai-chat",
        Wire::Responses => "openai-responses",
        Wire::Gemini => "gemini",
    };
    format!(
        "provider = \"mine\"\ncontext_window = 50000\nnetwork.attempts = 2\nmode = \"write\"\nsandbox.backend = \"snapshot\"\n\
         [permission]\nallow = [\"run(*)\"]\n\
         [providers.mine]\ndialect = \"{dialect}\"\nbase_url = \"{url}\"\nmodel = \"m\"\nkey_env = \"BIRD\"\n"
    )
}

fn nowhere(dir: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            nowhere(&path, found);
        } else if let Ok(bytes) = std::fs::read(&path)
            && bytes.windows(CANARY.len()).any(|window| window == CANARY.as_bytes())
        {
            found.push(path.display().to_string());
        }
    }
}

fn silent(out: Out) -> Out {
    assert!(!out.stdout.contains(CANARY) && !out.stderr.contains(CANARY), "{out:#?}");
    out
}

#[test]
fn the_key_is_in_one_header_of_a_request_and_nowhere_else() {
    for wire in ALL_WIRES {
        let said = format!("Incorrect API key provided: {CANARY}.");
        let server = MockServer::start([
            Reply::error(429, "rate_limit_error", &format!("too fast, {CANARY}")),
            wire.reply(&[Say::Call("c1", "run_command", r#"{"command":"env; echo $BIRD"}"#)]),
            wire.reply(&[Say::Text("done")]),
            Reply::error(401, "authentication_error", &said),
            Reply::new(502, "text/html").write(format!("<html><title>{CANARY}</title></html>")),
            Reply::new(502, "text/html").write(format!("<html><title>{CANARY}</title></html>")),
            wire.reply(&[Say::Text("ready")]),
            Reply::error(400, "invalid_request_error", &said),
            wire.reply(&[Say::Text("Red")]),
        ]);
        let place = Place::new().config(&config(wire, &server.url()));
        let run = |args: &[&str]| silent(place.placet(args).env("BIRD", CANARY).go());
        let recording = place.beside("recording.jsonl");
        run(&["-vv", "-p", "go", "--record", recording.to_str().unwrap()]).code(0).says("done");
        run(&["-vv", "-p", "again"]).code(4).warns("[key]");
        run(&["-vv", "-p", "and again"]).code(4).warns("[key]");
        run(&["doctor"]);
        run(&["provider", "list", "--json"]).code(0).says("in BIRD");
        run(&["provider", "test"]).code(4).says("[key]");
        run(&["config", "show", "--origin"]).code(0);
        let sessions = run(&["session", "list", "--json"]).code(0).json();
        for session in sessions.as_array().unwrap() {
            for format in ["markdown", "json"] {
                run(&["session", "export", session["id"].as_str().unwrap(), "--format", format]).code(0);
            }
        }
        run(&["audit", "export"]).code(0);
        let mut found = Vec::new();
        nowhere(&place.beside(""), &mut found);
        assert_eq!(found, Vec::<String>::new(), "{wire:?}");
        for request in server.requests() {
            let holding: Vec<&String> = request
                .headers
                .iter()
                .filter(|(_, value)| value.contains(CANARY))
                .map(|(name, _)| name)
                .collect();
            assert_eq!(holding.len(), 1, "{wire:?}: {holding:?}");
            assert!(!request.body.to_string().contains(CANARY) && !request.path.contains(CANARY), "{wire:?}");
        }
        assert_eq!(server.requests().len(), 9, "{wire:?}");
        assert!(server.requests()[2].body.to_string().contains("PATH="), "{wire:?}: the command ran");
    }
}

#[test]
fn a_key_from_the_key_file_or_a_command_is_as_silent() {
    let server = MockServer::start([
        Reply::error(401, "authentication_error", CANARY),
        Reply::error(401, "authentication_error", CANARY),
    ]);
    let place = Place::new().config(&format!(
        "network.attempts = 1\n[providers.mine]\nbase_url = \"{0}\"\nmodel = \"m\"\n\
         [providers.told]\nbase_url = \"{0}\"\nmodel = \"m\"\napi_key_command = \"cat ../secret\"\n",
        server.url()
    ));
    std::fs::write(place.beside("secret"), CANARY).unwrap();
    silent(place.placet(["config", "init", "--key", "mine"]).stdin(CANARY).go()).code(0);
    for name in ["mine", "told"] {
        silent(place.run(["-vv", "-p", "hi", "--provider", name])).code(4).warns("[key]");
    }
    let mut found = Vec::new();
    nowhere(&place.beside(""), &mut found);
    found.retain(|path| !path.ends_with("/keys.toml") && !path.ends_with("/secret"));
    assert_eq!(found, Vec::<String>::new());
}
