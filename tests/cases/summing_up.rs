//! A conversation that becomes too long is summed up, and what was said in its beginning is still known.

use crate::support::mock_server::{Reply, Say};
use crate::support::talk::{Talk, WIRES, Wire, start, turn};
use placet::agent::{Agent, Ending, Event, Start};
use placet::conversation::{Answer, Block, Call, CallId, CallResult, Input, Message, Outcome};
use placet::provider::Figures;
use placet::session::Record;
use serde_json::Value;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

const ASKED: &str = "will be replaced by what you write now";

/// Everything in `body` that looks like `FACT-7=cedar`.
fn facts(body: &Value) -> Vec<String> {
    let text = body.to_string();
    let ends = |c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '=');
    let mut found: Vec<String> = text
        .match_indices("FACT-")
        .filter_map(|(at, _)| text[at..].split(ends).next())
        .filter(|fact| fact.contains('='))
        .map(String::from)
        .collect();
    found.sort();
    found.dedup();
    found
}

/// A model that writes down every fact it is shown, and answers from what stands before it. Its window holds `limit`
/// tokens, and its answers 2,000.
fn scripted(wire: Wire, limit: usize) -> impl Fn(&Value) -> Option<Reply> {
    move |body| {
        let text = body.to_string();
        let wanted = ["max_tokens", "max_completion_tokens"].iter().find_map(|name| body[name].as_u64());
        if wanted.is_some_and(|wanted| wanted > 2_000) {
            return Some(Reply::error(400, "invalid_request_error", "max_tokens: at most 2000"));
        }
        if text.len() / 4 > limit {
            return Some(Reply::error(400, "invalid_request_error", "prompt is too long"));
        }
        let said = match text.contains(ASKED) {
            true => facts(body).join(" "),
            false => {
                let asked = text.rmatch_indices("what is FACT-").next()?.0 + "what is ".len();
                let name = text[asked..].split('?').next()?;
                let known = facts(body).into_iter().find(|fact| fact.starts_with(&format!("{name}=")));
                known.unwrap_or_else(|| "unknown".into())
            }
        };
        Some(wire.reply(&[Say::Text(&said)]))
    }
}

fn value(n: usize) -> String {
    format!("FACT-{n}=value{}", n * 7919 % 1000)
}

