//! `placet setup` with the real program in a terminal, against servers on loopback: the key goes to its server and to one
//! file, and whatever is interrupted leaves everything as it was.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::{Pty, Start, shell};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

const KEY: &str = "sk-canary-0123456789abcdef";

fn models() -> Reply {
    Reply::json(200, &json!({"data": [{"id": "tiny"}, {"id": "claude-sonnet-5-5"}, {"id": "vast"}]}))
}

fn refused() -> Reply {
    Reply::error(401, "authentication_error", &format!("invalid x-api-key {KEY}"))
}

/// A home in which `anthropic` is a server on loopback.
fn settings(server: &MockServer) -> String {
    format!(
        "# mine\nui.theme = \"dark\" # dark rooms\n\n[providers.anthropic]\nbase_url = \"{}\"\n",
        server.url()
    )
}

fn start(config: &str) -> Start {
    shell().size(100, 30).config(config)
}

fn config_file(home: &Path) -> PathBuf {
    home.join(".config/placet/config.toml")
}

fn keys_file(home: &Path) -> PathBuf {
    home.join(".config/placet/keys.toml")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

fn snapshot(name: &str, text: &str) {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    insta::with_settings!({ snapshot_path => "../snapshots" }, {
        insta::assert_snapshot!(name, lines.join("\n"));
    });
}

fn enter(pty: &mut Pty) {
    std::thread::sleep(Duration::from_millis(80));
    pty.send("\r");
}

/// The Enter of a question that asks for consent, once it counts.
fn consent(pty: &mut Pty) {
    pty.until("an Enter to count", |s| s.contains("Enter choose"));
    pty.send("\r");
}

fn paste(pty: &mut Pty, text: &str) {
    pty.send(&format!("\x1b[200~{text}\x1b[201~"));
}

fn find(pty: &mut Pty, what: &str, typed: &str) {
    pty.until(what, |s| s.contains(what));
    pty.send(typed);
    pty.until("what matches", |s| s.contains(&format!("❯ {typed}")));
    enter(pty);
}

/// From the list of providers to the question about the model, with `anthropic` and a pasted key.
fn to_the_models(pty: &mut Pty) {
    find(pty, "Which provider?", "anthropic");
    pty.until("the ways", |s| s.contains("Where is the API key for anthropic?"));
    enter(pty);
    pty.until("the field", |s| s.contains("Paste the key of anthropic"));
    paste(pty, KEY);
    pty.until("the dots", |s| s.contains("26 characters"));
    enter(pty);
}

/// The key is in its file and nowhere else below the home.
fn assert_only_in_the_key_file(pty: &Pty) {
    let canary = &KEY[3..20];
    let mut dirs = vec![pty.home().to_path_buf(), pty.tree.path().to_path_buf()];
    while let Some(dir) = dirs.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                dirs.push(path);
            } else if path != keys_file(pty.home()) {
                let bytes = std::fs::read(&path).unwrap_or_default();
                assert!(!String::from_utf8_lossy(&bytes).contains(canary), "{}", path.display());
            }
        }
    }
    assert!(!String::from_utf8_lossy(&pty.raw()).contains(canary), "the key was on the screen");
}

