//! What placet learns of a server: by asking it, from its errors, and from what it counts.

use crate::support::binary::{Out, Place};
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::shell;
use crate::support::talk::{Talk, Wire, turn};
use crate::support::wait;
use placet::agent::{TurnEnding, TurnEvent};
use serde_json::{Value, json};

fn props(window: u64) -> Reply {
    Reply::json(
        200,
        &json!({"default_generation_settings": {"n_ctx": window}, "modalities": {"vision": false},
            "chat_template_caps": {"supports_tools": false}}),
    )
}

fn ask(server: &MockServer, provider: &str, settings: &str) -> Out {
    let url = format!("{}/v1", server.url());
    let place = Place::with_notes().config(&format!("network.attempts = 1\n{settings}"));
    place.run(["-p", "hello", "--provider", provider, "--model", "m", "--base-url", &url])
}

fn paths(server: &MockServer) -> Vec<String> {
    server.requests().iter().map(|request| format!("{} {}", request.method, request.path)).collect()
}

#[test]
fn the_server_is_asked_once_and_its_window_counts() {
    let answer = Reply::openai(&[Say::Text("Hi.")]);
    let server = MockServer::start([props(8192), Reply::json(404, &json!({})), answer]);
    let out = ask(&server, "llamacpp", "").code(0);
    out.warns("says of m: window 8192 (/props), no tools (/props): calls as JSON, no pictures (/props)");
    assert_eq!(paths(&server), ["GET /props", "GET /v1/models", "POST /v1/chat/completions"]);
    assert_eq!(server.requests()[2].body["max_tokens"], 2048, "a quarter of it");
}

#[test]
fn the_persons_window_wins_and_a_server_without_an_answer_changes_nothing() {
    for (props, window, most) in [(props(8192), "4096", 1024), (Reply::json(500, &json!({})), "8000", 2000)] {
        let answer = Reply::openai(&[Say::Text("Hi.")]);
        let server = MockServer::start([props, Reply::json(404, &Value::Null), answer]);
        ask(&server, "llamacpp", &format!("context_window = {window}")).code(0);
        assert_eq!(server.requests()[2].body["max_tokens"], most);
    }
}

