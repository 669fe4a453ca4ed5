//! The table of faults: for each, over each of the four wire formats, what the person is told, what is sent again, what
//! is kept, and that the conversation goes on afterwards, here and after a resume.

use crate::support::fixture::PNG;
use crate::support::mock_server::{Reply, Say};
use crate::support::request::request;
use crate::support::talk::{ALL_WIRES, Talk, Wire, start, turn};
use futures_util::StreamExt;
use placet::agent::{Agent, TurnEnding, TurnEvent, TurnStart};
use placet::conversation::{
    AssistantBlock, AssistantMessage as Said, CallId, CallInput, CallOutcome, CallResult, Image, Message,
    Part, ToolCall,
};
use placet::provider::{
    ApiKeySource, Endpoint, HttpProvider, HttpProviderSettings, ModelRequest, Provider, ProviderError,
    ProviderPreset, RetryPolicy, StreamEvent,
};
use std::time::Duration;

/// What is to come of a fault.
#[derive(Clone, Copy, Debug)]
enum Fate {
    /// It is tried again by itself, and told so.
    Retried(&'static str),
    /// It ends the turn, with these words.
    Told(&'static str),
    /// What had arrived stays and the rest is asked for; when that breaks off as well and again, it ends the turn.
    Kept(&'static str),
    /// Nothing was missing.
    Whole,
}

/// Whether the server said why it stops.
#[derive(Clone, Copy)]
enum Reason {
    Missing,
    There,
}

/// An answer in events, and where its first words are in them.
struct Answer {
    events: Vec<String>,
    begun: usize,
}

impl Answer {
    fn of(wire: Wire) -> Answer {
        let events = wire.events(&[Say::Text("h\u{e4}llo "), Say::Text("w\u{f6}rld")]);
        let begun = events.iter().position(|event| event.contains("llo ")).unwrap() + 1;
        Answer { events, begun }
    }

    /// Up to the first words.
    fn beginning(&self) -> String {
        self.events[..self.begun].concat()
    }

    /// Everything but what says that it is over: the reason, or only the last word after it.
    fn without_end(&self, wire: Wire, reason: Reason) -> String {
        let last = match (wire, reason) {
            (Wire::Anthropic, Reason::Missing) => 2,
            (Wire::OpenAi, Reason::Missing) => 3,
            (Wire::OpenAi, Reason::There) => 2,
            (Wire::Gemini, Reason::There) => 0,
            _ => 1,
        };
        self.events[..self.events.len() - last].concat()
    }

    /// Up to the middle of the event after them.
    fn mid_event(&self) -> Vec<u8> {
        let next = self.events[self.begun].as_bytes();
        [self.beginning().as_bytes(), &next[..next.len() / 2]].concat()
    }

    /// Up to the middle of a letter.
    fn mid_letter(&self) -> Vec<u8> {
        let whole = self.events.concat().into_bytes();
        let at = whole.windows(2).rposition(|w| w == [0xc3, 0xb6]).unwrap();
        whole[..=at].to_vec()
    }
}

fn faults(wire: Wire) -> Vec<(&'static str, Reply, Fate)> {
    use Fate::{Kept, Retried, Told, Whole};
    let answer = Answer::of(wire);
    let silent = "no data for 0.4 s";
    let beginning = || Reply::sse(answer.beginning());
    let limited = || Reply::error(429, "rate_limit_error", "slow down");
    let html = "<html><head><title>Sign in first</title></head></html>";
    let packed = {
        // Packed without being made smaller, so that it can be cut right after the first words.
        let mut bytes = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
        let whole = answer.events.concat();
        bytes.extend(miniz_oxide::deflate::compress_to_vec(whole.as_bytes(), 0));
        let (header, block) = (10, 5);
        bytes.truncate(header + block + answer.beginning().len() + 3);
        Reply::stream().header("content-encoding", "gzip").write(bytes)
    };
    let malformed = beginning().write("data: {\"oops\n\n");
    let doubled = Reply::sse([answer.events.concat(), answer.events.concat()].concat());
    vec![
        ("stalls before the headers", Reply::nothing(), Retried(silent)),
        ("stalls after the headers", Reply::stream().stall(), Retried(silent)),
        ("stalls after the first words", beginning().stall(), Kept(silent)),
        ("stalls in the middle of an event", Reply::sse(answer.mid_event()).stall(), Kept(silent)),
        ("stalls in the middle of a letter", Reply::sse(answer.mid_letter()).stall(), Kept(silent)),
        (
            "stalls after the last block",
            Reply::sse(answer.without_end(wire, Reason::Missing)).stall(),
            Kept(silent),
        ),
        (
            "hangs up after the last block",
            Reply::sse(answer.without_end(wire, Reason::Missing)).close(),
            Kept("the answer was cut off"),
        ),
        ("stalls when all was said", Reply::sse(answer.events.concat()).stall(), Whole),
        ("hangs up before the headers' first event", Reply::stream().close(), Retried("no connection to")),
        ("hangs up after the first words", beginning().close(), Kept("the answer was cut off")),
        (
            "hangs up in the middle of a letter",
            Reply::sse(answer.mid_letter()).close(),
            Kept("the answer was cut off"),
        ),
        ("resets", Reply::stream().reset(), Retried("no connection to")),
        ("resets after the first words", beginning().reset(), Kept("the answer was cut off")),
        ("sends what is no JSON", Reply::sse("data: {oops\n\n"), Told("the provider sent an invalid answer")),
        ("sends no JSON after the first words", malformed, Kept("the answer was cut off")),
        // The Responses API says why it stops in its last event.
        (
            "says why it stops and no more",
            match wire {
                Wire::Responses => Reply::sse(answer.events.concat()),
                _ => Reply::sse(answer.without_end(wire, Reason::There)).stall(),
            },
            Whole,
        ),
        ("says everything twice", doubled, Whole),
        ("limits the rate", limited(), Retried("rate limited: slow down")),
        (
            "limits the rate and says for how long",
            limited().header("retry-after", "0.001"),
            Retried("rate limited"),
        ),
        ("fails", Reply::error(500, "api_error", "oh"), Retried("the server had an error (HTTP 500): oh")),
        ("is overloaded", Reply::error(529, "overloaded_error", "oh"), Retried("overloaded (HTTP 529)")),
        (
            "refuses the key",
            Reply::error(401, "authentication_error", "no"),
            Told("refused the key (HTTP 401): no"),
        ),
        ("refuses the request", Reply::error(400, "invalid_request_error", "no"), Told("(HTTP 400): no")),
        ("is a web page", Reply::new(200, "text/html").write(html), Told("Sign in first")),
        ("is a web page of a proxy", Reply::new(502, "text/html").write(html), Retried("Sign in first")),
        ("packs its answer and loses the end", packed, Kept("the answer was cut off")),
    ]
}

/// How soon a server that stalls is given up, and one that does not, on a busy machine.
const IMPATIENT: Duration = Duration::from_millis(400);
const PATIENT: Duration = Duration::from_secs(20);

/// A conversation with one turn behind it.
async fn begun(wire: Wire, silence: Duration) -> (Talk, Agent) {
    let talk = Talk { silence, ..Talk::new(wire) };
    talk.server.push(wire.reply(&[Say::Text("ready")]));
    let mut agent = talk.begin();
    assert_eq!(turn(&mut agent, "first", |_, _| {}).await, TurnEnding::Done);
    (talk, agent)
}

/// The turn's end, and what the person was told on the way.
async fn told(agent: &mut Agent, how: TurnStart) -> (TurnEnding, Vec<String>) {
    let mut said = Vec::new();
    let ending = start(agent, how, |event, _| match event {
        TurnEvent::Retrying { error, .. } => said.push(error.to_string()),
        TurnEvent::Notice(text) => said.push(text),
        _ => {}
    })
    .await;
    (ending, said)
}

fn say(text: &str) -> TurnStart {
    TurnStart::Say(vec![Part::text(text)])
}

/// Whatever happened, the next turn and one after a resume are held, and the server had nothing to complain of.
async fn goes_on(talk: &Talk, mut agent: Agent, case: &str) {
    talk.server.push(talk.wire.reply(&[Say::Text("goes on")]));
    assert_eq!(told(&mut agent, say("next")).await.0, TurnEnding::Done, "{case}");
    drop(agent);
    talk.server.push(talk.wire.reply(&[Say::Text("goes on")]));
    let mut agent = talk.resume();
    assert_eq!(told(&mut agent, say("resumed")).await.0, TurnEnding::Done, "{case}");
    assert_eq!(talk.server.violations(), Vec::<String>::new(), "{case}");
}

#[tokio::test]
async fn every_fault_is_told_tried_again_or_kept_as_the_table_says() {
    for wire in ALL_WIRES {
        for (name, reply, fate) in faults(wire) {
            let case = format!("{wire:?}: a server that {name}: {fate:?}");
            // Where no stall is what is tried, a slow machine must not make one.
            let stalls = name.starts_with("stalls") || name == "says why it stops and no more";
            let (talk, mut agent) = begun(wire, if stalls { IMPATIENT } else { PATIENT }).await;
            talk.server.push(reply.clone());
            match fate {
                Fate::Whole => {
                    let (ending, _) = told(&mut agent, say("go")).await;
                    assert_eq!(ending, TurnEnding::Done, "{case}");
                    assert!(talk.stored().last().unwrap().to_string().contains("llo "), "{case}");
                }
                Fate::Retried(words) => {
                    talk.server.push(wire.reply(&[Say::Text("there")]));
                    let (ending, said) = told(&mut agent, say("go")).await;
                    assert_eq!(ending, TurnEnding::Done, "{case}");
                    assert!(said.len() == 1 && said[0].contains(words), "{case}: {said:?}");
                    assert_eq!(talk.server.requests().len(), 3, "{case}");
                    // And when it does not pass, that is told, and /retry sends the same again.
                    (0..3).for_each(|_| talk.server.push(reply.clone()));
                    let TurnEnding::Failed(error) = told(&mut agent, say("go")).await.0 else {
                        panic!("{case}")
                    };
                    assert!(error.to_string().contains(words), "{case}: {error}");
                    assert_eq!(talk.server.requests().len(), 6, "{case}");
                    talk.server.push(wire.reply(&[Say::Text("there")]));
                    assert_eq!(told(&mut agent, TurnStart::Retry).await.0, TurnEnding::Done, "{case}");
                    let sent = talk.sent();
                    assert_eq!(sent[6], sent[5], "{case}");
                }
                Fate::Told(words) => {
                    let (ending, said) = told(&mut agent, say("go")).await;
                    let TurnEnding::Failed(error) = ending else { panic!("{case}: {ending:?}") };
                    assert!(error.to_string().contains(words), "{case}: {error}");
                    assert_eq!((said.as_slice(), talk.server.requests().len()), (&[][..], 2), "{case}");
                    let last = talk.stored().last().unwrap().to_string();
                    assert!(!last.contains("h\u{e4}llo"), "{case}: {last}");
                    talk.server.push(wire.reply(&[Say::Text("there")]));
                    assert_eq!(told(&mut agent, TurnStart::Retry).await.0, TurnEnding::Done, "{case}");
                }
                Fate::Kept(words) => {
                    (0..2).for_each(|_| talk.server.push(reply.clone()));
                    let (ending, said) = told(&mut agent, say("go")).await;
                    let TurnEnding::Failed(error) = ending else { panic!("{case}: {ending:?}") };
                    assert!(error.to_string().contains(words), "{case}: {error}");
                    let asked = |text: &String| text.contains(words) && text.ends_with("asking for the rest");
                    assert!(said.len() == 2 && said.iter().all(asked), "{case}: {said:?}");
                    assert_eq!(talk.server.requests().len(), 4, "{case}");
                    let stored: Vec<String> = talk.stored().iter().map(|m| m.to_string()).collect();
                    assert_eq!(stored.iter().filter(|m| m.contains("h\u{e4}llo")).count(), 3, "{case}");
                    talk.server.push(wire.reply(&[Say::Text("there")]));
                    assert_eq!(told(&mut agent, TurnStart::Retry).await.0, TurnEnding::Done, "{case}");
                    // Where only one breaks off, the turn goes on by itself.
                    talk.server.push(reply.clone());
                    talk.server.push(wire.reply(&[Say::Text("the rest")]));
                    assert_eq!(told(&mut agent, say("again")).await.0, TurnEnding::Done, "{case}");
                }
            }
            goes_on(&talk, agent, &case).await;
        }
    }
}

#[tokio::test]
async fn a_conversation_cut_anywhere_runs_no_call_that_was_not_whole_and_goes_on() {
    for wire in ALL_WIRES {
        let said = [Say::Text("ok"), Say::Call("c1", "probe", r#"{"name":"ran"}"#)];
        let bytes = wire.events(&said).concat().into_bytes();
        let (talk, agent) = begun(wire, PATIENT).await;
        let (mut cut, mut whole) = (0, 0);
        let mut agent = agent;
        // The decoders are cut at every byte elsewhere; here it is the whole conversation, so not quite all of them.
        for at in (1..bytes.len()).step_by(13) {
            let before = talk.ran().len();
            talk.server.push(Reply::sse(&bytes[..at]).close());
            // What is whole goes on with a second request; what never began is tried again.
            talk.server.push(wire.reply(&[Say::Text("there")]));
            // What broke off is gone on with.
            let (ending, said) = told(&mut agent, say("go")).await;
            assert_eq!(ending, TurnEnding::Done, "{wire:?} cut at {at}");
            let ran = talk.ran().len() - before;
            if said.iter().any(|text| text.ends_with("asking for the rest")) {
                assert_eq!(ran, 0, "{wire:?} cut at {at}");
                cut += 1;
            } else {
                whole += ran;
            }
        }
        assert!(cut > 10, "{wire:?}: {cut} {whole}");
        talk.is_lawful();
    }
}

#[tokio::test]
async fn wrong_ids_of_calls_leave_a_history_that_every_server_takes() {
    let long = "x".repeat(300);
    for wire in ALL_WIRES {
        for ids in [
            ["", ""],
            ["same", "same"],
            ["call_0", "call_0"],
            ["a b/c\u{e9}", "\u{0}"],
            [long.as_str(), long.as_str()],
        ] {
            let case = format!("{wire:?} {ids:?}");
            let (talk, mut agent) = begun(wire, PATIENT).await;
            for _ in 0..2 {
                talk.server.push(wire.reply(&[
                    Say::Call(ids[0], "probe", r#"{"name":"one"}"#),
                    Say::Call(ids[1], "probe", r#"{"name":"two"}"#),
                ]));
                talk.server.push(wire.reply(&[Say::Text("there")]));
                assert_eq!(told(&mut agent, say("go")).await.0, TurnEnding::Done, "{case}");
            }
            assert_eq!(talk.ran().len(), 4, "{case}");
            goes_on(&talk, agent, &case).await;
        }
    }
}

#[tokio::test]
async fn a_picture_that_a_server_will_not_take_is_left_out_and_the_turn_goes_on() {
    for wire in ALL_WIRES {
        let case = format!("{wire:?}");
        let (talk, mut agent) = begun(wire, PATIENT).await;
        talk.server.judged_by(|body| {
            let text = body.to_string();
            let has = text.contains("base64,iVBOR") || text.contains("\"data\":\"iVBOR");
            has.then(|| Reply::error(400, "invalid_request_error", "could not process image"))
        });
        talk.server.push(wire.reply(&[Say::Text("no picture")]));
        let png =
            placet::conversation::Part::Image(Image::new("image/png", 1, 1, "p.png", PNG.to_vec().into()));
        let (ending, said) = told(&mut agent, TurnStart::Say(vec![Part::text("look"), png])).await;
        assert_eq!(ending, TurnEnding::Done, "{case}");
        assert!(
            said.iter().any(|text| text.contains("refused a picture") && text.contains("p.png")),
            "{case}: {said:?}"
        );
        assert_eq!(talk.server.requests().len(), 3, "{case}");
        goes_on(&talk, agent, &case).await;
    }
}

/// Keys change and proofs expire; each later request would be refused like the first.
#[tokio::test]
async fn a_proof_of_reasoning_that_a_server_no_longer_takes_is_left_out_from_then_on() {
    for (wire, fixture, proof, complaint) in [
        (
            Wire::Anthropic,
            "anthropic/thinking",
            "EqQBCgIYAhIM1gbc",
            "messages.1.content.0: Invalid `signature` in `thinking` block",
        ),
        (
            Wire::Responses,
            "openai_responses/tools",
            "gAAAAAB-one",
            "The encrypted content gAAA... could not be verified.",
        ),
        (Wire::Gemini, "gemini/tools", "c2lnLWNhbGw=", "Thought signature is not valid."),
    ] {
        let case = format!("{wire:?}");
        let (talk, mut agent) = begun(wire, PATIENT).await;
        let path = format!("{}/tests/fixtures/{fixture}.sse", env!("CARGO_MANIFEST_DIR"));
        let stream = std::fs::read_to_string(path).unwrap();
        assert!(stream.contains(proof), "{case}");
        talk.server.push(Reply::sse(stream));
        if wire != Wire::Anthropic {
            talk.server.push(wire.reply(&[Say::Text("done")]));
        }
        assert_eq!(told(&mut agent, say("think")).await.0, TurnEnding::Done, "{case}");
        let count = talk.server.requests().len();
        talk.server.judged_by(move |body| {
            body.to_string().contains(proof).then(|| Reply::error(400, "invalid_request_error", complaint))
        });
        talk.server.push(wire.reply(&[Say::Text("there")]));
        let (ending, said) = told(&mut agent, say("and now?")).await;
        assert_eq!(ending, TurnEnding::Done, "{case}");
        assert!(said.len() == 1 && said[0].contains("HTTP 400"), "{case}: {said:?}");
        assert_eq!(talk.server.requests().len(), count + 2, "{case}");
        talk.server.push(wire.reply(&[Say::Text("there")]));
        assert_eq!(told(&mut agent, say("and then?")).await.1, Vec::<String>::new(), "{case}: learnt");
        assert_eq!(talk.server.requests().len(), count + 3, "{case}");
        goes_on(&talk, agent, &case).await;
    }
}

async fn heard(provider: &dyn Provider, request: ModelRequest) -> Vec<Result<StreamEvent, ProviderError>> {
    provider.answer(request, tokio_util::sync::CancellationToken::new()).collect().await
}

fn quick() -> HttpProviderSettings {
    let retry = RetryPolicy {
        attempts: 3,
        first_wait: Duration::from_millis(1),
        longest_wait: Duration::from_millis(2),
    };
    HttpProviderSettings { retry, jitter: || 0.0, ..HttpProviderSettings::default() }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_named_and_tried_again() {
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for wire in ALL_WIRES {
        let endpoint = Endpoint { base_url: format!("http://{gone}"), ..Endpoint::default() };
        let live = HttpProvider::new("mock", wire.dialect(), endpoint, ApiKeySource::None, quick());
        let heard = heard(&live, request(vec![Message::user("hi")])).await;
        // A server of this machine that is not there will not be there in a moment either.
        let error = ProviderError::NotRunning { host: gone.to_string(), start: None };
        assert_eq!(heard.last(), Some(&Err(error)));
        assert_eq!(heard.len(), 2, "one that says that it is tried again, {wire:?}");
    }
}

/// A model that nobody described, in the middle of a conversation that another one began.
#[tokio::test]
async fn a_call_of_another_model_gets_the_stand_in_where_a_proof_is_demanded() {
    let server = crate::support::mock_server::MockServer::start([Wire::Gemini.reply(&[Say::Text("there")])]);
    server.judged_by(|body| {
        let proven = body.to_string().contains("skip_thought_signature_validator");
        let message = "Function call is missing a thought_signature in functionCall parts.";
        (!proven).then(|| Reply::error(400, "invalid_request_error", message))
    });
    let call = ToolCall { id: CallId::new("toolu_1"), name: "t".into(), input: CallInput::parse("{}") };
    let blocks = vec![AssistantBlock::Call(call.clone())];
    let messages = vec![
        Message::user("hi"),
        Message::Assistant(Said { blocks, model: "claude".into(), ..Said::default() }),
        Message::Results { results: vec![CallResult::text(&call, CallOutcome::Done, "ok")] },
    ];
    let dialect = ProviderPreset::of("gemini").unwrap().dialect();
    let endpoint = Endpoint { base_url: server.url(), ..Endpoint::default() };
    let live = HttpProvider::new("gemini", dialect, endpoint, ApiKeySource::None, quick());
    let heard = heard(&live, request(messages)).await;
    assert!(
        matches!(heard.last(), Some(Ok(StreamEvent::Finished(answer))) if answer.text() == "there"),
        "{heard:?}"
    );
    assert_eq!((server.requests().len(), server.violations()), (2, Vec::new()));
}

/// A server that takes no request in which `POISON` stands, and says where it is, in the words of its kind.
fn picky(talk: &Talk) {
    let wire = talk.wire;
    talk.server.judged_by(move |body| {
        let place = match wire {
            Wire::Anthropic => "messages.2.content.0.text: text content blocks must be of another kind",
            Wire::OpenAi => "Invalid value for 'messages[2].content'",
            Wire::Responses => "Invalid 'input[3].output': string is not acceptable",
            Wire::Gemini => "Invalid value at 'contents[2].parts[0]'",
        };
        body.to_string().contains("POISON").then(|| Reply::error(400, "invalid_request_error", place))
    });
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_result_that_a_server_will_not_take_is_left_out_and_the_session_goes_on() {
    for wire in ALL_WIRES {
        let talk = Talk::native(wire);
        talk.write("bad.txt", "POISON\n");
        talk.write("good.txt", "fine\n");
        picky(&talk);
        let read = |path: &str| format!(r#"{{"path":"{path}"}}"#);
        talk.server.push(wire.reply(&[Say::Call("c1", "read_file", &read("good.txt"))]));
        talk.server.push(wire.reply(&[Say::Call("c2", "read_file", &read("bad.txt"))]));
        talk.server.push(wire.reply(&[Say::Text("I could not see it")]));
        let mut agent = talk.begin();
        let (ending, said) = told(&mut agent, say("go")).await;
        assert_eq!(ending, TurnEnding::Done, "{wire:?}: {said:?}");
        let words = "the results of read_file are left out of the request";
        assert!(said.len() == 1 && said[0].contains(words), "{wire:?}: {said:?}");
        let sent = talk.server.requests().last().unwrap().body.to_string();
        assert!(
            sent.contains("fine") && sent.contains("the provider refused this result"),
            "{wire:?}: {sent}"
        );
        assert!(talk.stored().iter().any(|m| m.to_string().contains("POISON")), "the session keeps it");
        goes_on(&talk, agent, &format!("{wire:?}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_conversation_that_a_server_will_not_take_any_more_is_left_behind_and_the_last_words_are_answered()
{
    for wire in ALL_WIRES {
        let talk = Talk::new(wire);
        talk.server.push(wire.reply(&[Say::Text("a word of POISON")]));
        let mut agent = talk.begin();
        assert_eq!(told(&mut agent, say("first")).await.0, TurnEnding::Done);
        // Another version of the server, say, takes it no more.
        picky(&talk);
        talk.server.push(wire.reply(&[Say::Text("here I am")]));
        let (ending, said) = told(&mut agent, say("second")).await;
        assert_eq!(ending, TurnEnding::Done, "{wire:?}: {said:?}");
        assert!(
            said[0].contains("as plain text") && said[1].contains("before your last message"),
            "{said:?}"
        );
        goes_on(&talk, agent, &format!("{wire:?}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn words_that_a_server_will_not_take_end_the_turn_and_not_the_session() {
    let talk = Talk::new(Wire::Anthropic);
    picky(&talk);
    let mut agent = talk.begin();
    let (ending, _) = told(&mut agent, say("POISON")).await;
    assert!(matches!(ending, TurnEnding::Failed(_)), "{ending:?}");
    assert!(talk.server.requests().len() <= 4, "it is not tried for ever");
    goes_on(&talk, agent, "after words that were refused").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_has_a_picture_in_its_name_is_no_refused_picture() {
    let talk = Talk::new(Wire::OpenAi);
    talk.server.push(Reply::error(404, "not_found", "the model `gpt-image-x` does not exist"));
    let mut agent = talk.begin();
    let picture = placet::conversation::Image::new("image/png", 1, 1, "a.png", vec![1u8; 20].into());
    let parts = vec![Part::text("look"), Part::Image(picture)];
    let (ending, said) = told(&mut agent, TurnStart::Say(parts)).await;
    assert!(matches!(ending, TurnEnding::Failed(_)) && !said.concat().contains("picture,"), "{said:?}");
    assert_eq!(talk.server.requests().len(), 1, "{said:?}");
}