#[test]
fn a_provider_a_key_and_a_model_are_written_and_the_next_message_uses_them() {
    let server =
        MockServer::start([refused(), models(), Reply::anthropic(&[Say::Text("Hello from setup.")])]);
    let before = settings(&server);
    let mut pty = start(&before).arg("-vv").arg("setup").spawn();
    to_the_models(&mut pty);
    pty.until("the refusal", |s| s.contains("refused the key (HTTP 401)") && s.contains("use another key"));
    assert_eq!(read(&config_file(pty.home())), before);
    assert!(!keys_file(pty.home()).exists());
    enter(&mut pty);
    pty.until("the ways", |s| s.contains("Where is the API key for anthropic?"));
    // A key that is pasted here is taken as the key, and not as a search.
    paste(&mut pty, &format!("{KEY}\n"));
    pty.until("the models", |s| s.contains("Which model?") && s.contains("default · window"));
    snapshot("setup_models", &pty.screen());
    pty.send("va");
    pty.until("the match", |s| s.contains("1 of 3"));
    enter(&mut pty);
    pty.until("the difference", |s| s.contains("Write this into") && s.contains("Enter choose"));
    let shown =
        pty.screen().replace(&pty.home().display().to_string(), "[HOME]").replace(&server.url(), "[URL]");
    snapshot("setup_confirm", &shown);
    assert_eq!(read(&config_file(pty.home())), before, "nothing is written before the answer");
    consent(&mut pty);
    assert_eq!(pty.ended(), 0);
    assert!(pty.transcript().contains("anthropic with vast answers from now on"), "{}", pty.transcript());
    assert!(pty.is_cooked());
    let after = read(&config_file(pty.home()));
    assert!(after.starts_with("# mine\nui.theme = \"dark\" # dark rooms\n"), "{after}");
    assert!(after.contains("provider = \"anthropic\"\n") && after.contains("model = \"vast\"\n"), "{after}");
    for file in [config_file(pty.home()), keys_file(pty.home())] {
        assert_eq!(
            std::fs::metadata(&file).unwrap().permissions().mode() & 0o777,
            0o600,
            "{}",
            file.display()
        );
    }
    assert_eq!(read(&keys_file(pty.home())), format!("anthropic = \"{KEY}\"\n"));
    assert_only_in_the_key_file(&pty);
    assert_eq!(server.requests()[1].headers["x-api-key"], KEY);
    let mut again = shell().size(100, 30).after(pty).open();
    again.line("hello");
    again.until("the answer", |s| s.contains("Hello from setup."));
    assert_eq!(server.requests()[2].body["model"], "vast");
}

#[test]
fn leaving_at_any_question_changes_nothing() {
    for question in 0..6 {
        let server = MockServer::start([models()]);
        let before = settings(&server);
        let mut pty = start(&before).arg("setup").spawn();
        pty.until("the first question", |s| s.contains("Which provider?"));
        if question > 0 {
            find(&mut pty, "Which provider?", "anthropic");
            pty.until("the second", |s| s.contains("Where is the API key"));
        }
        if question > 1 {
            enter(&mut pty);
            pty.until("the third", |s| s.contains("Paste the key"));
            paste(&mut pty, KEY);
            pty.until("the dots", |s| s.contains("26 characters"));
        }
        if question > 2 {
            enter(&mut pty);
            pty.until("the fourth", |s| s.contains("Which model?"));
        }
        if question > 3 {
            enter(&mut pty);
            pty.until("the last", |s| s.contains("Write this into"));
        }
        // At the last question once with the key that leaves and once with the answer that writes nothing.
        match question {
            5 => {
                pty.send("\x1b[B");
                pty.until("the other answer", |s| s.contains("❯ leave everything as it is"));
                consent(&mut pty);
            }
            _ => pty.send("\x03"),
        }
        assert_eq!(pty.ended(), 130, "question {question}");
        assert!(pty.transcript().contains("nothing was changed"), "{}", pty.transcript());
        assert_eq!(read(&config_file(pty.home())), before, "question {question}");
        assert!(!keys_file(pty.home()).exists(), "question {question}");
        assert!(pty.is_cooked());
        assert_only_in_the_key_file(&pty);
    }
}

/// A process that is killed while it writes leaves the new content next to the file.
#[test]
fn a_start_removes_the_key_that_a_killed_setup_left() {
    let mut pty = start("").arg("setup").spawn();
    pty.until("the first question", |s| s.contains("Which provider?"));
    let left = [".keys.toml.placet-new", ".config.toml.placet-new"]
        .map(|name| keys_file(pty.home()).with_file_name(name));
    pty.send("\x03");
    assert_eq!(pty.ended(), 130);
    left.iter().for_each(|path| std::fs::write(path, format!("anthropic = \"{KEY}\"\n")).unwrap());
    let mut pty = start("").after(pty).arg("setup").spawn();
    pty.until("the first question", |s| s.contains("Which provider?"));
    pty.send("\x03");
    assert_eq!(pty.ended(), 130);
    assert!(left.iter().all(|path| !path.exists()));
}

