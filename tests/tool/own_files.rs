//! placet's own files: nobody's to read or write through a tool, wherever the shell is started.

use crate::support::binary::Place;

#[test]
fn keys_trust_and_sessions_are_out_of_reach_of_every_tool() {
    let place = Place::new();
    place.placet(["config", "init", "--key", "openai"]).stdin("canary-key-1234").go().code(0);
    let keys = place.config_dir().join("keys.toml");
    // What a placet that was killed left of a write of the keys.
    let unfinished = place.config_dir().join(".keys.toml.placet-new");
    std::fs::write(&unfinished, "openai = \"canary-key-1234\"\n").unwrap();
    let state = place.state_dir();
    for mode in ["read", "write", "unrestricted"] {
        for target in [&keys, &unfinished, &state.join("placet.db"), &state.join("trust.json")] {
            let target = target.to_string_lossy().into_owned();
            for (tool, arguments) in [
                ("read_file", serde_json::json!({"path": target})),
                ("search_contents", serde_json::json!({"path": target, "pattern": "canary"})),
                ("write_file", serde_json::json!({"path": target, "content": "x", "force": true})),
            ] {
                let arguments = arguments.to_string();
                let out =
                    place.run(["tool", "call", tool, arguments.as_str(), "--mode", mode, "--allow", "*"]);
                assert_ne!(out.code, 0, "{mode} {tool} {target}: {}", out.stdout);
                assert!(
                    !out.stdout.contains("canary-key") && !out.stderr.contains("canary-key"),
                    "{mode} {tool}"
                );
            }
        }
    }
    let home = place.config_dir().parent().unwrap().to_path_buf();
    let cwd = home.to_string_lossy().into_owned();
    let out = place.run(["--cwd", &cwd, "-p", "search canary"]);
    assert!(!out.stdout.contains("canary-key-1234"), "{}", out.stdout);
}

/// `doctor` once took the modes of discarded files for those of placet's own.
#[test]
fn contents_that_wait_keep_their_modes_under_doctor() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new().file("a.txt", "alpha\n").file("keep.txt", "x\n");
    let made = "run echo hi > n.txt; chmod 755 n.txt; mkdir -m 755 d; echo k > d/k.txt; chmod 644 d/k.txt a.txt; echo b >> a.txt";
    let modes = |place: &Place| {
        let mode = |name: &str| place.tree.join(name).metadata().unwrap().permissions().mode() & 0o7777;
        ["n.txt", "d", "d/k.txt", "a.txt"].map(mode)
    };
    place.run(["-p", made, "--mode", "ask"]);
    place.run(["doctor"]).code(0);
    place.run(["discard"]).code(0);
    let said = place.run(["doctor"]).code(0);
    assert!(!said.stdout.contains("discarded/"), "{}", said.stdout);
    place.run(["undo"]).code(0);
    place.run(["doctor"]).code(0);
    place.run(["apply"]).code(0);
    assert_eq!(modes(&place), [0o755, 0o755, 0o644, 0o644]);
}

#[test]
fn settings_are_changed_only_after_a_question() {
    let place = Place::new().config("mode = \"read\"\n");
    let file = place.config_dir().join("config.toml");
    let arguments = serde_json::json!({"path": file, "content": "mode = \"unrestricted\"", "force": true});
    for mode in ["write", "unrestricted"] {
        let out =
            place.run(["tool", "call", "write_file", &arguments.to_string(), "--mode", mode, "--allow", "*"]);
        assert_eq!(out.code, 3, "{}", out.stderr);
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), "mode = \"read\"\n");
}

#[test]
fn options_may_stand_before_a_subcommand() {
    let place = Place::new().file("a.txt", "alpha\n");
    let out = place.run(["--mode", "none", "tool", "call", "read_file", r#"{"path":"a.txt"}"#]);
    assert_eq!(out.code, 3, "{}{}", out.stdout, out.stderr);
}

#[test]
fn a_server_of_ones_own_never_gets_another_server_s_key() {
    let server = crate::support::mock_server::MockServer::start([
        crate::support::mock_server::Reply::anthropic(&[crate::support::mock_server::Say::Text("hi")]),
    ]);
    let text = format!(
        "[providers.mine]\ndialect = \"anthropic\"\nbase_url = \"{}\"\nmodel = \"m\"\n",
        server.url()
    );
    let place = Place::new().config(&text);
    place.placet(["-p", "hello", "--provider", "mine"]).env("ANTHROPIC_API_KEY", "canary-key").go().code(0);
    let requests = server.requests();
    assert!(!format!("{:?}", requests[0].headers).contains("canary-key"));
    // One that says where its key is has to have it.
    let place = Place::new().config(&(text + "key_env = \"MINE_KEY\"\n"));
    let out = place.run(["-p", "hello", "--provider", "mine"]);
    assert_eq!(out.code, 4, "{}", out.stderr);
    assert!(out.stderr.contains("MINE_KEY"), "{}", out.stderr);
}

/// Where a pipe, a device or a huge file lies in the place of a file that placet reads, it says so and reads nothing.
#[test]
fn what_is_no_regular_file_of_a_usual_size_is_refused_by_name() {
    /// Puts something at a path.
    type Put = fn(&std::path::Path);
    let ways: [(&str, Put); 3] = [
        ("not a regular file", |path| {
            assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
        }),
        ("not a regular file", |path| std::os::unix::fs::symlink("/dev/zero", path).unwrap()),
        ("larger than", |path| std::fs::File::create(path).unwrap().set_len(2 << 30).unwrap()),
    ];
    for (why, lay) in ways {
        let place = Place::new();
        let at = |name: &str| place.config_dir().join(name);
        std::fs::create_dir_all(at("themes")).unwrap();
        let refused = |args: &[&str], name: &str, code: i32| {
            let out = place.run(args);
            let said = format!("{}{}", out.stdout, out.stderr);
            assert!(said.contains(name) && said.contains(why), "{args:?}: {out:#?}");
            assert_eq!(out.code, code, "{args:?}: {out:#?}");
        };
        lay(&at("themes/own.toml"));
        refused(&["theme", "preview", "own"], "own.toml", 2);
        refused(&["theme", "list"], "own", 0);
        let export = place.beside("export.json");
        lay(&export);
        refused(&["session", "import", export.to_str().unwrap()], "export.json", 1);
        lay(&at("models.toml"));
        refused(&["doctor"], "models.toml", 1);
        lay(&at("config.toml"));
        // As with every mistake in the settings: the rest holds, and it is reported.
        refused(&["-p", "help"], "config.toml", 0);
    }
}
