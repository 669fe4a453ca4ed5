use super::super::evicted::results_of;
use super::*;
use placet_provider::ModelCapabilities;
use placet_text::conversation::{
    AssistantBlock, AssistantMessage, CallFact, CallId, CallInput, CallOutcome, CallResult, Image, Note,
    ToolCall, Transcript,
};

fn model(window: u64) -> ModelSpec {
    ModelSpec { name: "m".into(), window, capabilities: ModelCapabilities::default() }
}

fn context() -> ModelContext {
    ModelContext::new("system".to_string().into(), Vec::new())
}

fn round(id: usize, bytes: usize) -> [Message; 2] {
    let call = ToolCall {
        id: CallId::new(format!("c{id}")),
        name: "read_file".into(),
        input: CallInput::parse("{}"),
    };
    let result = CallResult::text(&call, CallOutcome::Done, "x".repeat(bytes));
    let answer = AssistantMessage { blocks: vec![AssistantBlock::Call(call)], ..AssistantMessage::default() };
    [Message::Assistant(answer), Message::Results { results: vec![result] }]
}

fn long(turns: usize, rounds: usize, bytes: usize) -> Vec<Message> {
    let mut out = Vec::new();
    for turn in 0..turns {
        out.push(Message::user(format!("question {turn}")));
        for n in 0..rounds {
            out.extend(round(turn * 100 + n, bytes));
        }
        let blocks = vec![AssistantBlock::Text { text: "answer".into() }];
        out.push(Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() }));
    }
    out.push(Message::user("the newest question"));
    out
}

fn is_legal(messages: &[Message]) {
    let mut transcript = Transcript::default();
    for message in messages {
        transcript.push(message.clone()).unwrap();
    }
}

#[test]
fn whatever_the_history_a_request_that_fits_is_built_and_the_newest_question_is_in_it() {
    for (turns, rounds, bytes) in [
        (1, 1, 10),
        (3, 5, 20_000),
        (50, 4, 3_000),
        (1, 1, 5_000_000),
        (400, 0, 0),
        (1, 200, 900),
        (1, 2_000, 10),
    ] {
        for window in [4_000, 10_000, 200_000] {
            let messages = long(turns, rounds, bytes);
            let built = context().build(&messages, &model(window), 1_000).unwrap();
            is_legal(&built.request.messages);
            let size = estimate(&built.request.messages) + 1_000.0;
            assert!(size <= window as f64, "{turns} {rounds} {bytes} {window}: {size}");
            let Some(Message::User { parts }) = built.request.messages.last() else {
                panic!("the newest question")
            };
            assert_eq!(parts.last(), Some(&Part::text("the newest question")));
        }
    }
}

/// Every kind of request, in every form of tools: what the server counts fits with the answer, or nothing is sent. The
/// words have what becomes longer within JSON.
#[test]
fn what_is_sent_never_exceeds_the_window_whatever_form_it_has() {
    let words = |n: usize| "say \"it\"\n\t\\ {x}\n".repeat(n);
    let tool = |name: &str| ToolSpec {
        name: name.into(),
        description: "d ".repeat(60),
        schema: serde_json::json!({"type": "object", "properties": {"path": {"type": "string"}}}),
    };
    let call = |n: usize, size: usize| {
        let id = CallId::new(format!("c{n}"));
        let input = CallInput::Object(serde_json::json!({"path": "a", "content": words(size)}));
        let call = ToolCall { id, name: "write_file".into(), input };
        let result = CallResult::text(&call, CallOutcome::Done, words(size));
        let text = AssistantBlock::Text { text: words(size) };
        let blocks = vec![text, AssistantBlock::Call(call)];
        [
            Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() }),
            Message::Results { results: vec![result] },
        ]
    };
    let mut sent = 0;
    for form in [ToolForm::Native, ToolForm::Json, ToolForm::Text] {
        for window in [512, 1_024, 4_096, 8_192, 16_384, 32_768] {
            for (turns, size) in [(1, 1), (1, 2_000), (3, 40), (12, 8), (60, 2), (2, 600)] {
                for last in [Part::text(words(size)), Part::Note(Note::SumUp { focus: "the plan".into() })] {
                    let mut messages: Vec<Message> = (0..turns)
                        .flat_map(|n| std::iter::once(Message::user(words(size))).chain(call(n, size)))
                        .collect();
                    messages.push(Message::User { parts: vec![last] });
                    let mut model = model(window);
                    model.capabilities.tools = form;
                    let tools = BASIC_TOOLS.iter().map(|(name, _)| tool(name)).collect();
                    let mut context = ModelContext::new("system ".repeat(150).into(), tools);
                    let Ok(built) = context.build(&messages, &model, 1_000) else {
                        assert!(window < 2_000, "{form:?} {window} {turns} {size}");
                        continue;
                    };
                    sent += 1;
                    is_legal(&built.request.messages);
                    let request = built.request.as_sent();
                    let tools = if form == ToolForm::Native { 4 * 200 } else { 0 };
                    let size = tokens(request.system.len() + tools) + estimate(&request.messages);
                    assert!(size as u64 + request.max_output <= window, "{form:?} {window} {turns}: {size}");
                }
            }
        }
    }
    assert!(sent >= 140, "{sent}");
}