/// A conversation of `tokens` with twenty facts in what was said, answered, and found by calls.
fn history(talk: &Talk, tokens: usize) -> Agent {
    let mut session = talk.store().create(&talk.root, "long").unwrap();
    let filler = "lorem ipsum dolor sit amet ".repeat(tokens * 4 / 20 / 27 / 3);
    let mut push = |message| session.append(Record::Message { message }).unwrap();
    for n in 0..20 {
        let fact = |kind: usize| if n % 3 == kind { value(n) } else { String::new() };
        let call = Call {
            id: CallId::new(format!("c{n}")),
            name: "probe".into(),
            input: Input::parse(r#"{"name":"p"}"#),
        };
        push(Message::user(format!("question {n} {} {filler}", fact(0))));
        push(Message::Assistant(Answer { blocks: vec![Block::Call(call.clone())], ..Answer::default() }));
        let found = format!("{filler} {} {filler}", fact(1));
        push(Message::Results { results: vec![CallResult::text(&call, Outcome::Done, found)] });
        let text = format!("answer {n} {}", fact(2));
        push(Message::Assistant(Answer { blocks: vec![Block::Text { text }], ..Answer::default() }));
    }
    drop(session);
    talk.resume()
}

async fn sum_up(agent: &mut Agent) -> (Ending, Vec<String>) {
    let mut notices = Vec::new();
    let ending = start(agent, Start::SumUp { focus: String::new() }, |event, _| {
        if let Event::Notice(text) = event {
            notices.push(text);
        }
    })
    .await;
    (ending, notices)
}

fn last_text(agent: &Agent) -> String {
    match agent.transcript().messages().last() {
        Some(Message::Assistant(answer)) => answer.text(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_facts_from_before_the_cut_are_known_after_it() {
    // One that fits the window, and one of three times its size.
    for tokens in [12_000, 60_000] {
        for wire in WIRES {
            let talk = Talk {
                figures: Figures { window: 20_000, max_output: 2_000, vision: true },
                ..Talk::new(wire)
            };
            let mut agent = history(&talk, tokens);
            talk.server.judged_by(scripted(wire, 20_000));
            let (ending, notices) = sum_up(&mut agent).await;
            assert_eq!(ending, Ending::Done, "{notices:?}");
            assert!(
                notices.last().is_some_and(|n| n.contains("the whole stays in /transcript")),
                "{notices:?}"
            );
            let before = talk.server.requests().len();
            let mut right = 0;
            for n in 0..20 {
                assert_eq!(turn(&mut agent, &format!("what is FACT-{n}?"), |_, _| {}).await, Ending::Done);
                right += usize::from(last_text(&agent) == value(n));
            }
            assert_eq!(right, 20, "{wire:?} {tokens}");
            let asked = talk.server.requests();
            let sizes: Vec<usize> = asked[before..].iter().map(|r| r.body.to_string().len() / 4).collect();
            assert!(sizes.iter().all(|size| *size < 10_000), "{sizes:?}");
            talk.is_lawful();
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_summary_outlives_the_process_and_goes_with_a_rewind() {
    let talk = Talk {
        figures: Figures { window: 20_000, max_output: 2_000, vision: true },
        ..Talk::new(Wire::Anthropic)
    };
    let mut agent = history(&talk, 12_000);
    talk.server.judged_by(scripted(Wire::Anthropic, 20_000));
    let whole = agent.transcript().messages().to_vec();
    sum_up(&mut agent).await;
    assert_eq!(agent.transcript().messages(), whole, "the record is not touched");
    drop(agent);
    let mut agent = talk.resume();
    assert_eq!(agent.transcript().messages(), whole);
    turn(&mut agent, "what is FACT-1?", |_, _| {}).await;
    assert_eq!(last_text(&agent), value(1));
    let sent = Value::Array(talk.sent().pop().unwrap()).to_string();
    assert!(sent.contains("summed up") && !sent.contains("question 3"), "{}", &sent[..500]);
    agent.rewind(8).unwrap();
    turn(&mut agent, "what is FACT-1?", |_, _| {}).await;
    let sent = Value::Array(talk.sent().pop().unwrap()).to_string();
    assert!(
        !sent.contains("summed up") && sent.contains("question 1 "),
        "before the cut nothing is summed up"
    );
    drop(agent);
    let mut agent = talk.resume();
    turn(&mut agent, "what is FACT-2?", |_, _| {}).await;
    assert!(!Value::Array(talk.sent().pop().unwrap()).to_string().contains("summed up"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_the_middle_of_a_long_turn_what_was_asked_for_and_its_steps_stay() {
    for wire in WIRES {
        let talk = Talk {
            figures: Figures { window: 20_000, max_output: 1_000, vision: true },
            sum_up_at: 0.5,
            ..Talk::native(wire)
        };
        talk.write("AGENTS.md", "Always say moo.");
        talk.write("big.txt", "lorem ipsum dolor sit amet\n".repeat(400));
        let mut agent = talk.begin();
        let steps = r#"{"items":[{"text":"read everything","status":"in_progress"}]}"#;
        let pad = r#"{"action":"write","name":"findings","content":"x"}"#;
        talk.server.push(wire.reply(&[Say::Call("t", "todo", steps), Say::Call("p", "scratchpad", pad)]));
        for n in 0..12 {
            let input = format!(r#"{{"path":"big.txt","offset":{n},"limit":300}}"#);
            talk.server.push(wire.reply(&[Say::Call(&format!("r{n}"), "read_file", &input)]));
        }
        talk.server.push(wire.reply(&[Say::Text("all is read")]));
        talk.server.judged_by(move |body| {
            body.to_string().contains(ASKED).then(|| wire.reply(&[Say::Text("the file is lorem ipsum")]))
        });
        let mut notices = Vec::new();
        let ending = turn(&mut agent, "read big.txt until you know it by heart", |event, _| {
            if let Event::Notice(text) = event {
                notices.push(text);
            }
        })
        .await;
        assert_eq!(ending, Ending::Done, "{notices:?}");
        assert!(notices.iter().any(|n| n.starts_with("summed up")), "{notices:?}");
        let sent = Value::Array(talk.sent().pop().unwrap()).to_string();
        for kept in [
            "the file is lorem ipsum",
            "read big.txt until you know it by heart",
            "[>] read everything",
            "Scratchpads: findings (1 bytes)",
            "read again before editing",
            "big.txt",
        ] {
            assert!(sent.contains(kept), "{wire:?}: {kept} is missing in {sent}");
        }
        assert_eq!(sent.matches("Always say moo.").count(), 1, "{wire:?}");
        let stored = talk.stored().len();
        assert_eq!(stored, agent.transcript().messages().len(), "{wire:?}: the record has everything");
        talk.is_lawful();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_summing_up_fails_it_is_told_and_the_turn_goes_on() {
    let failures: [fn() -> Reply; 3] = [
        || Reply::error(500, "api_error", "no"),
        || Wire::Anthropic.reply(&[Say::Text("  ")]),
        || Reply::error(400, "invalid_request_error", "prompt is too long"),
    ];
    for fails in failures {
        let talk = Talk {
            figures: Figures { window: 20_000, max_output: 1_000, vision: true },
            sum_up_at: 0.5,
            ..Talk::new(Wire::Anthropic)
        };
        let mut agent = history(&talk, 16_000);
        talk.server.judged_by(move |body| body.to_string().contains(ASKED).then(fails));
        talk.server.push(Wire::Anthropic.reply(&[Say::Text("yes")]));
        talk.server.push(Wire::Anthropic.reply(&[Say::Text("yes")]));
        let mut notices = Vec::new();
        for text in ["hello", "again"] {
            let ending = turn(&mut agent, text, |event, _| {
                if let Event::Notice(text) = event {
                    notices.push(text);
                }
            })
            .await;
            assert_eq!(ending, Ending::Done, "{notices:?}");
        }
        let told = notices.iter().filter(|n| n.contains("was not summed up")).count();
        assert_eq!(told, 1, "once, and not again at every request: {notices:?}");
        talk.is_lawful();
        let (ending, _) = sum_up(&mut agent).await;
        assert!(matches!(ending, Ending::Blocked { .. }), "{ending:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_it_leaves_everything_as_it_was() {
    let talk = Talk {
        figures: Figures { window: 20_000, max_output: 1_000, vision: true },
        ..Talk::new(Wire::Anthropic)
    };
    let mut agent = history(&talk, 12_000);
    talk.server.judged_by(|body| body.to_string().contains(ASKED).then(|| Reply::stream().stall()));
    let (events, _inbox) = tokio::sync::mpsc::unbounded_channel();
    let stop = CancellationToken::new();
    let stopper = async {
        while talk.server.requests().is_empty() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stop.cancel();
        std::time::Instant::now()
    };
    let running = agent.run(Start::SumUp { focus: String::new() }, events, stop.clone());
    let both = async { tokio::join!(running, stopper) };
    let (ending, stopped) = tokio::time::timeout(Duration::from_secs(20), both).await.unwrap();
    assert!(stopped.elapsed() < Duration::from_secs(3), "{:?}", stopped.elapsed());
    assert_eq!(ending, Ending::Interrupted);
    talk.server.judged_by(|_| None);
    talk.server.push(Wire::Anthropic.reply(&[Say::Text("yes")]));
    assert_eq!(turn(&mut agent, "hello", |_, _| {}).await, Ending::Done);
    assert!(!Value::Array(talk.sent().pop().unwrap()).to_string().contains("summed up"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_conversation_is_not_summed_up() {
    let talk = Talk::new(Wire::Anthropic);
    let mut agent = talk.begin();
    let (ending, notices) = sum_up(&mut agent).await;
    assert_eq!((ending, notices.len()), (Ending::Done, 1));
    assert!(notices[0].contains("nothing to sum up"), "{notices:?}");
    assert_eq!(talk.server.requests().len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_overflow_taught_of_one_model_says_nothing_of_the_next() {
    for wire in WIRES {
        let talk = Talk::new(wire);
        let mut agent = history(&talk, 12_000);
        talk.server.judged_by(move |body| {
            let too_long =
                Reply::error(400, "invalid_request_error", "prompt is too long: 12000 tokens > 4000 maximum");
            (body.to_string().len() / 4 > 4_000).then_some(too_long)
        });
        talk.server.push(wire.reply(&[Say::Text("short")]));
        assert_eq!(turn(&mut agent, "hello", |_, _| {}).await, Ending::Done);
        let whole = |n: usize| talk.server.requests()[n].body.to_string().contains("question 1 ");
        let last = talk.server.requests().len() - 1;
        assert!(whole(0) && !whole(last), "{wire:?}: it was made to fit");
        // A model with more room sees all of it again.
        talk.server.judged_by(|_| None);
        let (provider, _) = talk.provider();
        agent.switch(provider, talk.figures.model("large"), 2_000);
        talk.server.push(wire.reply(&[Say::Text("long")]));
        assert_eq!(turn(&mut agent, "and now?", |_, _| {}).await, Ending::Done);
        assert!(whole(last + 1), "{wire:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_summed_up_has_not_been_seen_any_more() {
    let filler = "lorem ipsum dolor sit amet ".repeat(400);
    for attached in [true, false] {
        let talk = Talk::native(Wire::Anthropic);
        talk.mode.store(placet::permission::Mode::Unrestricted);
        talk.write("a.txt", "one\ntwo\n");
        let mut agent = talk.begin();
        let mut parts = vec![placet::conversation::Part::text(filler.clone())];
        if attached {
            // As the shell attaches a file that the person names.
            let call = Call {
                id: CallId::new("attached"),
                name: "read_file".into(),
                input: Input::parse(r#"{"path":"a.txt"}"#),
            };
            let policy =
                placet::permission::Policy::new(talk.mode.clone(), Vec::new(), vec![talk.root.clone()]);
            let policy = std::sync::Arc::new(std::sync::Mutex::new(policy));
            let (env, visit) = (std::sync::Arc::clone(agent.env()), agent.visit());
            let registry = std::sync::Arc::clone(&talk.registry);
            let reply = placet::agent::Reply::Nobody;
            let read =
                placet::agent::call_once(registry, env, policy, visit, call, reply, CancellationToken::new());
            parts.push(placet::conversation::Part::text(format!("{}a.txt]", placet::agent::ATTACHED)));
            parts.extend(read.await.parts);
        } else {
            talk.server.push(Reply::anthropic(&[Say::Call("r", "read_file", r#"{"path":"a.txt"}"#)]));
        }
        talk.server.push(Reply::anthropic(&[Say::Text("read")]));
        assert_eq!(start(&mut agent, Start::Say(parts), |_, _| {}).await, Ending::Done);
        let edit = r#"{"path":"a.txt","old_string":"two","new_string":"2"}"#;
        for n in 0..3 {
            talk.server.push(Reply::anthropic(&[Say::Text(&filler)]));
            assert_eq!(turn(&mut agent, &format!("more {n}"), |_, _| {}).await, Ending::Done);
        }
        talk.server.push(Reply::anthropic(&[Say::Text("a summary")]));
        let (ending, notices) = sum_up(&mut agent).await;
        assert_eq!(ending, Ending::Done, "{notices:?}");
        talk.server.push(Reply::anthropic(&[Say::Call("e", "edit_file", edit)]));
        talk.server.push(Reply::anthropic(&[Say::Text("done")]));
        assert_eq!(turn(&mut agent, "edit it", |_, _| {}).await, Ending::Done);
        let sent = Value::Array(talk.sent().pop().unwrap()).to_string();
        assert!(sent.contains("read it first") || sent.contains("has not been read"), "{attached}: {sent}");
        assert_eq!(std::fs::read_to_string(talk.root.join("a.txt")).unwrap(), "one\ntwo\n", "{attached}");
    }
}
