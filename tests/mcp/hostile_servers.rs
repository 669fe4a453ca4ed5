//! Hostile and broken servers of tools: cut off, named, bounded, and what can be used of them is used.

use super::mcp_client::{SERVER, call, is_possible, place, results, settings, talk};
use crate::support::binary::Place;
use crate::support::pty::shell;
use serde_json::{Value, json};

#[test]
fn a_server_that_takes_no_answers_is_ended() {
    if !is_possible() {
        return;
    }
    let (place, server) =
        talk(Place::new(), "", "timeout_seconds = 30", &[("s__act", "{\"text\": \"requests\"}")]);
    place.run(["--allow", "mcp(*)", "-p", "go"]);
    let found = results(&server);
    assert!(found[0].contains("it sent 64 requests and did not read the answers for 3 s"), "{found:?}");
}

#[test]
fn hostile_servers_of_tools_are_cut_off_named_and_survived() {
    if !is_possible() {
        return;
    }
    // Endless pages, names of ours, a start that hangs, a flood, a server that cannot start.
    let endless = call(&place("endless", ""), "find_tool", "{\"query\": \"t0_1\"}", &[]);
    assert!(endless.stderr.contains("has too many tools: 256 of them are used"), "{endless:#?}");
    let imitating = place("imitate", "");
    let out = call(&imitating, "read_file", "{\"path\": \"a.txt\"}", &[]);
    assert!(out.stdout.contains("alpha"), "{out:#?}");
    assert!(out.stderr.contains("has 3 tools that no model can use"), "{out:#?}");
    let silent = call(&place("silent", "timeout_seconds = 1"), "s__echo", "{}", &[]);
    assert!(silent.stderr.contains("it did not answer within 1 s; its tools are not offered"), "{silent:#?}");
    let flood = call(&place("flood", "timeout_seconds = 10"), "s__echo", "{}", &[]);
    assert!(flood.stderr.contains("its tools are not offered"), "{flood:#?}");
    let dead = call(&place("dead", ""), "s__echo", "{}", &[]);
    // What the log has is made visible once.
    let rendered = "its log ends: no ␛[31mconfiguration <U+202E>elif; its tools are not offered";
    assert!(dead.stderr.contains(rendered) && !dead.stderr.contains('\x1b'), "{dead:#?}");
    let missing =
        Place::new().config("provider = \"offline\"\n[mcp.servers.s]\ncommand = \"/no/such/server\"\n");
    let missing = call(&missing, "s__echo", "{}", &[]);
    assert!(missing.stderr.contains("/no/such/server: not found"), "{missing:#?}");
}

#[test]
fn hostile_names_and_errors_of_servers_do_not_fill_the_screen() {
    if !is_possible() {
        return;
    }
    let loud = place("loud", "").run(["mcp", "test", "s"]).code(0);
    assert!(loud.stdout.starts_with("s: scripted ␛[31mnnn") && loud.stdout.len() < 1_000, "{loud:#?}");
    let refusing = place("refusing", "");
    let tested = refusing.run(["mcp", "test", "s"]).code(1);
    assert!(tested.stderr.contains("cannot be read: no ␛[31mtools"), "{tested:#?}");
    assert!(tested.stderr.contains("[the first 2000 of 50014 bytes]"), "{tested:#?}");
    let out = call(&refusing, "s__echo", "{}", &[]);
    assert!(out.stderr.len() < 4_000 && !out.stderr.contains('\x1b'), "{out:#?}");
    // In the shell a list shows the first line.
    let config = format!("provider = \"offline\"\n{}", settings("s", "server.py".as_ref(), "refusing", ""));
    let start = shell().size(100, 30).arg("--allow").arg("mcp(*)");
    let mut pty = start.file("server.py", SERVER).config(&config).open();
    pty.line("call s__echo {}");
    pty.until("the failure", |screen| screen.contains("unknown tool `s__echo`"));
    pty.until_prompt("");
    pty.line("/mcp");
    pty.until("the list", |screen| screen.contains("last error: its list of tools cannot be read"));
    let screen = pty.screen();
    let list = screen.rsplit("/mcp").next().unwrap_or_default();
    assert!(!list.contains("eeee"), "{screen}");
    pty.line("/quit");
}

#[test]
fn hostile_results_of_servers_are_bounded_and_data() {
    if !is_possible() {
        return;
    }
    let act = |text: &'static str| ("s__act", text);
    let calls = [
        act("{\"text\": \"long\"}"),
        act("{\"text\": \"error\"}"),
        act("{\"text\": \"noise\"}"),
        act("{\"text\": \"terminal\"}"),
        act("{\"text\": \"ask\"}"),
        act("{\"text\": \"progress\"}"),
        act("{\"text\": \"hang\"}"),
        act("{\"text\": \"huge\"}"),
    ];
    let (place, server) = talk(Place::new(), "", "timeout_seconds = 5", &calls);
    let out = place.run(["--allow", "mcp(*)", "-p", "go"]);
    let found = results(&server);
    assert!(
        found[0].contains("all of it is in the scratchpad `s__act-output") && found[0].len() < 10_000,
        "{found:?}"
    );
    assert!(found[1].contains("it did not work"));
    assert!(found[2].contains("after the noise"));
    assert!(!out.stderr.contains('\x1b') && !out.stdout.contains('\x1b'), "{out:#?}");
    // Nobody answered for the person: two refusals, the workspace, and an answer to the ping.
    let answers: Value = serde_json::from_str(&found[4]).unwrap();
    assert_eq!(answers[0]["action"], "decline");
    assert_eq!(answers[1], -32602);
    assert!(answers[2]["roots"][0]["uri"].as_str().unwrap().starts_with("file:///"), "{answers}");
    // Progress is a sign of life, silence is not.
    assert!(found[5].contains("slow and done"), "{found:?}");
    assert!(found[6].contains("it did not answer within 5 s"), "{found:?}");
    assert!(found[7].contains("the server `s` failed"), "{}", found[7]);
}