#[test]
fn a_conversation_that_fits_is_sent_as_it_is() {
    let messages = long(2, 2, 100);
    let built = context().build(&messages, &model(200_000), 8_000).unwrap();
    assert_eq!(built.request.messages, messages);
    assert_eq!(built.notes, Vec::<String>::new());
}

/// A server that counts twice the estimated tokens, with a tenth of the assumed window.
#[test]
fn a_second_attempt_fits_a_window_that_was_not_known() {
    let messages = long(3, 6, 9_000);
    for told in [true, false] {
        let mut context = context();
        let assumed = model(128_000);
        let count = |request: &ModelRequest| (estimate(&request.messages) * 2.0) as u64 + request.max_output;
        let first = context.build(&messages, &assumed, 1_000).unwrap();
        let limit = if told { 10_000 } else { count(&first.request) * 2 / 3 };
        assert!(count(&first.request) > limit);
        let message = format!(
            "maximum context length is {limit} tokens. However, you requested {} tokens",
            count(&first.request)
        );
        context.reduce_limit((if told { &message } else { "too long" }, None), &assumed);
        let second = context.build(&messages, &assumed, 1_000).unwrap();
        assert!(count(&second.request) <= limit, "{told}: {} > {limit}", count(&second.request));
    }
}

/// llama.cpp's error has the figures as values, also small ones.
#[test]
fn a_window_that_the_error_names_as_a_value_is_the_window() {
    let messages = long(3, 6, 900);
    for window in [400, 4_096] {
        let mut context = context();
        let assumed = model(32_768);
        let first = context.build(&messages, &assumed, 1_000).unwrap();
        let tokens = (estimate(&first.request.messages) * 2.0) as u64;
        let exceeded = ExceededWindow { tokens, window };
        context.reduce_limit(("request (0 tokens) exceeds it, try 1 2 3", Some(exceeded)), &assumed);
        assert_eq!(context.window(&assumed), window);
        let second = context.build(&messages, &assumed, 1_000).unwrap();
        assert!(second.request.max_output <= window / 4, "{}", second.request.max_output);
        if window > 1_000 {
            assert!((estimate(&second.request.messages) * 2.0) as u64 + second.request.max_output <= window);
        }
    }
}