#[test]
fn a_server_that_counts_much_less_than_it_was_sent_is_said_to_have_cut_it() {
    let ps = Reply::json(200, &json!({"models": []}));
    let show = Reply::json(200, &json!({"capabilities": ["tools"]}));
    // The mock counts 10 tokens.
    let answer = || Reply::openai(&[Say::Text("Hi.")]);
    let server = MockServer::start([ps.clone(), show.clone(), answer()]);
    ask(&server, "ollama", "")
        .code(0)
        .warns("the server counted 10 tokens of a request of about")
        .warns("ollama serve");
    assert_eq!(server.requests()[1].body["model"], "m");
    let server = MockServer::start([ps, Reply::json(404, &json!({})), answer()]);
    let out = ask(&server, "vllm", "");
    assert!(!out.stderr.contains("counted"), "vLLM refuses what is too long: {}", out.stderr);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_loads_its_model_is_waited_for() {
    let loading = || {
        Reply::json(
            503,
            &json!({"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}),
        )
    };
    let talk = Talk::new(Wire::OpenAi);
    let mut replies = vec![loading()];
    // More often than a request is tried.
    replies.extend(std::iter::repeat_with(loading).take(20));
    replies.push(Reply::json(200, &json!({"status": "ok"})));
    replies.push(Reply::openai(&[Say::Text("Hi.")]));
    replies.into_iter().for_each(|reply| talk.server.push(reply));
    let mut said = Vec::new();
    let ending = turn(&mut talk.begin(), "go", |event, _| {
        if let TurnEvent::Retrying { error, .. } = event {
            said.push(error.to_string());
        }
    })
    .await;
    assert_eq!(ending, TurnEnding::Done);
    assert_eq!(said, ["the server is loading the model: Loading model"]);
    let asked: Vec<String> = talk.server.requests().iter().map(|request| request.path.clone()).collect();
    assert_eq!(asked.iter().filter(|path| *path == "/health").count(), 21, "{asked:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_window_in_an_error_is_the_window_from_then_on() {
    let talk = Talk::new(Wire::OpenAi);
    let error = json!({"error": {"code": 400, "message": "the request exceeds the available context size, try to increase it",
        "type": "exceed_context_size_error", "n_prompt_tokens": 9000, "n_ctx": 4096}});
    talk.server.push(Reply::json(400, &error));
    talk.server.push(Reply::openai(&[Say::Text("Hi.")]));
    talk.server.push(Reply::openai(&[Say::Text("Hi.")]));
    let mut agent = talk.begin();
    for _ in 0..2 {
        assert_eq!(turn(&mut agent, &"words ".repeat(3_000), |_, _| {}).await, TurnEnding::Done);
    }
    let limits: Vec<u64> =
        talk.server.requests().iter().map(|r| r.body["max_tokens"].as_u64().unwrap()).collect();
    assert_eq!(limits, [8_000, 1_024, 1_024]);
}

#[test]
fn reasoning_that_comes_as_text_is_not_in_the_answer_and_alone_is_no_answer() {
    let thought = "<think>\nThe person greets.\n</think>\n\nHi.";
    let server = MockServer::start([Reply::openai(&[Say::Text(thought)])]);
    assert_eq!(ask(&server, "openai-compatible", "").code(0).stdout.trim(), "Hi.");
    let server = MockServer::start(vec![Reply::openai(&[Say::Text("<think>\nThe person greets.")]); 2]);
    ask(&server, "openai-compatible", "").code(4).warns("the answer had reasoning but no text and no call");
    assert_eq!(server.requests().len(), 2, "asked once more");
}

#[test]
fn arguments_with_one_meaning_are_taken_and_said() {
    let call = r#"{"path": "notes.txt", "limit": "1", "explanation": "to see it",}"#;
    let server = MockServer::start([
        Reply::openai(&[Say::Call("c", "read_file", call)]),
        Reply::openai(&[Say::Text("One.")]),
    ]);
    ask(&server, "openai-compatible", "").code(0);
    let told = server.requests()[1].body["messages"].to_string();
    for words in [
        "one",
        "`limit` \\\"1\\\" was taken as 1",
        "no parameter `explanation`: it was ignored",
        "were not valid JSON",
    ] {
        assert!(told.contains(words), "{words}: {told}");
    }
    assert!(!told.contains("│two"), "{told}");
}

#[test]
fn a_server_that_loads_is_asked_again_before_anything_is_sent_to_it() {
    let loading = Reply::json(503, &json!({"error": {"code": 503, "message": "Loading model"}}));
    let answer = Reply::openai(&[Say::Text("{\"say\": \"Hi.\"}")]);
    let server = MockServer::start([loading, props(8192), Reply::json(404, &json!({})), answer]);
    ask(&server, "llamacpp", "")
        .code(0)
        .says("Hi.")
        .warns("is loading the model")
        .warns("says of m: window 8192");
    assert_eq!(paths(&server), ["GET /props", "GET /props", "GET /v1/models", "POST /v1/chat/completions"]);
}

#[test]
fn a_server_that_refuses_tools_gets_none() {
    for (status, words) in [
        (400, "registry.ollama.ai/library/m does not support tools"),
        (400, "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set"),
        (500, "tools param requires --jinja flag"),
    ] {
        let refused = Reply::error(status, "api_error", words);
        let answer = Reply::openai(&[Say::Text("{\"say\": \"Hi.\"}")]);
        let nothing = || Reply::json(404, &json!({}));
        let server = MockServer::start([nothing(), nothing(), refused, nothing(), nothing(), answer]);
        ask(&server, "llamacpp", "").code(0).says("Hi.").warns("the server takes no tools: calls as JSON");
        let requests = server.requests();
        let sent: Vec<_> = requests.iter().filter(|request| request.method == "POST").collect();
        assert!(!sent[0].body["tools"].is_null() && sent[1].body["tools"].is_null(), "{words}");
        assert_eq!(sent[1].body["response_format"]["type"], "json_schema", "{words}");
    }
}

/// The address of the command line is that of its provider: a key of another one never goes there.
#[test]
fn another_provider_has_its_own_address_and_its_own_key() {
    let (local, vendor) = (MockServer::start([]), MockServer::start([]));
    vendor.push(Reply::error(401, "authentication_error", "no"));
    let local_url = format!("{}/v1", local.url());
    let arguments = ["--provider", "openai-compatible", "--model", "m", "--base-url", &local_url];
    let start =
        shell().variable("ANTHROPIC_API_KEY", "sk-ant-secret").variable("ANTHROPIC_BASE_URL", &vendor.url());
    let mut pty = arguments.iter().fold(start, |start, argument| start.arg(argument)).open();
    pty.line("/provider anthropic claude-sonnet-4-5");
    pty.until("the provider", |screen| screen.contains("anthropic with"));
    pty.line("hello");
    wait::until("the request", || !vendor.requests().is_empty());
    assert_eq!(vendor.requests()[0].headers["x-api-key"], "sk-ant-secret");
    assert!(local.requests().is_empty(), "{:?}", paths(&local));
}
