//! What servers want said differently: each quirk changes what it says and nothing else, in the preset and in the
//! settings alike.

use crate::support::binary::Place;
use crate::support::history_rules;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::request::request;
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, Image, Message, Part,
    StopReason, ThinkingBlock, ToolCall,
};
use placet::provider::{
    OpenAiChatFormat, OpenAiResponsesFormat, ProviderPreset, ServerQuirks, StreamEvent, WireFormat,
};
use serde_json::{Value, json};

fn conversation(thinking: ThinkingBlock) -> Vec<Message> {
    let call = ToolCall { id: CallId::new("toolu_1"), name: "t".into(), input: CallInput::parse("{}") };
    let picture = Image::new("image/png", 1, 1, "p.png", vec![1].into());
    let result = CallResult::new(&call, CallOutcome::Done, vec![Part::text("seen"), Part::Image(picture)]);
    let blocks = vec![AssistantBlock::Thinking(thinking), AssistantBlock::Call(call)];
    vec![
        Message::user("look"),
        Message::Assistant(AssistantMessage {
            blocks,
            stop: StopReason::ToolUse,
            model: "m".into(),
            ..AssistantMessage::default()
        }),
        Message::Results { results: vec![result] },
        Message::user("and?"),
    ]
}

fn thinking() -> ThinkingBlock {
    ThinkingBlock { text: "Hm.".into(), ..ThinkingBlock::default() }
}

fn quirks(text: &str) -> ServerQuirks {
    toml::from_str(text).unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn chat(text: &str) -> Value {
    let body = OpenAiChatFormat { quirks: quirks(text) }.encode(&request(conversation(thinking())));
    assert_eq!(history_rules::broken("/chat/completions", &body), Vec::<String>::new(), "{text}");
    body
}

#[test]
fn each_quirk_changes_what_it_says_and_nothing_else() {
    let usual = chat("");
    let rows = [
        ("output_limit = 'unsaid'", "/max_tokens", Value::Null),
        ("system_role = 'developer'", "/messages/0/role", json!("developer")),
        ("stream_options = false", "/stream_options", Value::Null),
        ("parallel_tool_calls = false", "/parallel_tool_calls", json!(false)),
        ("empty_content = 'omitted'", "/messages/2/content", Value::Null),
        ("reasoning_back = 'reasoning_content'", "/messages/2/reasoning_content", json!("Hm.")),
        ("call_ids = 'nine'", "/messages/3/tool_call_id", Value::Null),
    ];
    for (text, pointer, value) in rows {
        let mut body = chat(text);
        let found = body.pointer(pointer).cloned().unwrap_or(Value::Null);
        assert_ne!(body, usual, "{text}");
        if text.starts_with("call_ids") {
            let (asked, answered) = (&body["messages"][2]["tool_calls"][0]["id"], &found);
            assert_eq!((asked, found.as_str().map(str::len)), (answered, Some(9)));
            continue;
        }
        assert_eq!(found, value, "{text}");
        // Put back, everything is as usual.
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let before = usual.pointer(pointer).cloned();
        let fields = body.pointer_mut(parent).and_then(Value::as_object_mut).unwrap();
        match before {
            Some(before) => drop(fields.insert(key.into(), before)),
            None => drop(fields.remove(key)),
        }
        assert_eq!(body, usual, "{text}");
    }
    let other = chat("output_limit = 'max_completion_tokens'");
    assert_eq!((&usual["max_tokens"], &other["max_completion_tokens"]), (&json!(100), &json!(100)));
    assert_eq!(other["max_tokens"], Value::Null);
}

#[test]
fn a_server_that_wants_the_model_to_speak_first_gets_a_word_of_it() {
    let body = chat("after_results = 'assistant'\ntool_images = 'inside'\nempty_content = 'empty'");
    let roles: Vec<&str> =
        body["messages"].as_array().unwrap().iter().map(|m| m["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool", "assistant", "user"]);
    assert_eq!(body["messages"][2]["content"], "");
    assert_eq!(body["messages"][3]["content"][0]["text"], "seen");
    assert_eq!(body["messages"][3]["content"][1]["type"], "image_url");
    assert_eq!(body["messages"][5]["content"], "and?");
}

/// What arrives as blocks goes back as the same blocks, joined where the stream had cut them.
#[test]
fn reasoning_in_blocks_goes_back_unchanged() {
    let text = "reasoning_fields = ['reasoning']\nreasoning_blocks = 'reasoning_details'";
    let dialect = OpenAiChatFormat { quirks: quirks(text) };
    let mut decoder = dialect.decoder();
    let delta = |delta: Value| json!({"model": "m", "choices": [{"index": 0, "delta": delta}]}).to_string();
    let block = |text: &str, index: u64| json!({"type": "reasoning.text", "text": text, "index": index, "format": "x"});
    for data in [
        delta(json!({"reasoning": "Let me ", "reasoning_details": [block("Let me ", 0)]})),
        delta(json!({"reasoning": "see.", "reasoning_details": [block("see.", 0)]})),
        delta(json!({"reasoning_details": [{"type": "reasoning.text", "index": 0, "signature": "sig"}]})),
        delta(
            json!({"reasoning_details": [{"type": "reasoning.encrypted", "index": 1, "data": "op", "id": "t"}]}),
        ),
        delta(
            json!({"tool_calls": [{"index": 0, "id": "c1", "function": {"name": "t", "arguments": "{}"}}]}),
        ),
    ] {
        decoder.feed("", &data).unwrap();
    }
    decoder
        .feed("", &json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "tool_calls"}]}).to_string())
        .unwrap();
    let answer = decoder.cut();
    let call = answer.calls().next().unwrap().clone();
    let messages = vec![
        Message::user("go"),
        Message::Assistant(answer),
        Message::Results { results: vec![CallResult::text(&call, CallOutcome::Done, "ok")] },
    ];
    let body = dialect.encode(&request(messages.clone()));
    assert_eq!(
        body["messages"][2]["reasoning_details"],
        json!([
            {"type": "reasoning.text", "text": "Let me see.", "index": 0, "format": "x", "signature": "sig"},
            {"type": "reasoning.encrypted", "index": 1, "data": "op", "id": "t"},
        ])
    );
    let elsewhere = OpenAiChatFormat::default().encode(&request(messages)).to_string();
    assert!(!elsewhere.contains("sig") && !elsewhere.contains("reasoning"), "{elsewhere}");
}