#[test]
fn a_silent_server_is_left_with_escape_and_a_server_that_is_not_there_is_explained() {
    let server = MockServer::start([Reply::nothing()]);
    let mut pty = start(&settings(&server)).arg("setup").spawn();
    to_the_models(&mut pty);
    pty.until("the wait", |s| s.contains("for its models") && s.contains("Esc stop"));
    pty.send("\x1b");
    pty.until("the question before", |s| s.contains("Paste the key of anthropic"));
    assert!(server.wait_for_hangups(1, Duration::from_secs(20)), "the request goes on");
    pty.send("\x03");
    assert_eq!(pty.ended(), 130);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut pty =
        start(&format!("[providers.anthropic]\nbase_url = \"http://{gone}\"\n")).arg("setup").spawn();
    to_the_models(&mut pty);
    pty.until("the reason", |s| s.contains("no connection to 127.0.0.1") && s.contains("connection refused"));
    pty.until("the advice", |s| s.contains("start the server on this machine, and check the address"));
}

#[test]
fn a_server_of_ones_own_without_a_list_and_without_a_key() {
    let server = MockServer::start([Reply::error(404, "not_found", "no such path")]);
    let mut pty = shell().size(100, 24).arg("setup").spawn();
    // Story: nobody found this entry: it was the last of a long list, and only its name could be searched for.
    pty.until("the list", |s| s.contains("Which provider?"));
    assert!(pty.screen().contains("a server of my own"), "{}", pty.screen());
    for words in ["compat", "url"] {
        pty.send(words);
        pty.until("what is found", |s| {
            s.contains(&format!("❯ {words}")) && s.contains("❯ a server of my own")
        });
        pty.send("\x15");
        pty.until("the whole list", |s| !s.contains(&format!("❯ {words}")));
    }
    find(&mut pty, "Which provider?", "my own");
    pty.until("the address", |s| s.contains("base URL"));
    pty.send("ftp://nowhere");
    enter(&mut pty);
    pty.until("what is wrong", |s| s.contains("begins with http:// or https://"));
    pty.send(&format!("\x15{}/v1", server.url()));
    enter(&mut pty);
    pty.until("the format", |s| s.contains("Which API does the server have?"));
    enter(&mut pty);
    pty.until("the name", |s| s.contains("called in your settings"));
    pty.send("\x15openai");
    enter(&mut pty);
    pty.until("a name that is taken", |s| s.contains("a provider of this name exists"));
    pty.send("\x15lab");
    enter(&mut pty);
    pty.until("the ways", |s| s.contains("Where is the API key for lab?") && s.contains("❯ no key"));
    enter(&mut pty);
    pty.until("no list", |s| s.contains("has no list of models (HTTP 404)"));
    pty.send("my-model");
    enter(&mut pty);
    pty.until("the difference", |s| s.contains("Write this into") && s.contains("+provider = \"lab\""));
    consent(&mut pty);
    assert_eq!(pty.ended(), 0);
    let text = read(&config_file(pty.home())).replace(&server.url(), "[URL]");
    snapshot("setup_own_server", &text);
    assert!(!keys_file(pty.home()).exists());
    assert!(!server.requests()[0].headers.contains_key("authorization"));
}

/// Story: a pasted address was appended to the suggested one, and the only sign of it was a failed connection, for which
/// placet proposed another key.
#[test]
fn a_pasted_address_replaces_the_suggested_one_and_can_be_corrected() {
    let server = MockServer::start([models()]);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut pty = shell().size(100, 24).arg("setup").spawn();
    pty.until("both APIs of one address", |s| {
        s.contains("Responses · api.openai.com") && s.contains("Chat Completions · api.openai.com")
    });
    find(&mut pty, "Which provider?", "my own");
    pty.until("the suggestion", |s| s.contains("❯ http://localhost:8000/v1"));
    paste(&mut pty, &format!("http://{gone}/v1"));
    pty.until("the pasted address alone", |s| s.contains(&format!("❯ http://{gone}/v1")));
    pty.send("https://twice");
    enter(&mut pty);
    pty.until("the refusal", |s| s.contains("it contains `://` twice") && s.contains("v1https://twice"));
    pty.send(&"\x7f".repeat("https://twice".len()));
    enter(&mut pty);
    pty.until("the format", |s| s.contains("Which API does the server have?"));
    enter(&mut pty);
    pty.until("the name", |s| s.contains("called in your settings"));
    pty.send("lab");
    enter(&mut pty);
    pty.until("the ways", |s| s.contains("Where is the API key for lab?"));
    enter(&mut pty);
    pty.until("the first choice", |s| s.contains("connection refused") && s.contains("❯ change the address"));
    enter(&mut pty);
    pty.until("the address", |s| s.contains("base URL") && s.contains(&format!("❯ http://{gone}/v1")));
    paste(&mut pty, &format!("{}/v1", server.url()));
    enter(&mut pty);
    pty.until("the format", |s| s.contains("Which API does the server have?"));
    enter(&mut pty);
    pty.until("the name", |s| s.contains("called in your settings"));
    pty.send("lab");
    enter(&mut pty);
    pty.until("the ways", |s| s.contains("Where is the API key for lab?"));
    enter(&mut pty);
    pty.until("the models", |s| s.contains("Which model?") && s.contains("tiny"));
}

