//! `placet provider`: what it lists, what it writes, and what it finds out by real calls to a server on loopback.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::talk::ALL_WIRES;
use serde_json::{Value, json};

#[test]
fn the_list_says_who_answers_and_where_each_key_is_and_shows_none() {
    let place =
        Place::new().config("[providers.mine]\nbase_url = \"http://127.0.0.1:1\"\nkey_env = \"MINE\"\n");
    let run = |args: &[&str]| {
        place.placet(args).env("DEEPSEEK_API_KEY", "sk-canary-1").env("MINE", "canary-2").go()
    };
    let out = run(&["provider", "list"]).code(0);
    let line = |name: &str| {
        let of = |l: &&str| l.trim_start_matches('*').trim_start().starts_with(name);
        out.stdout.lines().find(of).unwrap_or_else(|| panic!("{name}: {out:#?}")).to_string()
    };
    assert!(
        line("deepseek ").starts_with('*') && line("deepseek ").contains("in DEEPSEEK_API_KEY"),
        "{out:#?}"
    );
    assert!(line("mine ").contains("in MINE"));
    assert!(
        line("openai ").contains("openai-responses") && line("openai ").contains("none: set OPENAI_API_KEY")
    );
    assert!(line("ollama ").contains("none needed"));
    assert!(line("azure-openai ").contains("(set one)"));
    assert!(!out.stdout.contains("canary") && !out.stdout.contains("not running"));
    let json = run(&["provider", "list", "--json"]).code(0).json();
    let mine = json.as_array().unwrap().iter().find(|row| row["name"] == "mine").unwrap();
    let expected = json!({"name": "mine", "own": true, "answers": false, "dialect": "openai-chat",
        "base_url": "http://127.0.0.1:1", "model": null, "key": "there", "key_source": "in MINE"});
    assert_eq!(mine, &expected);
}

#[test]
fn servers_on_this_machine_are_looked_for_only_when_asked() {
    let models = json!({"data": [{"id": "a"}, {"id": "b"}]});
    let there = MockServer::start([Reply::json(200, &models)]);
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut config = String::new();
    for (name, url) in [
        ("ollama", there.url()),
        ("lmstudio", format!("http://{gone}")),
        ("vllm", format!("http://{gone}")),
        ("litellm", format!("http://{gone}")),
        ("openai-compatible", format!("http://{gone}")),
    ] {
        config.push_str(&format!("[providers.{name}]\nbase_url = \"{url}\"\n"));
    }
    let place = Place::new().config(&config);
    place.run(["provider", "list"]).code(0);
    assert!(there.requests().is_empty());
    let json = place.run(["provider", "list", "--discover", "--json"]).code(0).json();
    let found = |name: &str| {
        json.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()["discovered"].clone()
    };
    assert_eq!(found("ollama"), json!({"there": true, "models": ["a", "b"]}));
    assert_eq!(found("lmstudio")["there"], false);
    assert_eq!(found("anthropic"), Value::Null, "nobody outside of this machine is asked");
    assert_eq!(there.requests()[0].path, "/models");
}

#[test]
fn adding_and_removing_keeps_every_comment_and_stores_no_key() {
    let before = "# mine, since 2019\nmode = \"read\"   # careful\n\n[ui]\n# dark rooms\ntheme = \"dark\"\n";
    let place = Place::new().config(before);
    let path = place.config_dir().join("config.toml");
    let read = || std::fs::read_to_string(&path).unwrap();
    let args = [
        "provider",
        "add",
        "work",
        "--preset",
        "azure-openai",
        "--base-url",
        "https://w.example/openai/v1",
        "--model",
        "gpt-x",
        "--key-env",
        "WORK_KEY",
        "--default",
    ];
    place
        .run(args)
        .code(0)
        .says("added work to")
        .warns("placet looks for the key in WORK_KEY")
        .warns("placet provider test work");
    let table = "[providers.work]\npreset = \"azure-openai\"\nbase_url = \"https://w.example/openai/v1\"\nmodel = \"gpt-x\"\nkey_env = \"WORK_KEY\"\n";
    assert!(read().contains(table), "{}", read());
    for kept in ["# mine, since 2019\n", "mode = \"read\"   # careful\n", "# dark rooms\ntheme = \"dark\"\n"]
    {
        assert!(read().contains(kept), "{}", read());
    }
    place.run(["provider", "list"]).code(0).says("* work");
    place.run(args).code(1).warns("a provider `work` already exists");
    place.run(["provider", "remove", "work"]).code(0).warns("it was the default provider");
    assert_eq!(read(), before);
    place.run(["provider", "remove", "work"]).code(1).warns("no provider `work` in");
    place.run(["provider", "remove", "openai"]).code(1).warns("it is built in and cannot be removed");
    for (args, message) in [
        (vec!["provider", "add", "a b", "--base-url", "http://x"], "`a b` cannot be the name of a provider"),
        (vec!["provider", "add", "b"], "no base URL for `b`"),
        (vec!["provider", "add", "b", "--preset", "opnai"], "did you mean `openai`?"),
    ] {
        place.run(args).code(2).warns(message);
    }
    std::fs::write(&path, "mode = \n").unwrap();
    place.run(["provider", "add", "b", "--base-url", "http://x"]).code(1).warns("is not valid TOML");
    assert_eq!(read(), "mode = \n");
}