#[test]
fn a_small_window_gets_the_basic_tools_whenever_it_is_learned() {
    let tool =
        |name: &str| ToolSpec { name: name.into(), description: "d".into(), schema: serde_json::json!({}) };
    let names = || {
        BASIC_TOOLS.iter().map(|(name, _)| *name).chain(["todo", "fetch_url"]).map(tool).collect::<Vec<_>>()
    };
    let offered = |window: u64, tools: Vec<ToolSpec>| {
        let mut context = ModelContext::new("s".to_string().into(), tools);
        context.fit_tools(&model(window));
        context.tools.len()
    };
    assert_eq!((offered(16_384, names()), offered(16_383, names()), offered(4_096, names())), (6, 4, 4));
    assert_eq!(offered(4_096, vec![tool("Bash"), tool("todo")]), 2, "tools of another system");
    let mut context = ModelContext::new("s".to_string().into(), names());
    context.build(&[Message::user("go")], &model(32_768), 100).unwrap();
    let small = model(4_096);
    assert!(context.fit_tools(&small) && context.tools.len() == 4 && !context.fit_tools(&small));
    assert!(!context.fit_tools(&model(32_768)) && context.tools.len() == 6, "another model");
    context.learn_window(8_192);
    assert!(context.fit_tools(&model(32_768)) && context.tools.len() == 4, "learned from what it counted");
}

#[test]
fn a_withheld_picture_is_a_note_and_a_model_without_vision_gets_notes() {
    let image = Image::new("image/png", 1, 1, "a.png", vec![1u8].into());
    let messages = vec![Message::User { parts: vec![Part::text("look"), Part::Image(image.clone())] }];
    let mut context = context();
    let mut blind = model(100_000);
    blind.capabilities.vision = false;
    let built = context.build(&messages, &blind, 1_000).unwrap();
    let Some(Message::User { parts }) = built.request.messages.first() else { panic!("user") };
    assert_eq!(
        parts[1].words().as_deref(),
        Some("[picture a.png is not shown: the model m does not accept pictures]")
    );
    assert_eq!(context.sent_images(&messages).len(), 1);
    context.withhold(image.hash, "the provider refused it".into());
    assert!(context.sent_images(&messages).is_empty());
    let built = context.build(&messages, &model(100_000), 1_000).unwrap();
    let Some(Message::User { parts }) = built.request.messages.first() else { panic!("user") };
    assert_eq!(parts[1].words().as_deref(), Some("[picture a.png is not shown: the provider refused it]"));
}

/// Story: a server numbered the calls of each answer anew, and with the oldest result all others counted as unread.
#[test]
fn results_whose_calls_have_one_name_are_told_apart() {
    let mut messages = long(3, 5, 20_000);
    for (at, message) in messages.iter_mut().enumerate() {
        match message {
            Message::Assistant(answer) => {
                for block in &mut answer.blocks {
                    if let AssistantBlock::Call(call) = block {
                        call.id = CallId::new("call_0");
                    }
                }
            }
            Message::Results { results } => {
                for result in results {
                    result.id = CallId::new("call_0");
                    result.parts.insert(0, Part::text(format!("result {at}")));
                }
            }
            Message::User { .. } => {}
        }
    }
    let built = context().build(&messages, &model(32_000), 1_000).unwrap();
    let whole = |messages: &[Message]| -> Vec<String> {
        let all = messages.iter().flat_map(results_of).map(CallResult::body);
        all.filter(|body| body.len() > 20_000).collect()
    };
    let (all, sent) = (whole(&messages), whole(&built.request.messages));
    assert!(!sent.is_empty() && all.len() == 15);
    assert_eq!(built.out_of_view.results.len() + sent.len(), all.len());
}

#[test]
fn results_that_had_to_go_are_named_and_kept_ones_are_not() {
    let messages = long(3, 5, 20_000);
    let built = context().build(&messages, &model(32_000), 1_000).unwrap();
    let out: Vec<&str> = built.out_of_view.results.iter().map(|result| result.call.as_str()).collect();
    assert!(out.contains(&"c0"), "{out:?}");
    let kept = built.request.messages.iter().flat_map(|m| match m {
        Message::Results { results } => results.as_slice(),
        _ => &[],
    });
    let whole: Vec<&str> = kept.filter(|r| r.body().len() == 20_000).map(|r| r.id.as_str()).collect();
    assert!(!whole.is_empty() && whole.len() + out.len() == 15, "{whole:?} {out:?}");
    assert!(whole.iter().all(|id| !out.contains(id)), "{whole:?} {out:?}");
    assert!(context().build(&messages, &model(1_000_000), 1_000).unwrap().out_of_view.results.is_empty());
}