#[test]
fn a_command_and_a_variable_can_name_the_key() {
    let server = MockServer::start([models(), models()]);
    let mut pty = start(&settings(&server)).variable("WORK_KEY", KEY).arg("setup").spawn();
    find(&mut pty, "Which provider?", "anthropic");
    find(&mut pty, "Where is the API key", "command");
    pty.until("the command", |s| s.contains("Which command prints the key?"));
    pty.send("echo locked >&2; exit 3");
    enter(&mut pty);
    pty.until("why it fails", |s| s.contains("the key command failed") && s.contains("locked"));
    enter(&mut pty);
    find(&mut pty, "Where is the API key", "command");
    pty.until("the command", |s| s.contains("Which command prints the key?"));
    pty.send("printenv WORK_KEY");
    enter(&mut pty);
    pty.until("the models", |s| s.contains("Which model?") && s.contains("printed by `printenv WORK_KEY`"));
    pty.send("\x1b");
    pty.until("back", |s| s.contains("Which command prints the key?"));
    pty.send("\x1b");
    find(&mut pty, "Where is the API key", "variable");
    pty.until("the variable", |s| s.contains("Which environment variable"));
    enter(&mut pty);
    pty.until("it is not set", |s| s.contains("ANTHROPIC_API_KEY is not set in this shell"));
    pty.send("\x15WORK_KEY");
    enter(&mut pty);
    pty.until("the models", |s| s.contains("Which model?"));
    enter(&mut pty);
    pty.until("the difference", |s| s.contains("+key_env = \"WORK_KEY\""));
    consent(&mut pty);
    assert_eq!(pty.ended(), 0);
    assert!(!keys_file(pty.home()).exists());
    assert_only_in_the_key_file(&pty);
}

/// Story: of a key that a command prints or a variable has, a server could make the name of a model.
#[test]
fn a_model_whose_name_is_the_key_is_not_listed() {
    let hostile =
        || Reply::json(200, &json!({"data": [{"id": KEY}, {"id": "tiny"}, {"id": format!("x/{KEY}")}]}));
    let server = MockServer::start([hostile(), hostile()]);
    let mut pty = start(&settings(&server)).variable("WORK_KEY", KEY).arg("setup").spawn();
    find(&mut pty, "Which provider?", "anthropic");
    find(&mut pty, "Where is the API key", "command");
    pty.until("the command", |s| s.contains("Which command prints the key?"));
    pty.send("printenv WORK_KEY");
    enter(&mut pty);
    pty.until("the models", |s| s.contains("Which model?") && s.contains("tiny"));
    pty.send("\x1b\x1b");
    find(&mut pty, "Where is the API key", "variable");
    pty.until("the variable", |s| s.contains("Which environment variable"));
    pty.send("\x15WORK_KEY");
    enter(&mut pty);
    pty.until("the models", |s| s.contains("Which model?") && s.contains("tiny"));
    assert_only_in_the_key_file(&pty);
}

/// What is typed before a question is on the screen does not answer it.
fn at_question(pty: &Pty) {
    pty.until("the question", |s| s.trim_end().ends_with(':'));
}

