//! Small windows through the real program: what is sent never exceeds them, the person's request is always in it, and
//! reads, edits and commands work.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Recorded, Reply, Say};
use serde_json::{Value, json};

const TURNS: usize = 20;

/// A source file of about `size` bytes.
fn source(size: usize) -> String {
    let row =
        |n: usize| format!("    let value_{n} = compute(value_{}, \"row {n}\");\n", n.saturating_sub(1));
    (0..size / 46).map(row).collect()
}

/// Settings for a server with this window. A summary would be a request that is not in the script.
fn place(window: u64, server: &MockServer, form: &str) -> Place {
    let url = server.url();
    Place::new().config(&format!(
        "provider = \"mine\"\nmodel = \"m\"\ncontext_window = {window}\nmode = \"write\"\ncompact_percent = 0\nnetwork.attempts = 1\n\
         [providers.mine]\nbase_url = \"{url}\"\ntools = \"{form}\"\n"
    ))
}

/// A call in the form that the model was asked for.
fn call(form: &str, tool: &str, input: &Value) -> Reply {
    match form {
        "json" => Reply::openai(&[Say::Text(&json!({"tool": tool, "arguments": input}).to_string())]),
        _ => Reply::openai(&[Say::Call("c", tool, &input.to_string())]),
    }
}

fn words(form: &str, text: &str) -> Reply {
    match form {
        "json" => Reply::openai(&[Say::Text(&json!({"say": text}).to_string())]),
        _ => Reply::openai(&[Say::Text(text)]),
    }
}

/// What the server counts: the contents of the messages, the calls and the tools.
fn sent(body: &Value) -> (usize, usize) {
    let length = |value: &Value| value.as_str().map_or_else(|| value.to_string().len(), str::len);
    let messages = body["messages"].as_array().unwrap();
    let of = |message: &Value| {
        ["content", "tool_calls"]
            .iter()
            .filter_map(|key| message.get(key))
            .filter(|v| !v.is_null())
            .map(length)
            .sum::<usize>()
    };
    let fixed = of(&messages[0]) + body.get("tools").map_or(0, |tools| tools.to_string().len());
    (fixed, fixed + messages[1..].iter().map(of).sum::<usize>())
}

fn check(request: &Recorded, window: usize, asked: &str) {
    let (fixed, all) = sent(&request.body);
    let room = request.body["max_tokens"].as_u64().unwrap() as usize;
    // As placet counts, with room for the answer; and alone, for models to which three bytes are a token.
    assert!(
        all * 2 / 7 + room <= window,
        "{all} bytes and an answer of {room} tokens in a window of {window}"
    );
    assert!(all / 3 <= window, "{all} bytes in a window of {window}");
    assert!(fixed / 3 < window / 4, "{fixed} of {window}");
    assert!(request.body["messages"].to_string().contains(asked), "{asked}: {}", request.body);
}

#[test]
fn twenty_turns_of_reads_edits_and_commands_stay_within_every_window() {
    for (window, form) in [(4_096, "json"), (8_192, "native"), (16_384, "json"), (32_768, "native")] {
        let server = MockServer::start([]);
        let place =
            place(window, &server, form).file("big.rs", source(100_000)).file("small.rs", source(10_000));
        for turn in 0..TURNS {
            let (tool, input) = match turn % 4 {
                0 => ("read_file", json!({"path": "small.rs"})),
                1 => ("read_file", json!({"path": "big.rs", "offset": turn * 50, "limit": 60})),
                2 => {
                    let row = format!("\"row {}\"", (turn - 1) * 50 + 3);
                    ("edit_file", json!({"path": "big.rs", "old_string": row, "new_string": "\"new\""}))
                }
                _ => ("run_command", json!({"command": "cat small.rs; seq 1 3000"})),
            };
            let before = server.requests().len();
            // What a request leaves out counts as unread: the lines are read again before the edit.
            let again = json!({"path": "big.rs", "offset": (turn.max(1) - 1) * 50, "limit": 10});
            let calls = if tool == "edit_file" { vec![("read_file", again)] } else { Vec::new() };
            let calls: Vec<_> = calls.into_iter().chain([(tool, input)]).collect();
            calls.iter().for_each(|(tool, input)| server.push(call(form, tool, input)));
            server.push(words(form, "That is done."));
            let asked = format!("This is request number {turn}, please.");
            let more: &[&str] = if turn == 0 { &[] } else { &["-c"] };
            place.run(["-p", asked.as_str()].iter().chain(more)).code(0);
            let requests = server.requests();
            assert_eq!(requests.len(), before + calls.len() + 1);
            requests[before..].iter().for_each(|request| check(request, window as usize, &asked));
        }
        assert_eq!(server.violations(), Vec::<String>::new());
        // A read that leaves the request takes newer reads of the same file with it, which happens in the smallest window.
        let least = if window > 4_096 { TURNS / 4 } else { 1 };
        assert!(place.read("big.rs").matches("\"new\"").count() >= least, "{window}");
    }
}

