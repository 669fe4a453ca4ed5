//! What the server will not take: too long, a picture, a tool. The request is mended, sent once more, and the
//! conversation goes on; nothing of the errors becomes history.

use crate::support::is_full;
use crate::support::mock_server::{Reply, Say};
use crate::support::talk::{ALL_WIRES, Talk, Wire, turn};
use placet::agent::{Agent, TurnEnding, TurnEvent};
use placet::conversation::{Image, Part};
use placet::provider::{ModelLimits, ProviderError};
use placet::session::SessionRecord;
use serde_json::Value;

const LIMIT: u64 = 10_000;

/// As a server counts that has a window of 10,000 tokens for the prompt and the answer together.
fn counted(body: &Value) -> u64 {
    let prompt = ["messages", "input", "contents", "system", "instructions", "systemInstruction", "tools"];
    let prompt = prompt.into_iter().filter_map(|part| body.get(part)).map(|part| part.to_string().len());
    (prompt.sum::<usize>() / 4) as u64 + room(body)
}

/// How long the answer may be, wherever the wire says it; Chat Completions says it only where it must.
fn room(body: &Value) -> u64 {
    let own = ["max_tokens", "max_completion_tokens", "max_output_tokens"].into_iter();
    let most = own.filter_map(|key| body[key].as_u64()).next();
    most.or_else(|| body["generationConfig"]["maxOutputTokens"].as_u64()).unwrap_or(0)
}

fn too_long(wire: Wire, told: Told, body: &Value) -> Reply {
    let (total, room) = (counted(body), room(body));
    let message = match (told, wire) {
        (Told::Nothing, _) => "prompt is too long".to_string(),
        (Told::Figures, Wire::Anthropic) => format!("prompt is too long: {total} tokens > {LIMIT} maximum"),
        (Told::Figures, _) => format!(
            "This model's maximum context length is {LIMIT} tokens. However, you requested {total} tokens ({} in the messages, {room} in the completion).",
            total - room
        ),
        (Told::Sum, _) => format!(
            "input length and `max_tokens` exceed context limit: {} + {room} > {LIMIT}, decrease input length or `max_tokens` and try again",
            total - room
        ),
    };
    Reply::error(400, "invalid_request_error", &message)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Figures,
    Sum,
    Nothing,
}

