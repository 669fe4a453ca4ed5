//! Small windows through the real program: what is sent never exceeds them, the person's request is always in it, and
//! reads, edits and commands work.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Recorded, Reply, Say};
use crate::support::talk::Wire;
use serde_json::{Value, json};

const TURNS: usize = 20;

const WINDOWS: [u64; 4] = [4_096, 8_192, 16_384, 32_768];

/// What the request for a summary has.
const SUM_UP: &str = "will be replaced by what you write now";

/// A source file of about `size` bytes.
fn source(size: usize) -> String {
    let row =
        |n: usize| format!("    let value_{n} = compute(value_{}, \"row {n}\");\n", n.saturating_sub(1));
    (0..size / 46).map(row).collect()
}

/// A kind of server: its wire format, how its model makes calls, and what it says about itself.
struct Kind {
    name: &'static str,
    wire: Wire,
    form: &'static str,
    preset: &'static str,
    says: fn(u64) -> Vec<(&'static str, Value)>,
}

/// A server that cannot be asked: the settings have the window and the form of calls.
fn silent(wire: Wire, form: &'static str) -> Kind {
    Kind { name: wire.setting(), wire, form, preset: "", says: |_| Vec::new() }
}

/// Those that say something, by their documentation, with the fields that are read and some beside them.
fn kinds() -> Vec<Kind> {
    let chat = |name, preset, form, says| Kind { name, wire: Wire::OpenAi, form, preset, says };
    vec![
        chat("llama.cpp", "llama.cpp", "json", |window| {
            let caps = json!({"supports_tools": false, "supports_tool_calls": false});
            vec![
                (
                    "/props",
                    json!({"default_generation_settings": {"n_ctx": window}, "chat_template_caps": caps}),
                ),
                (
                    "/v1/models",
                    json!({"data": [{"id": "m", "meta": {"n_ctx": window, "n_ctx_train": 131_072}}]}),
                ),
            ]
        }),
        chat("Ollama", "ollama", "json", |window| {
            vec![
                ("/api/ps", json!({"models": [{"name": "m:latest", "context_length": window}]})),
                (
                    "/api/show",
                    json!({"model_info": {"a.context_length": 131_072}, "capabilities": ["completion"]}),
                ),
            ]
        }),
        chat("Ollama with tools", "ollama", "native", |window| {
            vec![
                ("/api/ps", json!({"models": []})),
                (
                    "/api/show",
                    json!({"parameters": format!("num_ctx    {window}"), "capabilities": ["completion", "tools"]}),
                ),
            ]
        }),
        chat("LM Studio", "lmstudio", "json", |window| {
            let model = json!({"id": "m", "type": "llm", "state": "loaded", "max_context_length": 131_072,
                "loaded_context_length": window, "capabilities": []});
            vec![("/api/v0/models", json!({"data": [model]}))]
        }),
        chat("vLLM", "vllm", "native", |window| {
            vec![
                ("/v1/models", json!({"data": [{"id": "m", "owned_by": "vllm", "max_model_len": window}]})),
                ("/info", json!({"detail": "Not Found"})),
            ]
        }),
        chat("SGLang", "vllm", "native", |window| {
            vec![
                ("/v1/models", json!({"data": [{"id": "m", "owned_by": "sglang", "max_model_len": window}]})),
                ("/info", json!({"detail": "Not Found"})),
            ]
        }),
        chat("TGI", "vllm", "native", |window| {
            vec![
                ("/v1/models", json!({"data": [{"id": "m", "object": "model"}]})),
                (
                    "/info",
                    json!({"model_id": "m", "max_total_tokens": window, "max_input_tokens": window - 1}),
                ),
            ]
        }),
        chat("LiteLLM", "litellm", "text", |window| {
            let info = json!({"max_input_tokens": window, "supports_function_calling": false});
            vec![("/model/info", json!({"data": [{"model_name": "m", "model_info": info}]}))]
        }),
        chat("OpenRouter", "openrouter", "text", |window| {
            let model = json!({"id": "m", "context_length": window, "supported_parameters": ["max_tokens"]});
            vec![("/v1/models", json!({"data": [{"id": "x"}, model]}))]
        }),
    ]
}

impl Kind {
    fn start(&self, window: u64) -> (MockServer, Place) {
        let server = MockServer::start([]);
        let answers = (self.says)(window);
        let set = match answers.is_empty() {
            true => format!("context_window = {window}\n"),
            false => String::new(),
        };
        for (path, answer) in answers {
            server.says_at(path, Reply::json(200, &answer));
        }
        let provider = match self.preset {
            "" => format!("dialect = \"{}\"\ntools = \"{}\"\n", self.wire.setting(), self.form),
            preset => format!("preset = \"{preset}\"\n"),
        };
        let place = Place::new().config(&format!(
            "provider = \"mine\"\nmodel = \"m\"\n{set}mode = \"write\"\nnetwork.attempts = 1\n\
             [providers.mine]\nbase_url = \"{}\"\nkey_env = \"MOCK_KEY\"\n{provider}",
            server.url()
        ));
        (server, place)
    }