#[test]
fn at_8k_three_reads_and_two_edits_work_in_one_turn() {
    for form in ["native", "json", "text"] {
        let server = MockServer::start([]);
        let mut place = place(8_192, &server, form);
        let text = |tool: &str, input: Value| match form {
            "text" => Reply::openai(&[Say::Text(&format!(
                "<tool_call>{}</tool_call>",
                json!({"name": tool, "arguments": input})
            ))]),
            _ => call(form, tool, &input),
        };
        for name in ["a.rs", "b.rs", "c.rs"] {
            place = place.file(name, source(10_000));
            server.push(text("read_file", json!({"path": name})));
        }
        for name in ["a.rs", "b.rs"] {
            server.push(text(
                "edit_file",
                json!({"path": name, "old_string": "\"row 7\"", "new_string": "\"seven\""}),
            ));
        }
        server.push(words(form, "Both are changed."));
        let out = place.run(["-p", "Change row 7 of a.rs and b.rs."]).code(0);
        assert!(
            out.stdout.contains("Both are changed.") && !out.stdout.contains("\"say\""),
            "{}",
            out.stdout
        );
        for name in ["a.rs", "b.rs"] {
            assert!(place.read(name).contains("\"seven\""), "{form}: {name}");
        }
        let requests = server.requests();
        requests.iter().for_each(|request| check(request, 8_192, "Change row 7 of a.rs"));
        assert_eq!(requests[0].body.get("tools").is_some(), form == "native");
        assert_eq!(requests[0].body.get("response_format").is_some(), form == "json");
    }
}

/// The answer of a server that was sent a schema, in the forms in which it may come.
#[test]
fn an_answer_by_schema_is_words_or_a_call_and_what_is_neither_is_text() {
    let read = json!({"tool": "read_file", "arguments": {"path": "notes.txt"}});
    for (first, calls) in [
        (read.to_string(), 1),
        (format!("{}\n", serde_json::to_string_pretty(&read).unwrap()), 1),
        (json!({"tool": "open_browser", "arguments": {}}).to_string(), 1),
        // A server that does not know `response_format`.
        (
            "<tool_call>{\"name\": \"read_file\", \"arguments\": {\"path\": \"notes.txt\"}}</tool_call>"
                .into(),
            1,
        ),
        ("It has two lines.".into(), 0),
        ("{\"say\": \"It has two lines.\"}".into(), 0),
    ] {
        let server =
            MockServer::start([Reply::openai(&[Say::Text(&first)]), words("json", "It has two lines.")]);
        let place = place(8_192, &server, "json").file("notes.txt", "one\ntwo\n");
        let report = place.run(["-p", "What is in notes.txt?", "--output-format", "json"]).code(0).json();
        assert_eq!(report["answer"], "It has two lines.", "{first}");
        assert_eq!(report["calls"].as_array().map_or(0, Vec::len), calls, "{first}: {report}");
        let last = server.requests().last().unwrap().body.clone();
        assert_eq!(last["messages"].as_array().unwrap().len(), 2 + 2 * calls, "{last}");
    }
}