fn history(agent_talk: &Talk, tokens: usize, shape: Shape) -> Agent {
    let mut session = agent_talk.store().create(&agent_talk.root, "long").unwrap();
    let bytes = tokens * 4;
    use placet::conversation::{
        AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, Message, ToolCall,
    };
    let mut push = |message| session.append(SessionRecord::Message { message }).unwrap();
    let text = |bytes: usize| "lorem ipsum dolor sit amet ".repeat(bytes / 27 + 1)[..bytes].to_string();
    let said = |text: String| {
        Message::Assistant(AssistantMessage {
            blocks: vec![AssistantBlock::Text { text }],
            ..AssistantMessage::default()
        })
    };
    match shape {
        Shape::ManyTurns => {
            for _ in 0..20 {
                push(Message::user(text(bytes / 40)));
                push(said(text(bytes / 40)));
            }
        }
        Shape::OneResult => {
            let call = ToolCall {
                id: CallId::new("c"),
                name: "probe".into(),
                input: CallInput::parse(r#"{"name":"p"}"#),
            };
            push(Message::user("go"));
            push(Message::Assistant(AssistantMessage {
                blocks: vec![AssistantBlock::Call(call.clone())],
                ..AssistantMessage::default()
            }));
            push(Message::Results { results: vec![CallResult::text(&call, CallOutcome::Done, text(bytes))] });
        }
        Shape::OneQuestion => push(Message::user(text(bytes))),
        Shape::OneArgument => {
            let input = CallInput::parse(&serde_json::json!({"name": text(bytes)}).to_string());
            let call = ToolCall { id: CallId::new("c"), name: "probe".into(), input };
            push(Message::user("go"));
            push(Message::Assistant(AssistantMessage {
                blocks: vec![AssistantBlock::Call(call.clone())],
                ..AssistantMessage::default()
            }));
            push(Message::Results { results: vec![CallResult::text(&call, CallOutcome::Failed, "no")] });
        }
        Shape::ManyRounds => {
            push(Message::user("go"));
            for n in 0..bytes / 400 {
                let input = CallInput::parse(&serde_json::json!({"name": text(250)}).to_string());
                let call = ToolCall { id: CallId::new(format!("c{n}")), name: "probe".into(), input };
                push(Message::Assistant(AssistantMessage {
                    blocks: vec![AssistantBlock::Call(call.clone())],
                    ..AssistantMessage::default()
                }));
                push(Message::Results { results: vec![CallResult::text(&call, CallOutcome::Done, "did")] });
            }
        }
    }
    drop(session);
    agent_talk.resume()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    ManyTurns,
    OneResult,
    OneQuestion,
    OneArgument,
    ManyRounds,
}

const SHAPES: [Shape; 5] =
    [Shape::ManyTurns, Shape::OneResult, Shape::OneQuestion, Shape::OneArgument, Shape::ManyRounds];

/// Story (pains 20): a full conversation could neither go on nor be made smaller, and each try made it longer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_of_any_length_fits_the_second_request() {
    // Each length and shape over each wire, and each shape with each way in which a server refuses. All of them together
    // only under PLACET_FULL.
    let all = is_full();
    for (wire_number, wire) in ALL_WIRES.into_iter().enumerate() {
        // What is added up in words is Anthropic's and its followers'.
        let is_listed = matches!(wire, Wire::Anthropic | Wire::OpenAi);
        let lengths: &[usize] = if is_listed { &[9_900, 12_000, 50_000] } else { &[9_900, 50_000] };
        let ways: &[Told] = if is_listed {
            &[Told::Figures, Told::Sum, Told::Nothing]
        } else {
            &[Told::Figures, Told::Nothing]
        };
        for (length_number, &tokens) in lengths.iter().enumerate() {
            for (shape_number, shape) in SHAPES.into_iter().enumerate() {
                let turn_of = (wire_number + length_number + shape_number) % ways.len();
                for (way_number, &told) in ways.iter().enumerate() {
                    if !all && way_number != turn_of {
                        continue;
                    }
                    let what = format!("{wire:?} {tokens} {shape:?} {told:?}");
                    let talk = Talk {
                        figures: ModelLimits { window: 32_768, max_output: 8_192, vision: true },
                        ..Talk::new(wire)
                    };
                    let mut agent = history(&talk, tokens, shape);
                    let kept = talk.stored();
                    talk.server
                        .judged_by(move |body| (counted(body) > LIMIT).then(|| too_long(wire, told, body)));
                    for text in ["hi", "and again"] {
                        talk.server.push(wire.reply(&[Say::Text("yes")]));
                        let before = talk.server.requests().len();
                        let ending = turn(&mut agent, text, |_, _| {}).await;
                        let sizes: Vec<u64> =
                            talk.server.requests().iter().map(|r| counted(&r.body)).collect();
                        assert_eq!(ending, TurnEnding::Done, "{what} {text}: {sizes:?}");
                        let requests = sizes.len() - before;
                        assert!(requests <= if text == "hi" { 2 } else { 1 }, "{what} {text}: {sizes:?}");
                        let last = talk.sent().pop().unwrap();
                        assert!(
                            Value::Array(last).to_string().contains(text),
                            "the newest words are sent: {what}"
                        );
                    }
                    let stored = talk.stored();
                    assert_eq!(stored[..kept.len()], kept[..], "the log is kept: {what}");
                    assert_eq!(stored.len(), kept.len() + 4, "{what}");
                    let history = format!("{stored:?}{:?}", talk.sent());
                    assert!(!history.contains("too long") && !history.contains("exceed"), "{what}");
                    assert_eq!(talk.server.violations(), Vec::<String>::new(), "{what}");
                }
            }
        }
    }
}

/// What a project tells agents does not fall out of a long conversation, and neither does the mode.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn instructions_and_the_mode_outlive_the_messages_they_came_with() {
    let talk = Talk {
        figures: ModelLimits { window: 6_000, max_output: 500, vision: true },
        ..Talk::new(Wire::Anthropic)
    };
    talk.write("AGENTS.md", "Always say moo.");
    let mut agent = talk.begin();
    for n in 0..8 {
        talk.server.push(talk.wire.reply(&[Say::Text("yes")]));
        let text = format!("question {n} {}", "word ".repeat(1_000));
        assert_eq!(turn(&mut agent, &text, |_, _| {}).await, TurnEnding::Done);
    }
    let last = Value::Array(talk.sent().pop().unwrap()).to_string();
    assert!(!last.contains("question 0"), "the beginning is left out");
    assert_eq!(last.matches("Always say moo.").count(), 1);
    assert_eq!(last.matches("the mode is read").count(), 1);
    talk.is_lawful();
}