/// A server that prints something else than messages: noise is harmless, and a failure names the line.
#[test]
fn a_line_that_is_not_a_message_is_reported_as_what_it_is() {
    if !is_possible() {
        return;
    }
    // Half of an answer ends its call at once, long before the deadline of a minute.
    let (half, server) = talk(Place::new(), "", "", &[("s__act", "{\"text\": \"half\"}")]);
    let out = half.run(["--allow", "mcp(*)", "-p", "go"]);
    let found = results(&server);
    let answer = "its answer cannot be read as a message of the protocol: `{\"jsonrpc\":\"2.0\",\"id\":";
    assert!(found[0].contains(answer) && found[0].contains("may have had an effect"), "{found:?}");
    assert!(!out.stderr.contains('\x1b') && !out.stdout.contains('\x1b'), "{out:#?}");
    let start = call(&place("half", ""), "s__echo", "{}", &[]);
    assert!(start.stderr.contains("\"result\": {\"x\"`; its tools are not offered"), "{start:#?}");
    // Of another line nobody knows whether it was the answer: the deadline has both facts. The line is reported once.
    let calls = [("s__act", "{\"text\": \"lost\"}"), ("s__act", "{\"text\": \"hang\"}")];
    let (lost, server) = talk(Place::new(), "", "timeout_seconds = 6", &calls);
    let out = lost.run(["--allow", "mcp(*)", "-p", "go"]);
    let found = results(&server);
    let line = "within 6 s; it printed a line that is not a message of the protocol: `Traceback ";
    assert!(found[0].contains(line) && found[0].contains("[the first 200 of 5038 bytes]"), "{found:?}");
    assert!(found[1].contains("within 6 s") && !found[1].contains("Traceback"), "{found:?}");
    assert!(!out.stderr.contains('\x1b') && !out.stdout.contains('\x1b'), "{out:#?}");
    let usage = call(&place("usage", ""), "s__echo", "{}", &[]);
    assert!(
        usage.stderr.contains(
            "it ended, or closed its output; it printed a line that is not a message of the protocol: \
             `usage: server [--stdio]`"
        ),
        "{usage:#?}"
    );
    // A line before the messages is no failure.
    let chatty = call(&place("chatty", ""), "s__echo", "{\"text\": \"hello\"}", &[]).code(0);
    assert!(chatty.stdout.contains("hello") && !chatty.stderr.contains("listens"), "{chatty:#?}");
    let stuck = call(&place("chatty silent", "timeout_seconds = 6"), "s__echo", "{}", &[]);
    assert!(stuck.stderr.contains("of the protocol: `Server ␛[31mlistens on stdio`"), "{stuck:#?}");
}

/// Story: one block of a kind that placet did not know made the whole answer unusable, and a log line without its end too.
#[test]
fn what_can_be_used_of_an_answer_or_a_list_is_used_and_the_rest_is_named() {
    if !is_possible() {
        return;
    }
    const DOT: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    let usable = json!({"type": "text", "text": "usable"});
    let told = [
        (
            json!({"content": [usable, {"type": "chart", "data": 1}]}),
            "of the type \"chart\", which placet cannot read",
        ),
        (json!({"content": [usable, {"type": "image", "data": DOT}]}), "usable"),
        (json!({"content": [{"text": "usable"}], "isError": "false"}), "usable"),
        (json!({"content": "usable"}), "usable"),
        (json!({"rows": ["usable"]}), "usable"),
        (json!({}), "[the server sent no content]"),
        (json!(null), "[the server sent no content]"),
    ];
    let mut words: Vec<String> = told.iter().map(|(result, _)| format!("result {result}")).collect();
    words.extend([
        "print working ...".into(),
        "result {\"content\": [{\"type\": \"text\", \"text\": \"a\\ud800b\"}]}".into(),
    ]);
    let arguments: Vec<String> = words.iter().map(|words| json!({"text": words}).to_string()).collect();
    let calls: Vec<(&str, &str)> = arguments.iter().map(|arguments| ("s__act", arguments.as_str())).collect();
    let (place, server) = talk(Place::new(), "odd", "", &calls);
    let out = place.run(["--allow", "mcp(*)", "-p", "go"]).code(0);
    assert!(out.stderr.contains("the server `s` has 2 tools that no model can use; not offered"), "{out:#?}");
    let found = results(&server);
    for ((result, expected), found) in told.iter().zip(&found) {
        assert!(found.contains(expected) && !found.contains("failed"), "{result}: {found}");
    }
    assert_eq!(found.iter().filter(|text| text.contains("usable")).count(), 5, "{found:?}");
    assert!(found[7].contains("after the print") && found[8].contains("a\u{fffd}b"), "{found:?}");
}