#[test]
fn without_a_screen_the_questions_are_numbered_and_the_key_is_not_shown() {
    for dumb in [false, true] {
        let server = MockServer::start([models()]);
        let start = start(&settings(&server)).arg("setup");
        let mut pty = if dumb { start.variable("TERM", "dumb") } else { start.arg("--linear") }.spawn();
        pty.until("the providers", |s| s.contains("1: anthropic") && s.contains("a number, words to search"));
        at_question(&pty);
        pty.line("1");
        pty.until("the ways", |s| s.contains("1: paste the key"));
        at_question(&pty);
        pty.line("1");
        pty.until("the key", |s| s.contains("Paste the key of anthropic (nothing is shown):"));
        std::thread::sleep(Duration::from_millis(80));
        paste(&mut pty, KEY);
        std::thread::sleep(Duration::from_millis(80));
        pty.send("\r");
        pty.until("the models", |s| s.contains("1: claude-sonnet-5-5, default"));
        at_question(&pty);
        pty.line("vast");
        pty.until("the match", |s| s.contains("1: vast"));
        at_question(&pty);
        pty.line("1");
        pty.until("the difference", |s| s.contains("+model = \"vast\"") && s.contains("1: write it"));
        at_question(&pty);
        pty.line("1");
        assert_eq!(pty.ended(), 0, "{}", pty.transcript());
        assert_eq!(read(&keys_file(pty.home())), format!("anthropic = \"{KEY}\"\n"));
        assert_only_in_the_key_file(&pty);
    }
}

#[test]
fn without_a_terminal_it_says_what_to_write_instead() {
    let place = Place::new();
    let out = place.run(["setup"]).code(2);
    out.warns("needs a terminal")
        .warns("provider = \"anthropic\"")
        .warns("placet config init --key anthropic");
    place.config("not toml").run(["setup"]).code(2);
}

#[test]
fn a_key_file_that_is_a_link_and_a_settings_file_that_changed_are_not_written() {
    let server = MockServer::start([models(), models()]);
    let before = settings(&server);
    let start = start(&before).arg("setup");
    let mut pty = start.spawn();
    std::os::unix::fs::symlink("/tmp/elsewhere", keys_file(pty.home())).unwrap();
    to_the_models(&mut pty);
    pty.until("the models", |s| s.contains("Which model?"));
    enter(&mut pty);
    pty.until("the difference", |s| s.contains("Write this into"));
    consent(&mut pty);
    pty.until("the refusal", |s| s.contains("is a symbolic link"));
    assert_eq!(read(&config_file(pty.home())), before);
    std::fs::remove_file(keys_file(pty.home())).unwrap();
    std::fs::write(config_file(pty.home()), format!("{before}# more\n")).unwrap();
    consent(&mut pty);
    pty.until("the change", |s| s.contains("was changed in the meantime; nothing was written"));
    assert!(!keys_file(pty.home()).exists());
    consent(&mut pty);
    assert_eq!(pty.ended(), 0);
    assert!(read(&config_file(pty.home())).ends_with("# more\n"));
}

#[test]
fn in_the_shell_the_conversation_goes_on_with_the_new_model() {
    let server = MockServer::start([models(), Reply::anthropic(&[Say::Text("I am vast.")])]);
    let mut pty = start(&settings(&server)).open();
    pty.line("what is this?");
    pty.until("one line", |s| s.contains("no model yet, so nothing was sent: /setup adds a model"));
    pty.until_prompt("");
    pty.line("/setup");
    to_the_models(&mut pty);
    pty.until("the models", |s| s.contains("Which model?"));
    pty.send("va");
    pty.until("the match", |s| s.contains("1 of 3"));
    enter(&mut pty);
    pty.until("the difference", |s| s.contains("Write this into"));
    consent(&mut pty);
    pty.until("the switch", |s| s.contains("anthropic with vast from the next message on"));
    // Story: three notes named the model, a hint told how to start the shell, and what was typed first was gone.
    pty.until_prompt("what is this?");
    let said = pty.transcript();
    assert!(said.contains("wrote the settings to "), "{said}");
    for other in ["answers from now on", "starts the shell"] {
        assert!(!said.contains(other), "{said}");
    }
    pty.send("\x03");
    pty.until_prompt("");
    pty.line("who are you?");
    pty.until("the answer", |s| s.contains("I am vast."));
    pty.until_prompt("");
    assert_eq!(server.requests()[1].headers["x-api-key"], KEY);
    assert_only_in_the_key_file(&pty);
    pty.line("/setup");
    pty.until("what there is", |s| s.contains("Now: anthropic with vast") && s.contains("in use"));
    pty.send("\x03");
    pty.until("unchanged", |s| s.contains("nothing was changed"));
    pty.until_prompt("");
}