fn picture(name: &str, shade: u8) -> Image {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let pixels = image::RgbImage::from_pixel(8, 8, image::Rgb([shade; 3]));
    pixels.write_to(&mut bytes, image::ImageFormat::Png).unwrap();
    Image::new("image/png", 8, 8, name, bytes.into_inner().into())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_picture_that_is_refused_becomes_a_note_and_the_session_goes_on() {
    for wire in ALL_WIRES {
        let talk = Talk::new(wire);
        talk.server.judged_by(|body| {
            let has = body.to_string();
            let refused = ["\"type\":\"image\"", "\"image_url\"", "\"input_image\"", "\"inlineData\""]
                .iter()
                .any(|kind| has.contains(kind));
            refused.then(|| {
                let words = "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum";
                Reply::error(400, "invalid_request_error", words)
            })
        });
        let mut agent = talk.begin();
        talk.server.push(wire.reply(&[Say::Text("I cannot see it")]));
        let parts = vec![Part::text("look"), Part::Image(picture("cat.png", 9))];
        let mut notices = Vec::new();
        let start = placet::agent::TurnStart::Say(parts);
        let ending = crate::support::talk::start(&mut agent, start, |event, _| {
            if let TurnEvent::Notice(text) = event {
                notices.push(text);
            }
        })
        .await;
        assert_eq!(ending, TurnEnding::Done);
        assert_eq!(talk.server.requests().len(), 2, "retried once");
        assert!(notices.iter().any(|n| n.contains("cat.png")), "{notices:?}");
        let sent = Value::Array(talk.sent().pop().unwrap()).to_string();
        assert!(sent.contains("[picture cat.png is not shown: the provider refused it]"), "{sent}");
        talk.server.push(wire.reply(&[Say::Text("yes")]));
        assert_eq!(turn(&mut agent, "only words", |_, _| {}).await, TurnEnding::Done);
        drop(agent);
        talk.server.push(wire.reply(&[Say::Text("yes")]));
        assert_eq!(turn(&mut talk.resume(), "still there?", |_, _| {}).await, TurnEnding::Done);
        assert_eq!(talk.server.requests().len(), 4, "no later request is refused");
        talk.is_lawful();
    }
}

/// Where no picture was sent there is nothing to leave out: the error is told, and not tried again and again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_error_that_blames_a_picture_that_was_not_sent_is_an_error() {
    let talk = Talk::new(Wire::Anthropic);
    talk.server.judged_by(|_| Some(Reply::error(400, "invalid_request_error", "image is bad")));
    let ending = turn(&mut talk.begin(), "hi", |_, _| {}).await;
    assert!(matches!(ending, TurnEnding::Failed(ProviderError::BadRequest { .. })), "{ending:?}");
    assert!(talk.server.requests().len() <= 2, "{}", talk.server.requests().len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_is_refused_is_left_out_and_named() {
    for wire in ALL_WIRES {
        let talk = Talk::native(wire);
        let bad = |body: &Value| {
            let declared = &body["tools"][0]["functionDeclarations"];
            let (tools, place) = match declared.as_array() {
                Some(declared) => (declared.clone(), "tools[0].function_declarations"),
                None => (body["tools"].as_array().cloned().unwrap_or_default(), "tools"),
            };
            let named = |t: &Value| t["name"] == "edit_file" || t["function"]["name"] == "edit_file";
            tools.iter().position(named).map(|at| {
                let words = format!("{place}[{at}].input_schema: JSON schema is invalid");
                Reply::error(400, "invalid_request_error", &words)
            })
        };
        talk.server.judged_by(bad);
        let mut agent = talk.begin();
        let mut notices = Vec::new();
        for text in ["hi", "and again"] {
            talk.server.push(wire.reply(&[Say::Text("yes")]));
            let ending = turn(&mut agent, text, |event, _| {
                if let TurnEvent::Notice(text) = event {
                    notices.push(text);
                }
            })
            .await;
            assert_eq!(ending, TurnEnding::Done);
        }
        assert_eq!(talk.server.requests().len(), 3);
        assert!(notices.iter().any(|n| n.contains("`edit_file`")), "{notices:?}");
        talk.is_lawful();
    }
}