    /// A call in the form that the model was asked for.
    fn call(&self, tool: &str, input: &Value) -> Reply {
        match self.form {
            "json" => self.wire.reply(&[Say::Text(&json!({"tool": tool, "arguments": input}).to_string())]),
            "text" => self.wire.reply(&[Say::Text(&block(tool, input))]),
            _ => self.wire.reply(&[Say::Call("c", tool, &input.to_string())]),
        }
    }

    fn words(&self, text: &str) -> Reply {
        match self.form {
            "json" => self.wire.reply(&[Say::Text(&json!({"say": text}).to_string())]),
            _ => self.wire.reply(&[Say::Text(text)]),
        }
    }

    /// What the server counts: the bytes of what never changes, of all, and the tokens for the answer.
    fn sent(&self, body: &Value) -> (usize, usize, usize) {
        let tools = body.get("tools").map_or(0, |tools| tools.to_string().len());
        let (system, history, room) = match self.wire {
            Wire::OpenAi => {
                let messages = body["messages"].as_array().unwrap();
                (&messages[0]["content"], messages[1..].iter().collect::<Vec<_>>(), &body["max_tokens"])
            }
            Wire::Anthropic => (&body["system"], vec![&body["messages"]], &body["max_tokens"]),
            Wire::Responses => (&body["instructions"], vec![&body["input"]], &body["max_output_tokens"]),
            Wire::Gemini => {
                let room = &body["generationConfig"]["maxOutputTokens"];
                (&body["systemInstruction"], vec![&body["contents"]], room)
            }
        };
        let fixed = text_bytes(system) + tools;
        (fixed, fixed + history.into_iter().map(text_bytes).sum::<usize>(), room.as_u64().unwrap() as usize)
    }