#[test]
fn a_server_that_wants_reasoning_back_gets_its_field_also_where_there_was_none() {
    let messages = conversation(ThinkingBlock { text: String::new(), ..ThinkingBlock::default() });
    let body = OpenAiChatFormat { quirks: quirks("reasoning_back = 'reasoning_content'") }
        .encode(&request(messages));
    assert_eq!(body["messages"][2]["reasoning_content"], "");
}

#[test]
fn reasoning_is_read_where_the_quirks_say() {
    let delta = json!({"choices": [{"index": 0, "delta": {"thoughts": "A", "reasoning": "B"}}]}).to_string();
    for (text, heard) in [("", "B"), ("reasoning_fields = ['thoughts']", "A")] {
        let events = OpenAiChatFormat { quirks: quirks(text) }.decoder().feed("", &delta).unwrap();
        assert_eq!(events, [StreamEvent::Thinking(heard.into())]);
    }
    let nowhere = OpenAiChatFormat { quirks: quirks("reasoning_fields = []") }.decoder().feed("", &delta);
    assert_eq!(nowhere.unwrap(), []);
}

#[test]
fn a_cache_key_is_the_same_for_a_conversation_and_another_for_another() {
    let key = |messages: Vec<Message>| {
        let body = OpenAiResponsesFormat { quirks: quirks("cache_key = true") }.encode(&request(messages));
        body["prompt_cache_key"].as_str().unwrap().to_string()
    };
    let long = conversation(thinking());
    assert_eq!(key(long[..1].to_vec()), key(long.clone()));
    assert_ne!(key(vec![Message::user("other")]), key(long));
}

#[test]
fn every_preset_makes_lawful_requests() {
    for preset in ProviderPreset::all() {
        let dialect = preset.dialect();
        let request = request(conversation(thinking()));
        let broken = history_rules::broken(&dialect.path(&request), &dialect.encode(&request));
        assert_eq!(broken, Vec::<String>::new(), "{}", preset.name);
    }
}