#[test]
fn a_trial_says_of_every_wire_what_works() {
    for wire in ALL_WIRES {
        let server = MockServer::start([
            wire.reply(&[Say::Text("rea"), Say::Text("dy")]),
            wire.reply(&[Say::Call("c1", "ping", r#"{"word":"placet"}"#)]),
            wire.reply(&[Say::Text("placet")]),
            wire.reply(&[Say::Text("Red.")]),
        ]);
        let place = Place::new().config(&format!(
            "provider = \"mine\"\n[providers.mine]\ndialect = \"{}\"\nbase_url = \"{}\"\nmodel = \"m\"\n",
            wire.setting(),
            server.url()
        ));
        let json = place.run(["provider", "test", "--json"]).code(0).json();
        let found: Vec<(&str, &str)> = json["steps"]
            .as_array()
            .unwrap()
            .iter()
            .map(|s| (s["step"].as_str().unwrap(), s["found"].as_str().unwrap()))
            .collect();
        assert_eq!(
            found,
            [("key", "works"), ("streaming", "works"), ("tools", "works"), ("images", "works")],
            "{wire:?}"
        );
        assert_eq!(json["steps"][3]["detail"], "it saw: Red.");
        assert_eq!(server.violations(), Vec::<String>::new(), "{wire:?}");
        assert_eq!(server.requests().len(), 4);
    }
}

#[test]
fn a_trial_says_what_does_not_work_and_fails() {
    let trial = |script: Vec<Reply>, more: &str| {
        let server = MockServer::start(script);
        let place = Place::new().config(&format!(
            "network.attempts = 1\n[providers.mine]\nbase_url = \"{}\"\nmodel = \"m\"\nkey_env = \"K\"\n{more}",
            server.url()
        ));
        let out = place.placet(["provider", "test", "mine"]).env("K", "sk-canary-3").go();
        assert!(!out.stdout.contains("sk-canary-3") && !out.stderr.contains("sk-canary-3"), "{out:#?}");
        out
    };
    trial(vec![Reply::error(401, "authentication_error", "Incorrect key sk-canary-3")], "")
        .code(4)
        .says("key        fails     the provider refused the key (HTTP 401): Incorrect key [key]")
        .says("tools      untried   no answer");
    trial(
        vec![
            Reply::openai(&[Say::Text("ready")]),
            Reply::openai(&[Say::Text("I cannot call tools.")]),
            Reply::error(400, "invalid_request_error", "image_url is not supported"),
        ],
        "",
    )
    .code(4)
    .says("streaming  works     one piece, after")
    .says("tools      fails     it answered with text instead of a call: I cannot call tools.")
    .says("images     fails     the provider rejected the request (HTTP 400): image_url is not supported");
    trial(
        vec![
            Reply::openai(&[Say::Text("ready")]),
            Reply::openai(&[Say::Call("c", "ping", "{}")]),
            Reply::error(400, "invalid_request_error", "tool messages are not supported"),
        ],
        "[x]\n",
    )
    .code(4)
    .says("tools      fails     a call was made, but its result was refused");
    Place::new().run(["provider", "test"]).code(2).warns("no provider is configured");
}

#[test]
fn the_models_of_a_server_are_told_with_what_is_known_of_them() {
    let list = json!({"data": [{"id": "claude-sonnet-4-5"}, {"id": "claude-next"}]});
    let server = MockServer::start([
        Reply::json(200, &list),
        Reply::json(200, &list),
        Reply::new(200, "text/html").write("<html>"),
    ]);
    let place = Place::new().config(&format!("[providers.anthropic]\nbase_url = \"{}\"\n", server.url()));
    let run = |args: &[&str]| place.placet(args).env("ANTHROPIC_API_KEY", "k").go();
    let out = run(&["provider", "models", "anthropic"]).code(0);
    let expected = "model              window  answer  sent   comes\n\
                    claude-sonnet-4-5  200000  64000   $3.00  $15.00\n\
                    claude-next        -       -       -      -\n";
    assert_eq!(out.stdout, expected);
    let json = run(&["provider", "models", "--json"]).code(0).json();
    assert_eq!(json[0]["input_micros_per_million"], 3_000_000);
    assert_eq!(
        json[1],
        json!({"id": "claude-next", "window": null, "max_output": null, "vision": null,
        "input_micros_per_million": null, "output_micros_per_million": null})
    );
    run(&["provider", "models"]).code(4).warns("not a list of models");
    // A gateway before the same models has the same windows, and prices of its own.
    let gateway = MockServer::start([Reply::json(200, &list)]);
    let place = Place::new().config(&format!(
        "[providers.work]\npreset = \"anthropic\"\nbase_url = \"{}\"\nkey_env = \"W\"\n",
        gateway.url()
    ));
    let out = place.placet(["provider", "models", "work"]).env("W", "k").go().code(0);
    assert!(out.stdout.contains("claude-sonnet-4-5  200000  64000   -     -\n"), "{out:#?}");
    let sent = &server.requests()[0];
    assert_eq!((sent.method.as_str(), sent.path.as_str()), ("GET", "/v1/models?limit=1000"));
    assert_eq!(
        (&sent.headers["x-api-key"], &sent.headers["anthropic-version"]),
        (&"k".into(), &"2023-06-01".into())
    );
}

#[test]
fn a_name_with_a_dot_is_a_table_in_quotes_and_llamacpp_is_the_same_server() {
    let server = MockServer::start([]);
    // It is asked two questions first, and answers none.
    let answers = |text: &str| {
        [Reply::error(404, "", ""), Reply::error(404, "", ""), Reply::openai(&[Say::Text(text)])]
            .into_iter()
            .for_each(|reply| server.push(reply));
    };
    answers("from the table");
    let config = format!("[providers.\"llama.cpp\"]\nbase_url = \"{}\"\nmodel = \"quant\"\n", server.url());
    let place = Place::new().config(&config);
    let out = place.run(["-p", "hi", "--provider", "llama.cpp", "--no-project"]).code(0);
    out.says("from the table");
    assert_eq!(server.requests()[2].body["model"], "quant");
    place.run(["config", "show"]).code(0).says("providers.\"llama.cpp\".model");
    let set = "providers.\"llama.cpp\".model=other";
    answers("set");
    place.run(["-p", "hi", "--provider", "llama.cpp", "--no-project", "--set", set]).code(0).says("set");
    assert_eq!(server.requests()[5].body["model"], "other");

    answers("by its other name");
    let url = server.url();
    let other = ["-p", "hi", "--provider", "llamacpp", "--model", "q", "--base-url", &url, "--no-project"];
    Place::new().run(other).code(0).says("by its other name");
    let added = ["provider", "add", "my.server", "--base-url", "http://x"];
    place.run(added).code(0);
    place.run(["provider", "list"]).code(0).says("my.server");
}

#[test]
fn a_base_url_that_can_never_answer_is_a_usage_error() {
    let place = Place::new();
    for url in ["ftp://h/v1", "file:///v1", "h.example/v1", "http://h:99999", "http://h/v1#frag"] {
        let run = ["--provider", "openai-compatible", "--model", "m", "--base-url", url, "-p", "hi"];
        let out = place.run(run).code(2);
        assert!(out.stderr.contains(&format!("invalid base URL `{url}`")), "{url}: {}", out.stderr);
    }
    place.run(["--base-url", "", "-p", "hi"]).code(2).warns("`--base-url` is empty");
}