    fn check(&self, request: &Recorded, window: u64, asked: Option<&str>) {
        let window = window as usize;
        let (fixed, all, room) = self.sent(&request.body);
        let at = format!("{} {} {window}", self.name, self.form);
        // As placet counts, with room for the answer; and alone, for models to which three bytes are a token.
        assert!(all * 2 / 7 + room <= window, "{at}: {all} bytes and an answer of {room} tokens");
        assert!(all / 3 <= window, "{at}: {all} bytes");
        assert!(fixed / 3 < window / 4, "{at}: {fixed} fixed");
        let text = request.body.to_string();
        assert!(asked.is_none_or(|asked| text.contains(asked)), "{at}: {asked:?}: {text}");
    }
}

/// The bytes of all texts and arguments in it.
fn text_bytes(value: &Value) -> usize {
    const BESIDE: [&str; 7] = ["type", "role", "id", "call_id", "tool_use_id", "tool_call_id", "name"];
    match value {
        Value::Object(fields) => {
            let texts = fields.iter().filter(|(key, _)| !BESIDE.contains(&key.as_str()));
            texts.map(|(_, value)| text_bytes(value)).sum()
        }
        Value::Array(items) => items.iter().map(text_bytes).sum(),
        Value::String(text) => text.len(),
        _ => 0,
    }
}

/// A call as the system prompt shows it.
fn block(tool: &str, input: &Value) -> String {
    let text = |name: &str| input[name].as_str().unwrap_or_default();
    let inner = match tool {
        "read_file" => {
            let option =
                |name: &str| input.get(name).map_or(String::new(), |value| format!(" {name}={value}"));
            format!("{}{}{}\n", text("path"), option("offset"), option("limit"))
        }
        "edit_file" => {
            let (old, new) = (text("old_string"), text("new_string"));
            format!("{}\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n", text("path"))
        }
        "write_file" => format!("{}\n{}", text("path"), text("content")),
        _ => format!("\n{}\n", text("command")),
    };
    format!("I will do that.\n\n```call {tool} {inner}```")
}

/// The calls of a turn: reads of two files, an edit of lines that were read before, a command with a long output.
fn calls(turn: usize) -> Vec<(&'static str, Value)> {
    match turn % 4 {
        0 => vec![("read_file", json!({"path": "small.rs"}))],
        1 => vec![("read_file", json!({"path": "big.rs", "offset": turn * 50, "limit": 60}))],
        2 => {
            let row = format!("\"row {}\"", (turn - 1) * 50 + 3);
            // What the request has left out counts as unread: the lines are read again before the edit.
            let again = json!({"path": "big.rs", "offset": (turn - 1) * 50, "limit": 10});
            let edit = json!({"path": "big.rs", "old_string": row, "new_string": "\"new\""});
            vec![("read_file", again), ("edit_file", edit)]
        }
        _ => vec![("run_command", json!({"command": "cat small.rs; seq 1 3000"}))],
    }
}

/// Twenty turns: nothing that is sent exceeds the window, summaries included, each request has what the person asked, and
/// each edit is made.
fn twenty_turns(kind: &Kind, window: u64) {
    let (server, place) = kind.start(window);
    let place = place.file("big.rs", source(100_000)).file("small.rs", source(10_000));
    let said = kind.words(&"The person wants row numbers. ".repeat(60));
    server.judged_by(move |body| body.to_string().contains(SUM_UP).then(|| said.clone()));
    let (mut prompts, mut asked) = (String::new(), Vec::new());
    for turn in 0..TURNS {
        let calls = calls(turn);
        calls.iter().for_each(|(tool, input)| server.push(kind.call(tool, input)));
        server.push(kind.words("That is done."));
        let text = format!("This is request number {turn}, please.");
        prompts += &format!("{text}\n");
        asked.extend(std::iter::repeat_n(text, calls.len() + 1));
    }
    place.placet(["--mode", "write"]).env("MOCK_KEY", "k").stdin(prompts).go().code(0);
    let is_summary = |request: &&Recorded| request.body.to_string().contains(SUM_UP);
    let requests = server.requests();
    let (summaries, answers): (Vec<&Recorded>, Vec<&Recorded>) = requests.iter().partition(is_summary);
    assert_eq!(answers.len(), asked.len(), "{} {window}", kind.name);
    answers.iter().zip(&asked).for_each(|(request, asked)| kind.check(request, window, Some(asked)));
    summaries.iter().for_each(|request| kind.check(request, window, None));
    assert!(window > 8_192 || !summaries.is_empty(), "{} {window}: no summary was tried", kind.name);
    assert_eq!(server.violations(), Vec::<String>::new());
    let edits = place.read("big.rs").matches("\"new\"").count();
    assert_eq!(edits, TURNS / 4, "{} {} {window}", kind.name, kind.form);
}

/// All windows with the wire format's own calls, and two of them with each form of text.
fn every_window(wire: Wire) {
    for window in WINDOWS {
        twenty_turns(&silent(wire, "native"), window);
    }
    for form in ["json", "text"] {
        for window in [4_096, 16_384] {
            twenty_turns(&silent(wire, form), window);
        }
    }
}

#[test]
fn twenty_turns_stay_within_every_window_of_chat_completions() {
    every_window(Wire::OpenAi);
}

#[test]
fn twenty_turns_stay_within_every_window_of_messages() {
    every_window(Wire::Anthropic);
}

#[test]
fn twenty_turns_stay_within_every_window_of_responses() {
    every_window(Wire::Responses);
}

#[test]
fn twenty_turns_stay_within_every_window_of_gemini() {
    every_window(Wire::Gemini);
}

#[test]
fn twenty_turns_stay_within_the_window_that_each_kind_of_server_says() {
    for kind in kinds() {
        for window in WINDOWS {
            twenty_turns(&kind, window);
        }
    }
}

#[test]
fn at_8k_three_reads_and_two_edits_work_in_one_turn() {
    for form in ["native", "json", "text"] {
        let kind = silent(Wire::OpenAi, form);
        let (server, mut place) = kind.start(8_192);
        let text = |tool: &str, input: Value| kind.call(tool, &input);
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
        server.push(kind.words("Both are changed."));
        let out = place.placet(["-p", "Change row 7 of a.rs and b.rs."]).env("MOCK_KEY", "k").go().code(0);
        assert!(
            out.stdout.contains("Both are changed.") && !out.stdout.contains("\"say\""),
            "{}",
            out.stdout
        );
        for name in ["a.rs", "b.rs"] {
            assert!(place.read(name).contains("\"seven\""), "{form}: {name}");
        }
        let requests = server.requests();
        requests.iter().for_each(|request| kind.check(request, 8_192, Some("Change row 7 of a.rs")));
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
        let kind = silent(Wire::OpenAi, "json");
        let (server, place) = kind.start(8_192);
        server.push(Reply::openai(&[Say::Text(&first)]));
        server.push(kind.words("It has two lines."));
        let place = place.file("notes.txt", "one\ntwo\n");
        let asking = place.placet(["-p", "What is in notes.txt?", "--output-format", "json"]);
        let report = asking.env("MOCK_KEY", "k").go().code(0).json();
        assert_eq!(report["answer"], "It has two lines.", "{first}");
        assert_eq!(report["calls"].as_array().map_or(0, Vec::len), calls, "{first}: {report}");
        let last = server.requests().last().unwrap().body.clone();
        assert_eq!(last["messages"].as_array().unwrap().len(), 2 + 2 * calls, "{last}");
    }
}