#[test]
fn settings_lay_over_a_preset() {
    let server = MockServer::start([Reply::openai(&[Say::Text("hello")])]);
    let place = Place::new().config(&format!(
        "provider = \"mine\"\ncontext_window = 9000\nmax_output_tokens = 500\n\
         [providers.mine]\npreset = \"azure-openai\"\nbase_url = \"{}/deployments/d\"\nmodel = \"d\"\n\
         api_version = \"2025-04-01 preview\"\nkey_env = \"MY_KEY\"\n\
         [providers.mine.quirks]\noutput_limit = \"max_tokens\"\nstream_options = false\n\
         parallel_tool_calls = true\nreasoning_fields = [\"r\"]\n",
        server.url()
    ));
    place.placet(["-p", "hi"]).env("MY_KEY", "k-1").go().code(0).says("hello");
    let sent = &server.requests()[0];
    assert_eq!(sent.path, "/deployments/d/chat/completions?api-version=2025-04-01%20preview");
    assert_eq!(sent.headers["api-key"], "k-1");
    assert!(!sent.headers.contains_key("authorization"));
    let body = &sent.body;
    assert_eq!((&body["max_tokens"], &body["parallel_tool_calls"]), (&json!(500), &json!(true)));
    assert_eq!((&body["stream_options"], &body["messages"][0]["role"]), (&Value::Null, &json!("developer")));

    for (text, message) in [
        ("[providers.mine]\npreset = \"mistrl\"\nmodel = \"m\"\n", "unknown provider `mistrl`"),
        (
            "[providers.mine]\npreset = \"azure-openai\"\nmodel = \"m\"\n",
            "the provider `mine` has no default base URL",
        ),
    ] {
        let place = Place::new().config(text);
        place.run(["-p", "hi", "--provider", "mine"]).code(2).warns(message);
    }
}

#[test]
fn a_model_that_nobody_described_is_said_to_be_unknown_and_the_persons_file_describes_it() {
    let server =
        MockServer::start([Reply::openai(&[Say::Text("hello")]), Reply::openai(&[Say::Text("hello")])]);
    let url = server.url();
    let place = Place::new()
        .config(&format!("provider = \"mine\"\n[providers.mine]\nbase_url = \"{url}\"\nmodel = \"m-1\"\n"));
    let unknown =
        "note: unknown model m-1: assuming a context window of 32768 tokens, answers of 8192 and no pictures";
    place.run(["-p", "hi"]).code(0).warns(unknown);
    let models = place.config_dir().join("models.toml");
    std::fs::write(&models, "[mine.\"m-1\"]\nwindow = 65_536\nvision = true\n").unwrap();
    let out = place.run(["-p", "hi"]).code(0);
    assert!(!out.stderr.contains("nothing is known"), "{out:#?}");
    place.run(["doctor"]).says("context     65536 tokens, answers up to 8192 tokens, images: yes");
    std::fs::write(&models, "[mine.\"m-1\"]\nwindow = \"much\"\n").unwrap();
    place.run(["doctor"]).warns("models.toml:1:1").warns("[mine.\"m-1\"]: invalid type: string");
}

#[test]
fn without_streaming_each_answer_is_asked_for_whole() {
    let message = json!({"role": "assistant", "content": "hello"});
    let answer = json!({"id": "c", "object": "chat.completion", "model": "m", "choices":
        [{"index": 0, "message": message, "finish_reason": "stop"}], "usage":
        {"prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4}});
    let server = MockServer::start([Reply::json(200, &answer)]);
    // The address as a server's page gives it.
    let url = format!("{}/v1/chat/completions", server.url());
    let place = Place::new().config("provider = \"mine\"\n[providers.mine]\nmodel = \"m\"\n");
    place.run(["-p", "hi", "--no-stream", "--base-url", &url]).code(0).says("hello");
    let sent = &server.requests()[0];
    assert_eq!(sent.path, "/v1/chat/completions");
    assert_eq!((&sent.body["stream"], &sent.body["stream_options"]), (&json!(false), &Value::Null));
    let whole = placet::provider::GeminiFormat { quirks: quirks("stream = false") };
    assert_eq!(whole.path(&request(Vec::new())), "/models/m:generateContent");
}
