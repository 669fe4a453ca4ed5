//! `tools.rare_in_full = false`: a request names the tools that are seldom used, and they are described and called through
//! `more_tools`, under the same rules, hooks and names as always.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};
use serde_json::Value;

fn call(id: &str, tool: &str, input: &str) -> Reply {
    Reply::anthropic(&[Say::Call(id, tool, input)])
}

fn done() -> Reply {
    Reply::anthropic(&[Say::Text("done")])
}

/// The settings of a short request, and more.
fn place(server: &MockServer, more: &str) -> Place {
    let place = Place::with_notes().answered_by(server);
    let settings = std::fs::read_to_string(place.config_dir().join("config.toml")).unwrap();
    place.config(&format!("tools.rare_in_full = false\n{settings}{more}"))
}

fn result(request: &Value) -> String {
    request["messages"].as_array().unwrap().last().unwrap()["content"].to_string()
}

const CREATE: &str = r#"{"tool":"operations","arguments":{"operations":[{"op":"write","path":"new.txt","content":"made\n"}]}}"#;

#[test]
fn a_short_request_names_what_it_does_not_describe_and_it_is_described_and_called() {
    let server = MockServer::start([
        call("c1", "more_tools", r#"{"tool":"operations"}"#),
        call("c2", "more_tools", r#"{"tool":"operatons","arguments":{}}"#),
        call("c3", "more_tools", CREATE),
        // By its own name, as a model does that has read the description.
        call("c4", "operations", r#"{"operations":[{"op":"write","path":"more.txt","content":"too\n"}]}"#),
        done(),
    ]);
    let place = place(&server, "");
    let out = place.run(["-p", "make them", "--mode", "write"]).code(0);
    assert!(
        !out.stderr.contains("call: more_tools") && out.stderr.contains("call: 1 operation"),
        "the person sees the tool that is called: {out:?}"
    );
    assert_eq!((place.read("new.txt").as_str(), place.read("more.txt").as_str()), ("made\n", "too\n"));
    let requests = server.requests();
    let tools = requests[0].body["tools"].as_array().unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!((names.len(), *names.last().unwrap()), (11, "more_tools"));
    let more = tools.last().unwrap()["description"].as_str().unwrap();
    for name in ["apply_patch", "operations", "job", "fetch_url", "agent", "skill", "remember"] {
        assert!(!names.contains(&name) && more.contains(&format!("\n{name}: ")), "{name}: {more}");
    }
    assert!(result(&requests[1].body).contains("arguments: {"), "{}", result(&requests[1].body));
    assert!(result(&requests[2].body).contains("did you mean `operations`?"));
    assert_eq!(server.violations(), Vec::<String>::new());
}

/// The whole first request of the library's own measure, `.ci/figures`, has the same parts.
#[test]
fn a_short_request_takes_less_than_eight_thousand_bytes() {
    let server = MockServer::start([done()]);
    let short = place(&server, "");
    short.run(["-p", "hello", "--mode", "ask"]).code(0);
    let full = MockServer::start([done()]);
    let other = Place::with_notes().answered_by(&full);
    other.run(["-p", "hello", "--mode", "ask"]).code(0);
    let bytes = |server: &MockServer| server.requests()[0].body.to_string().len();
    assert!(bytes(&server) < 8_000 && bytes(&full) < 10_500, "{} of {}", bytes(&server), bytes(&full));
}

#[test]
fn rules_and_hooks_know_the_tool_and_not_the_way_to_it() {
    let server = MockServer::start([call("c1", "more_tools", CREATE), done()]);
    let hook = "[[hooks]]\nname = \"no-batch\"\npoint = \"PRE_TOOL_CALL\"\ntool = \"operations\"\nask = \"\"\nreason = \"one by one\"\n";
    let guarded = place(&server, hook);
    guarded.run(["-p", "make it", "--mode", "write"]);
    assert!(
        result(&server.requests()[1].body).contains("no-batch"),
        "{}",
        result(&server.requests()[1].body)
    );
    assert!(!guarded.beside("tree/new.txt").exists());

    let server = MockServer::start([call("c1", "more_tools", CREATE), done()]);
    let ruled = place(&server, "");
    ruled.run(["-p", "make it", "--mode", "write", "--deny", "operations"]);
    assert!(result(&server.requests()[1].body).contains("denied"), "{}", result(&server.requests()[1].body));

    // Programs call every tool by its own name.
    let input: Value = serde_json::from_str(CREATE).unwrap();
    ruled.call("operations", &input["arguments"], &["--mode", "write"]).code(0);
    assert_eq!(ruled.read("new.txt"), "made\n");
}

#[test]
fn a_call_that_fails_by_its_arguments_is_named_as_the_tool() {
    let server =
        MockServer::start([call("c1", "more_tools", r#"{"tool":"operations","arguments":{}}"#), done()]);
    let out = place(&server, "").run(["-p", "make it", "--mode", "write"]).code(0);
    assert!(out.stderr.contains("operations: ") && !out.stderr.contains("more_tools"), "{out:?}");
}

#[test]
fn the_list_of_tools_has_those_that_are_looked_up() {
    let mut pty =
        crate::support::pty::shell().size(100, 50).arg("--set").arg("tools.rare_in_full=false").open();
    pty.line("/tools");
    pty.until("all of them", |s| {
        ["more_tools", "called through more_tools:", "apply_patch", "fetch_url", "remember"]
            .iter()
            .all(|name| s.contains(name))
    });
}
