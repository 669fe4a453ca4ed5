//! Calls that a server sends as text, through the real program: they take the way of any other call, or are said to be
//! what they are.

use crate::support::binary::{Out, Place};
use crate::support::mock_server::{MockServer, Reply, Say};

const READ: &str = r#"{"name": "read_file", "arguments": {"path": "notes.txt"}}"#;

/// The six forms that were printed as the answer, with exit code 0.
fn forms() -> [String; 6] {
    [
        format!("<tool_call>\n{READ}\n</tool_call>"),
        r#"<|python_tag|>{"name": "read_file", "parameters": {"path": "notes.txt"}}"#.into(),
        READ.into(),
        format!("[TOOL_CALLS][{READ}]"),
        format!("```json\n{READ}\n```"),
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n```json\n{\"path\": \"notes.txt\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>".into(),
    ]
}

fn ask(place: &Place, server: &MockServer, more: &[&str]) -> Out {
    let url = server.url();
    let args = [
        "-p",
        "What is in notes.txt?",
        "--provider",
        "openai-compatible",
        "--model",
        "m",
        "--base-url",
        &url,
    ];
    place.run(args.iter().chain(more))
}

#[test]
fn a_call_that_comes_as_text_runs_like_any_other_and_is_not_in_the_answer() {
    for form in forms() {
        let said = format!("I will read it.\n\n{form}");
        let server = MockServer::start([
            Reply::openai(&[Say::Text(&said)]),
            Reply::openai(&[Say::Text("Two lines.")]),
        ]);
        let place = Place::with_notes();
        let report = ask(&place, &server, &["--output-format", "json"]).code(0).json();
        assert_eq!(report["answer"], "Two lines.", "{form}");
        assert_eq!(report["calls"][0]["tool"], "read_file", "{form}");
        let second = server.requests()[1].body["messages"].to_string();
        assert!(second.contains("one\\n") && second.contains("two"), "{second}");
        assert!(!second.contains("TOOL_CALLS") && !second.contains("tool_call>"), "{second}");
        assert_eq!(server.violations(), Vec::<String>::new());
    }
}

#[test]
fn a_change_that_comes_as_text_is_pending_like_any_other() {
    let call = "<tool_call>{\"name\": \"write_file\", \"arguments\": {\"path\": \"new.txt\", \"content\": \"x\\n\"}}</tool_call>";
    let server = MockServer::start([Reply::openai(&[Say::Text(call)]), Reply::openai(&[Say::Text("Done.")])]);
    let place = Place::with_notes();
    ask(&place, &server, &["--mode", "ask"]).code(3);
    assert!(!place.tree.join("new.txt").exists());
    assert!(place.run(["changes"]).code(0).stdout.contains("new.txt"));
}

#[test]
fn a_call_as_text_that_cannot_run_is_told_once_and_ends_with_code_4() {
    let unknown = "<tool_call>{\"name\": \"open_browser\", \"arguments\": {}}</tool_call>";
    let late = format!("<tool_call>{READ}</tool_call>\nThe file has two lines.");
    for (text, why) in
        [(unknown, "there is no tool `open_browser`"), (late.as_str(), "it is not the end of the answer")]
    {
        let server = MockServer::start(vec![Reply::openai(&[Say::Text(text)]); 3]);
        ask(&Place::with_notes(), &server, &[])
            .code(4)
            .warns("a tool call as text, and it was not run")
            .warns(why);
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        let told = requests[1].body["messages"].to_string();
        assert!(told.contains("your last answer had a tool call as text") && told.contains(why), "{told}");
    }
}

#[test]
fn a_server_that_makes_calls_may_also_say_what_a_call_looks_like() {
    let server = MockServer::start([
        Reply::openai(&[Say::Call("c", "read_file", r#"{"path":"notes.txt"}"#)]),
        Reply::openai(&[Say::Text(&format!("A call looks like this:\n\n```json\n{READ}\n```"))]),
    ]);
    let out = ask(&Place::with_notes(), &server, &[]).code(0);
    assert!(out.stdout.contains(READ), "{}", out.stdout);
    assert_eq!(server.requests().len(), 2);
}
