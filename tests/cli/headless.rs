//! `placet -p` and piped lines: what goes to which stream, what ends how, and that nothing ever waits for nobody.

use crate::support::binary::{Place, Run};
use crate::support::mock_server::{MockServer, Reply, Say, anthropic_events};
use crate::support::schema::misfits;
use crate::support::wait;
use rustix::process::Signal;
use serde_json::Value;

fn calls(calls: &[(&str, &str, &str)]) -> Reply {
    let said: Vec<Say> = calls.iter().map(|(id, name, input)| Say::Call(id, name, input)).collect();
    Reply::anthropic(&said)
}

fn text(text: &str) -> Reply {
    Reply::anthropic(&[Say::Text(text)])
}

#[test]
fn only_the_answer_goes_to_standard_output() {
    let server = MockServer::start([
        Reply::anthropic(&[
            Say::Text("Let me look."),
            Say::Call("c1", "read_file", r#"{"path":"notes.txt"}"#),
        ]),
        text("It says two."),
    ]);
    let place = Place::with_notes().answered_by(&server);
    let out = place.run(["-p", "what does it say?"]).code(0);
    assert_eq!(out.stdout, "It says two.\n");
    assert!(out.stderr.contains("Let me look."), "{out:?}");
    assert!(out.stderr.contains("call: read notes.txt"), "{out:?}");
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn the_prompt_comes_as_an_argument_from_a_dash_or_from_a_pipe() {
    let place = Place::with_notes();
    for run in [
        place.placet(["-p", "show notes.txt"]),
        place.placet(["--print=show notes.txt"]),
        place.placet(["-p", "-"]).stdin("show notes.txt\n"),
        place.placet(["-p"]).stdin("show notes.txt"),
    ] {
        let out = run.go().code(0);
        assert!(out.stdout.contains("2│two"), "{out:?}");
    }
    place.placet(["-p"]).stdin(" \n").go().code(2).warns("the prompt is empty");
    place.placet(["-p", ""]).go().code(2).warns("the prompt is empty");
}

/// Story: agents waited for hours for the end of a standard input that they had inherited.
#[test]
fn a_prompt_given_as_an_argument_never_waits_for_standard_input() {
    let place = Place::with_notes();
    for args in [vec!["-p", "show notes.txt"], vec!["show notes.txt"]] {
        // Standard input stays open and idle until the run has ended by itself.
        let out = place.placet(&args).start().end().code(0);
        assert!(out.stdout.contains("2│two"), "{args:?}: {out:?}");
    }
}

#[test]
fn piped_lines_are_answered_one_by_one_in_one_conversation() {
    let server = MockServer::start([text("first"), text("second")]);
    let place = Place::with_notes().answered_by(&server);
    let mut running = place.placet([] as [&str; 0]).start();
    running.say("one\n");
    assert_eq!(running.line(), "first");
    running.say("\n   \ntwo");
    drop(running.stdin.take());
    let out = running.end().code(0);
    assert_eq!(out.stdout, "first\nsecond\n");
    let requests = server.requests();
    assert_eq!(requests[1].body["messages"].as_array().unwrap().len(), 3);
    assert_eq!(requests[0].body["messages"][0]["content"][0], requests[1].body["messages"][0]["content"][0]);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let place = Place::with_notes().file("long.txt", "a line of text\n".repeat(1500));
    let line = format!("{} -p 'show long.txt' | head -n 1", crate::support::program::placet());
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", &line]).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    let out = shell.env("HOME", &place.home).current_dir(&place.tree).output().unwrap();
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(!stderr.contains("panic") && !stderr.contains("error"), "{stderr}");
    assert_eq!(String::from_utf8(out.stdout).unwrap().lines().count(), 1);
}

#[test]
fn a_full_disk_is_an_error() {
    let place = Place::with_notes();
    for args in [
        vec!["-p", "show notes.txt"],
        vec!["-p", "show notes.txt", "--output-format", "json"],
        vec!["-p", "show notes.txt", "--output-format", "stream-json"],
        vec!["tool", "list"],
        vec!["completions", "bash"],
        vec!["--help"],
        vec!["--version"],
    ] {
        let out = place.placet(&args).stdout_to("/dev/full").go();
        assert_eq!(out.code, 1, "{args:?}: {out:?}");
        assert!(out.stderr.contains("standard output cannot be written"), "{args:?}: {out:?}");
    }
}

#[test]
fn each_way_to_end_has_its_exit_code() {
    let place = Place::with_notes();
    place.run(["-p", "show notes.txt"]).code(0);
    place.run(["-p", "show notes.txt", "--max-turns", "1"]).code(1).warns("max_turns");
    place.run(["-p", "x", "--no-such-flag"]).code(2);
    place.run(["-p", "create new.txt with \"x\""]).code(3).warns("read mode");
    assert!(!place.tree.join("new.txt").exists());

    let server = MockServer::start([Reply::error(401, "authentication_error", "no such key")]);
    let mocked = Place::new().answered_by(&server);
    mocked.run(["-p", "hi"]).code(4).warns("refused the key").warns("doctor");
}

#[test]
fn an_interrupt_keeps_what_had_come_and_exits_with_130() {
    for format in ["text", "stream-json"] {
        let begun = anthropic_events(&[Say::Text("half an answer")])[..3].concat();
        let server = MockServer::start([Reply::sse(begun).stall()]);
        let place = Place::with_notes().answered_by(&server);
        let mut running = place
            .placet(
                ["-p", "hi", "--output-format", "stream-json"]
                    .map(|a| if a == "stream-json" { format } else { a }),
            )
            .start();
        if format == "text" {
            wait::until("the request", || !server.requests().is_empty());
        } else {
            running.line_where(|line| line.contains("half an answer"));
        }
        running.signal(Signal::INT);
        let out = running.end().code(130);
        assert!(server.wait_for_hangups(1, crate::support::wait::DEADLINE), "{out:?}");
        if format == "stream-json" {
            assert_eq!(out.lines().last().unwrap()["ending"], "interrupted", "{out:?}");
        }
        // The conversation goes on from there: with the question, and with what of the answer was shown.
        server.push(text("goes on"));
        place.run(["-c", "-p", "and on"]).code(0).says("goes on");
        let sent = server.requests()[1].body["messages"].to_string();
        assert!(sent.contains("\"hi\"") && sent.contains("\"and on\""), "{sent}");
        assert!(format == "text" || sent.contains("half an answer"), "{sent}");
        assert_eq!(server.violations(), Vec::<String>::new());
    }
}

#[test]
fn a_call_that_would_ask_names_the_flag_that_permits_it() {
    let place = Place::with_notes();
    let prompt = ["-p", "create new.txt with \"x\""];
    let outside = ["-p", "create /opt/placet-test/new.txt with \"x\"", "--mode", "write"];
    place.run(outside).code(3).warns("--allow");
    // In ask mode it is held, and said how to land it.
    place
        .run(prompt.iter().chain(&["--mode", "ask"]))
        .code(3)
        .warns("A new.txt")
        .warns("placet apply --session");
    assert!(!place.tree.join("new.txt").exists());
    place.run(prompt.iter().chain(&["--mode", "write"])).code(0);
    assert_eq!(place.read("new.txt"), "x");
    let out = place.run(["-p", "run expr 40 + 2", "--mode", "write"]).code(0);
    assert!(out.stdout.contains("42"), "{out:?}");
}

#[test]
fn every_line_of_stream_json_fits_the_published_schema() {
    let server = MockServer::start([
        Reply::error(529, "overloaded_error", "busy"),
        Reply::anthropic(&[
            Say::Text("I look."),
            Say::Call("c1", "read_file", r#"{"path":"notes.txt"}"#),
            Say::Call("c2", "write_file", r#"{"path":"/opt/placet-test/a","content":"b"}"#),
            Say::Call("c3", "run_command", r#"{"command":"echo hi"}"#),
        ]),
        text("Done."),
    ]);
    let place = Place::with_notes().answered_by(&server);
    let args = [
        "-p",
        "go",
        "--output-format",
        "stream-json",
        "--mode",
        "ask",
        "--allow",
        "run_command",
        "--set",
        "network.attempts=2",
    ];
    let out = place.run(args).code(3);
    let schema = placet::serve::schema();
    let lines = out.lines();
    for line in &lines {
        assert_eq!(misfits(&schema["stream-json line"], line), Vec::<String>::new(), "{line}");
    }
    let kinds: Vec<&str> = lines.iter().map(|l| l["type"].as_str().unwrap()).collect();
    for kind in ["start", "retry", "text", "call", "question", "output", "result", "usage", "end"] {
        assert!(kinds.contains(&kind), "{kind}: {kinds:?}");
    }
    assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("start", "end"));
    assert_eq!(lines[0]["version"], placet::serve::VERSION);
    let end = &lines[lines.len() - 1];
    assert_eq!((&end["answer"], &end["refused_calls"]), (&"Done.".into(), &1.into()));
    assert_eq!(server.violations(), Vec::<String>::new());
}

#[test]
fn the_json_report_fits_its_schema_and_holds_answer_calls_and_usage() {
    let server =
        MockServer::start([calls(&[("c1", "read_file", r#"{"path":"notes.txt"}"#)]), text("Two lines.")]);
    let place = Place::with_notes().answered_by(&server);
    let out = place.run(["-p", "go", "--output-format", "json"]).code(0);
    let report = out.json();
    assert_eq!(misfits(&placet::serve::schema()["json"], &report), Vec::<String>::new());
    assert_eq!(report["answer"], "Two lines.");
    assert_eq!(report["ending"], "done");
    assert_eq!(report["calls"][0]["tool"], "read_file");
    assert_eq!(report["usage"]["output"], 40);
    let session = report["session"].as_str().unwrap();
    place.run(["session", "show", session]).code(0).says("Two lines.");
}

#[test]
fn a_failed_turn_is_json_too() {
    let server = MockServer::start([Reply::error(400, "invalid_request_error", "no")]);
    let place = Place::with_notes().answered_by(&server);
    let report = place.run(["-p", "go", "--output-format", "json"]).code(4).json();
    assert_eq!(report["ending"], "provider_failed");
    assert!(report["error"].as_str().unwrap().contains("no"), "{report}");
}

#[test]
fn a_conversation_goes_on_with_continue_and_resume() {
    let server = MockServer::start((1..=4).map(|n| text(&format!("answer {n}"))));
    let place = Place::with_notes().answered_by(&server);
    let first = place.run(["-p", "one", "--output-format", "json"]).code(0).json();
    let id = first["session"].as_str().unwrap();
    place.run(["-c", "-p", "two"]).code(0).says("answer 2");
    place.run(["-r", &id[..15], "-p", "three"]).code(0).says("answer 3");
    place.run(["-p", "other"]).code(0);
    let bodies: Vec<Value> = server.requests().iter().map(|r| r.body.clone()).collect();
    let counts: Vec<usize> = bodies.iter().map(|b| b["messages"].as_array().unwrap().len()).collect();
    assert_eq!(counts, [1, 3, 5, 1]);
    assert_eq!(server.violations(), Vec::<String>::new());
    place
        .run(["-r", "zzzz", "-p", "x"])
        .code(1)
        .warns("no session with the ID prefix `zzzz`")
        .warns("session list");
    place.run(["-r", "-p", "x"]).code(2);
    let elsewhere = place.tree.join("sub");
    std::fs::create_dir(&elsewhere).unwrap();
    place
        .placet(["-c", "-p", "x"])
        .cwd(&elsewhere)
        .go()
        .code(1)
        .warns("no earlier session in this directory");
}

#[test]
fn what_was_recorded_is_played_back_and_another_request_is_told_as_a_difference() {
    let place = Place::with_notes();
    let tape = place.beside("tape.jsonl");
    let tape = tape.to_str().unwrap();
    let recorded = place.run(["-p", "show notes.txt", "--record", tape]).code(0);
    let played = place.run(["-p", "show notes.txt", "--replay", tape]).code(0);
    assert_eq!(played.stdout, recorded.stdout);
    let other = place.run(["-p", "show other.txt", "--replay", tape]).code(4);
    assert!(other.stderr.contains("-") && other.stderr.contains("show other.txt"), "{other:?}");
    assert!(other.stderr.contains("show notes.txt"), "{other:?}");
    place.run(["-p", "x", "--replay", "/nowhere"]).code(1).warns("/nowhere");
}

#[test]
fn flags_set_what_they_say() {
    let server = MockServer::start([text("a"), text("b"), text("c")]);
    let place = Place::with_notes().answered_by(&server);
    let url = server.url();
    let out = Place::new()
        .placet(["-p", "hi", "--provider", "anthropic", "--base-url", &url, "--model", "claude-x"])
        .env("ANTHROPIC_API_KEY", "sk-test")
        .go();
    out.code(0);
    place.run(["-p", "hi", "--set", "model=other-2", "--append-system-prompt", "Say moo."]).code(0);
    std::fs::create_dir(place.tree.join("sub")).unwrap();
    std::fs::create_dir(place.beside("more")).unwrap();
    let more = place.beside("more");
    place.run(["-p", "hi", "--cwd", "sub", "--add-dir", more.to_str().unwrap()]).code(0);
    let requests = server.requests();
    assert_eq!(requests[0].body["model"], "claude-x");
    assert_eq!(requests[0].headers["x-api-key"], "sk-test");
    assert_eq!(requests[1].body["model"], "other-2");
    assert!(requests[1].body["system"].to_string().contains("Say moo."));
    let system = requests[2].body["system"].to_string();
    assert!(system.contains("tree/sub") && system.contains(more.to_str().unwrap()), "{system}");
    for (args, words) in [
        (vec!["-p", "x", "--cwd", "nowhere"], "is not a directory"),
        (vec!["-p", "x", "--set", "modell=x"], "did you mean `model`"),
        (vec!["-p", "x", "--set", "max_turns=many"], "a whole number"),
        (vec!["-p", "x", "--mode", "yolo"], "one of none, read, ask, write, unrestricted"),
        (vec!["-p", "x", "--provider", "anthropc"], "did you mean `anthropic`"),
        (vec!["-p", "x", "--allow", "run_comand"], "unknown tool"),
        (vec!["-p", "x", "--modle", "m"], "--model"),
    ] {
        place.run(&args).code(2).warns(words);
    }
}

#[test]
fn no_escape_byte_ever_goes_into_a_pipe() {
    let place = Place::with_notes();
    let forced = |run: Run| run.env("TERM", "xterm-256color").env("COLORTERM", "truecolor");
    for args in [
        vec!["--help"],
        vec!["--version"],
        vec!["--no-such"],
        vec!["-p", "show notes.txt"],
        vec!["-p", "frobnicate"],
        vec!["-p", "show missing.txt"],
        vec!["session", "list"],
        vec!["session", "show", "zz"],
        vec!["session", "search", "two"],
        vec!["tool", "list"],
        vec!["tool", "show", "read_file"],
        vec!["tool", "call", "read_file", "{\"path\":\"notes.txt\"}"],
        vec!["tool", "call", "read_file", "{}"],
        vec!["config", "show", "--origin"],
        vec!["config", "path"],
        vec!["doctor"],
        vec!["man"],
        vec!["completions", "bash"],
    ] {
        for run in [forced(place.placet(&args)), forced(place.placet(&args)).env("NO_COLOR", "1")] {
            let out = run.go();
            assert!(!out.stdout.contains('\x1b') && !out.stderr.contains('\x1b'), "{args:?}: {out:?}");
        }
    }
}

/// No telemetry, no update check: the only connections are to what was configured.
#[test]
fn nothing_but_the_configured_host_is_ever_contacted() {
    let recorder = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let proxy = format!("http://{}", recorder.local_addr().unwrap());
    recorder.set_nonblocking(true).unwrap();
    let server = MockServer::start([text("hello")]);
    let mocked = Place::with_notes().answered_by(&server);
    let offline = Place::with_notes();
    let spied = |run: Run| {
        let run = run.env("HTTP_PROXY", &proxy).env("HTTPS_PROXY", &proxy).env("ALL_PROXY", &proxy);
        let run = run.env("http_proxy", &proxy).env("https_proxy", &proxy).env("all_proxy", &proxy);
        run.env("NO_PROXY", "127.0.0.1").env("no_proxy", "127.0.0.1")
    };
    spied(mocked.placet(["-p", "hi"])).go().code(0);
    for args in
        [vec!["-p", "show notes.txt"], vec!["doctor"], vec!["config", "show"], vec!["session", "list"]]
    {
        spied(offline.placet(&args)).go().code(0);
    }
    let error = recorder.accept().map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
    assert_eq!(server.requests().len(), 1);
}

/// One line for each change, by path: what it is, what it means, what became of it.
fn told(place: &Place, changes: &[Value]) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_string();
    let line = |c: &Value| {
        let path = text(&c["path"]);
        let path = path.strip_prefix(&format!("{}/", place.tree.display())).unwrap_or(&path).to_string();
        let by = text(&c["runs_later"]["by"]) + &text(&c["runs_with_build"]["by"]).replace('-', "");
        format!("{path}: {} {} {by} {}", text(&c["change"]), text(&c["classification"]), text(&c["state"]))
    };
    let mut lines: Vec<String> = changes.iter().map(line).collect();
    lines.sort();
    lines
}

#[test]
fn both_json_formats_list_each_change_with_its_class_and_what_became_of_it() {
    let place = Place::new().file("notes.txt", "one\n").file("old.txt", "two\n");
    if !place.run(["doctor"]).stdout.contains("copy-on-write view") {
        eprintln!("skipped: there is no view here");
        return;
    }
    for n in 0..25 {
        place.write(&format!("many/{n:02}"), "x\n");
    }
    let script =
        "echo two >> notes.txt; mv old.txt new.txt; echo A=1 > .envrc; echo '{}' > package.json; rm many/*";
    place.write("do.sh", script);
    let schema = placet::serve::schema();
    for (flag, state) in [("--apply", "applied"), ("--no-project", "pending")] {
        let turn = |format: &str| {
            place.run(["-p", "run sh do.sh", "--mode", "ask", flag, "--output-format", format]).code(3)
        };
        let lines = turn("stream-json").lines();
        for line in &lines {
            assert_eq!(misfits(&schema["stream-json line"], line), Vec::<String>::new(), "{line}");
        }
        assert_eq!(lines.last().unwrap()["type"], "end");
        let changes: Vec<Value> = lines.iter().filter(|l| l["type"] == "change").cloned().collect();
        let mut expected = vec![
            ".envrc: created runs_later direnv pending".to_string(),
            format!("new.txt: renamed ordinary - {state}"),
            format!("notes.txt: modified ordinary - {state}"),
            format!("old.txt: deleted ordinary - {state}"),
            format!("package.json: created runs_with_build -npm {state}"),
        ];
        expected.extend((0..25).map(|n| format!("many/{n:02}: deleted large_loss - pending")));
        expected.sort();
        assert_eq!(told(&place, &changes), expected);
        let from = changes.iter().find(|c| c["change"] == "renamed").unwrap()["from"].as_str().unwrap();
        assert!(from.ends_with("/old.txt"), "{from}");
        if state == "applied" {
            // In this order: `undo` after a discard brings that back.
            place.run(["undo"]).code(0);
            place.run(["discard"]).code(0);
            let report = turn("json").json();
            assert_eq!(misfits(&schema["json"], &report), Vec::<String>::new());
            assert_eq!(told(&place, report["changes"].as_array().unwrap()), expected);
            place.run(["undo"]).code(0);
        }
        place.run(["discard"]).code(0);
    }
    // What write mode applied call by call, and a turn that changes nothing.
    let report = place.run(["-p", "create a.txt with \"x\"", "--mode", "write", "--output-format", "json"]);
    let report = report.code(0).json();
    assert_eq!(told(&place, report["changes"].as_array().unwrap()), ["a.txt: created ordinary - applied"]);
    let report = place.run(["-p", "show a.txt", "--output-format", "json"]).code(0).json();
    assert_eq!(report["changes"], serde_json::json!([]));
}