#[test]
fn a_result_that_is_left_out_points_to_where_it_is_or_to_the_call_that_gave_it() {
    let asks = |id: &str, name: &str, input: &str| {
        let call = ToolCall { id: CallId::new(id), name: name.into(), input: CallInput::parse(input) };
        (
            Message::Assistant(AssistantMessage {
                blocks: vec![AssistantBlock::Call(call.clone())],
                ..AssistantMessage::default()
            }),
            call,
        )
    };
    let mut messages = vec![Message::user("go")];
    let command = r#"{"command":"cargo test"}"#;
    let long = format!(r#"{{"content":"{}"}}"#, "é".repeat(300));
    let filler = "words ".repeat(500);
    // The text of a result is not evaluated.
    let said = "[900 lines, 60000 bytes: too long to show whole; all of it is in the scratchpad `run_command-output`.]\n";
    let stored = |name: &str| vec![CallFact::StoredIn { scratchpad: name.into() }];
    for (id, name, input, facts) in [
        ("a", "run_command", command, stored("run_command-output")),
        ("b", "run_command", command, stored("gone")),
        ("c", "run_command", command, Vec::new()),
        ("d", "write_file", long.as_str(), Vec::new()),
        ("e", "run_command", command, Vec::new()),
        ("f", "run_command", command, Vec::new()),
    ] {
        let (asked, call) = asks(id, name, input);
        let result = CallResult::text(&call, CallOutcome::Done, format!("{said}{filler}")).with(facts);
        messages.extend([asked, Message::Results { results: vec![result] }]);
    }
    let pads = Arc::new(Scratchpads::in_memory());
    pads.put("run_command-output", placet_session::session::ScratchpadEntry::Text("all".into())).unwrap();
    let mut context = context();
    context.set_sources(None, pads);
    let built = context.build(&messages, &model(4_000), 1_000).unwrap();
    let told: Vec<String> = built
        .request
        .messages
        .iter()
        .filter_map(|m| match m {
            Message::Results { results } => Some(results[0].body()),
            _ => None,
        })
        .collect();
    let called = "was left out to fit the context window; call it again if you need it]";
    let cut = format!("[this result of write_file {{\"content\":\"{}… {called}", "é".repeat(54));
    assert_eq!(told[..4], [
        "[this result of run_command was left out to fit the context window; all of it is in the scratchpad `run_command-output`]".to_string(),
        format!("[this result of run_command {command} {called}"),
        format!("[this result of run_command {command} {called}"),
        cut,
    ]);
    let whole = format!("{said}{filler}");
    assert_eq!(told[4..], [whole.clone(), whole], "the newest stay whole");
}

/// A copy of the whole history, made shorter, is the same as a copy of what is not sure to go.
#[test]
fn the_beginning_of_a_long_history_is_not_looked_at_and_the_request_is_the_same() {
    for (turns, rounds, bytes) in [(1, 3, 900), (3, 5, 20_000), (50, 4, 3_000), (300, 2, 100), (400, 0, 0)] {
        let messages = long(turns, rounds, bytes);
        for budget in [200.0, 900.0, 3_000.0, 20_000.0, 200_000.0] {
            let (mut whole, start) = (messages.clone(), sure_to_go(&messages, budget));
            let (before, rest) = messages.split_at(start);
            let mut rest = rest.to_vec();
            shorten(&mut whole, &[], budget, &|_| false);
            shorten(&mut rest, before, budget, &|_| false);
            assert_eq!(rest, whole, "{turns} {rounds} {bytes} {budget}");
        }
    }
    // The longer history costs no more than the shorter one.
    let left = |turns| long(turns, 2, 3_000).len() - sure_to_go(&long(turns, 2, 3_000), 3_000.0);
    assert_eq!(left(2_000), left(1_000));
}
