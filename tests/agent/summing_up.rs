//! A conversation that becomes too long is summed up, and what was said in its beginning is still known.

use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::shell;
use crate::support::talk::{Talk, WIRES, Wire, start, turn};
use crate::support::wait;
use placet::agent::{Agent, TurnEnding, TurnEvent, TurnStart};
use placet::conversation::{
    AssistantBlock, AssistantMessage, CallId, CallInput, CallOutcome, CallResult, Message, ToolCall,
};
use placet::provider::ModelLimits;
use placet::session::SessionRecord;
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
    let mut push = |message| session.append(SessionRecord::Message { message }).unwrap();
    for n in 0..20 {
        let fact = |kind: usize| if n % 3 == kind { value(n) } else { String::new() };
        let call = ToolCall {
            id: CallId::new(format!("c{n}")),
            name: "probe".into(),
            input: CallInput::parse(r#"{"name":"p"}"#),
        };
        push(Message::user(format!("question {n} {} {filler}", fact(0))));
        push(Message::Assistant(AssistantMessage {
            blocks: vec![AssistantBlock::Call(call.clone())],
            ..AssistantMessage::default()
        }));
        let found = format!("{filler} {} {filler}", fact(1));
        push(Message::Results { results: vec![CallResult::text(&call, CallOutcome::Done, found)] });
        let text = format!("answer {n} {}", fact(2));
        push(Message::Assistant(AssistantMessage {
            blocks: vec![AssistantBlock::Text { text }],
            ..AssistantMessage::default()
        }));
    }
    drop(session);
    talk.resume()
}

async fn sum_up(agent: &mut Agent) -> (TurnEnding, Vec<String>) {
    let mut notices = Vec::new();
    let ending = start(agent, TurnStart::SumUp { focus: String::new() }, |event, _| {
        if let TurnEvent::Notice(text) = event {
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
                figures: ModelLimits { window: 20_000, max_output: 2_000, vision: true },
                ..Talk::new(wire)
            };
            let mut agent = history(&talk, tokens);
            talk.server.judged_by(scripted(wire, 20_000));
            let (ending, notices) = sum_up(&mut agent).await;
            assert_eq!(ending, TurnEnding::Done, "{notices:?}");
            assert!(
                notices.last().is_some_and(|n| n.contains("/transcript shows the whole conversation")),
                "{notices:?}"
            );
            let before = talk.server.requests().len();
            let mut right = 0;
            for n in 0..20 {
                assert_eq!(
                    turn(&mut agent, &format!("what is FACT-{n}?"), |_, _| {}).await,
                    TurnEnding::Done
                );
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
        figures: ModelLimits { window: 20_000, max_output: 2_000, vision: true },
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
        "before the cut this conversation has no summary"
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
            figures: ModelLimits { window: 20_000, max_output: 1_000, vision: true },
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
            if let TurnEvent::Notice(text) = event {
                notices.push(text);
            }
        })
        .await;
        assert_eq!(ending, TurnEnding::Done, "{notices:?}");
        assert!(notices.iter().any(|n| n.starts_with("summarized ")), "{notices:?}");
        let sent = Value::Array(talk.sent().pop().unwrap()).to_string();
        for kept in [
            "the file is lorem ipsum",
            "read big.txt until you know it by heart",
            "[>] read everything",
            "Scratchpads: findings (1 bytes)",
            "read a file again before you edit it",
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
            figures: ModelLimits { window: 20_000, max_output: 1_000, vision: true },
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
                if let TurnEvent::Notice(text) = event {
                    notices.push(text);
                }
            })
            .await;
            assert_eq!(ending, TurnEnding::Done, "{notices:?}");
        }
        let told = notices.iter().filter(|n| n.contains("was not summarized")).count();
        assert_eq!(told, 1, "once, and not again at every request: {notices:?}");
        talk.is_lawful();
        let (ending, _) = sum_up(&mut agent).await;
        assert!(matches!(ending, TurnEnding::Blocked { .. }), "{ending:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_it_leaves_everything_as_it_was() {
    let talk = Talk {
        figures: ModelLimits { window: 20_000, max_output: 1_000, vision: true },
        ..Talk::new(Wire::Anthropic)
    };
    let mut agent = history(&talk, 12_000);
    talk.server.judged_by(|body| body.to_string().contains(ASKED).then(|| Reply::stream().stall()));
    let (events, _inbox) = tokio::sync::mpsc::unbounded_channel();
    let stop = CancellationToken::new();
    let stopper = async {
        wait::until_then("the request", || !talk.server.requests().is_empty()).await;
        stop.cancel();
        std::time::Instant::now()
    };
    let running = agent.run(TurnStart::SumUp { focus: String::new() }, events, stop.clone());
    let both = async { tokio::join!(running, stopper) };
    let (ending, stopped) = tokio::time::timeout(Duration::from_secs(20), both).await.unwrap();
    assert!(stopped.elapsed() < crate::support::wait::DEADLINE, "{:?}", stopped.elapsed());
    assert_eq!(ending, TurnEnding::Interrupted);
    talk.server.judged_by(|_| None);
    talk.server.push(Wire::Anthropic.reply(&[Say::Text("yes")]));
    assert_eq!(turn(&mut agent, "hello", |_, _| {}).await, TurnEnding::Done);
    assert!(!Value::Array(talk.sent().pop().unwrap()).to_string().contains("summed up"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_short_conversation_is_not_summed_up() {
    let talk = Talk::new(Wire::Anthropic);
    let mut agent = talk.begin();
    let (ending, notices) = sum_up(&mut agent).await;
    assert_eq!((ending, notices.len()), (TurnEnding::Done, 1));
    assert!(notices[0].contains("nothing to summarize"), "{notices:?}");
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
        assert_eq!(turn(&mut agent, "hello", |_, _| {}).await, TurnEnding::Done);
        let whole = |n: usize| talk.server.requests()[n].body.to_string().contains("question 1 ");
        let last = talk.server.requests().len() - 1;
        assert!(whole(0) && !whole(last), "{wire:?}: it was made to fit");
        // A model with more room sees all of it again.
        talk.server.judged_by(|_| None);
        let (provider, _) = talk.provider();
        agent.switch(provider, talk.figures.model("large"), 2_000);
        talk.server.push(wire.reply(&[Say::Text("long")]));
        assert_eq!(turn(&mut agent, "and now?", |_, _| {}).await, TurnEnding::Done);
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
            let call = ToolCall {
                id: CallId::new("attached"),
                name: "read_file".into(),
                input: CallInput::parse(r#"{"path":"a.txt"}"#),
            };
            let policy =
                placet::permission::Policy::new(talk.mode.clone(), Vec::new(), vec![talk.root.clone()]);
            let policy = std::sync::Arc::new(std::sync::Mutex::new(policy));
            let (env, origin) = (std::sync::Arc::clone(agent.env()), agent.call_origin());
            let registry = std::sync::Arc::clone(&talk.registry);
            let reply = placet::agent::ApprovalReply::Nobody;
            let cancel = CancellationToken::new();
            let single = placet::agent::SingleCall { registry, env, policy, origin, call, reply, cancel };
            parts.push(placet::conversation::Note::AttachedFile { path: "a.txt".into() }.into());
            parts.extend(single.run(|_| ()).await.0.parts);
        } else {
            talk.server.push(Reply::anthropic(&[Say::Call("r", "read_file", r#"{"path":"a.txt"}"#)]));
        }
        talk.server.push(Reply::anthropic(&[Say::Text("read")]));
        assert_eq!(start(&mut agent, TurnStart::Say(parts), |_, _| {}).await, TurnEnding::Done);
        let edit = r#"{"path":"a.txt","old_string":"two","new_string":"2"}"#;
        for n in 0..3 {
            talk.server.push(Reply::anthropic(&[Say::Text(&filler)]));
            assert_eq!(turn(&mut agent, &format!("more {n}"), |_, _| {}).await, TurnEnding::Done);
        }
        talk.server.push(Reply::anthropic(&[Say::Text("a summary")]));
        let (ending, notices) = sum_up(&mut agent).await;
        assert_eq!(ending, TurnEnding::Done, "{notices:?}");
        talk.server.push(Reply::anthropic(&[Say::Call("e", "edit_file", edit)]));
        talk.server.push(Reply::anthropic(&[Say::Text("done")]));
        assert_eq!(turn(&mut agent, "edit it", |_, _| {}).await, TurnEnding::Done);
        let sent = Value::Array(talk.sent().pop().unwrap()).to_string();
        assert!(sent.contains("read it first") || sent.contains("has not been read"), "{attached}: {sent}");
        assert_eq!(std::fs::read_to_string(talk.root.join("a.txt")).unwrap(), "one\ntwo\n", "{attached}");
    }
}

/// The last request, as text.
fn last_sent(talk: &Talk) -> String {
    Value::Array(talk.sent().pop().unwrap()).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_summary_can_be_read_written_anew_and_taken_back_and_stays_so() {
    // Taken up whole, and from where the summary lets it begin.
    for take_up in [Talk::resume, Talk::take_up] {
        let talk = Talk {
            figures: ModelLimits { window: 200_000, max_output: 2_000, vision: true },
            sum_up_at: 0.85,
            ..Talk::new(Wire::Anthropic)
        };
        let mut agent = history(&talk, 12_000);
        assert!(agent.summary().is_none());
        assert_eq!(agent.undo_summary().unwrap(), None);
        talk.server.judged_by(scripted(Wire::Anthropic, 200_000));
        sum_up(&mut agent).await;
        let (text, upto) = agent.summary().unwrap();
        assert!(text.contains(&value(0)) && !text.starts_with("[placet: what came before"), "{text}");
        agent.rewrite_summary("  the person likes FACT-99=blue \n").unwrap();
        for again in 0..2 {
            assert_eq!(agent.summary(), Some(("the person likes FACT-99=blue", upto)), "{again}");
            turn(&mut agent, "what is FACT-99?", |_, _| {}).await;
            assert_eq!(last_text(&agent), "FACT-99=blue");
            assert!(!last_sent(&talk).contains("question 3 "), "{again}");
            drop(agent);
            agent = take_up(&talk);
        }
        assert_eq!(agent.undo_summary().unwrap(), Some(upto));
        for again in 0..2 {
            assert!(agent.summary().is_none(), "{again}");
            turn(&mut agent, "what is FACT-3?", |_, _| {}).await;
            assert_eq!(last_text(&agent), value(3));
            let sent = last_sent(&talk);
            assert!(sent.contains("question 3 ") && !sent.contains("summed up"), "{again}");
            drop(agent);
            agent = take_up(&talk);
        }
        talk.is_lawful();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_does_not_fit_after_a_summary_was_taken_back_is_left_out_and_not_summed_up_again_at_once() {
    let talk = Talk {
        figures: ModelLimits { window: 20_000, max_output: 2_000, vision: true },
        sum_up_at: 0.85,
        ..Talk::new(Wire::Anthropic)
    };
    let mut agent = history(&talk, 60_000);
    talk.server.judged_by(scripted(Wire::Anthropic, 20_000));
    sum_up(&mut agent).await;
    agent.undo_summary().unwrap();
    drop(agent);
    let mut agent = talk.resume();
    let mut notices = Vec::new();
    let ending = turn(&mut agent, "what is FACT-0?", |event, _| {
        if let TurnEvent::Notice(text) = event {
            notices.push(text);
        }
    })
    .await;
    assert_eq!(ending, TurnEnding::Done);
    assert!(notices.iter().any(|n| n.contains("older parts were left out")), "{notices:?}");
    assert!(!notices.iter().any(|n| n.contains("summing up")), "{notices:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn that_the_window_fills_up_is_said_once_before_it_is_summed_up() {
    let talk = Talk {
        figures: ModelLimits { window: 20_000, max_output: 2_000, vision: true },
        sum_up_at: 0.85,
        ..Talk::new(Wire::Anthropic)
    };
    let mut agent = talk.begin();
    let filler = "lorem ipsum dolor sit amet ".repeat(70);
    let mut warned = Vec::new();
    talk.server.judged_by(|body| {
        let said = if body.to_string().contains(ASKED) { "short" } else { "yes" };
        Some(Wire::Anthropic.reply(&[Say::Text(said)]))
    });
    // The mock counts ten tokens for each request: what is estimated counts half, about 280 tokens a turn.
    for n in 0..100 {
        let mut summed_up = false;
        let ending = turn(&mut agent, &format!("{n} {filler}"), |event, _| {
            if let TurnEvent::Notice(text) = event {
                summed_up |= text.starts_with("summarized ");
                warned.extend(text.contains("/compact does it now").then_some((n, text)));
            }
        })
        .await;
        assert_eq!(ending, TurnEnding::Done);
        if summed_up {
            assert_eq!(warned.len(), 1, "{warned:?}");
            assert!(warned[0].0 < n, "{warned:?} before {n}");
            let said = "% full: at 85% the beginning is summarized; /compact does it now";
            assert!(
                warned[0].1.starts_with("the model's window is 7") && warned[0].1.ends_with(said),
                "{warned:?}"
            );
            return;
        }
    }
    panic!("it was never summed up: {warned:?}");
}

/// What one command may give back is a third of the room that is left, and never less than 2,000 bytes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_result_takes_a_third_of_what_is_left_of_the_window_at_most() {
    for (window, before, most) in [(200_000, 0, 30_000), (20_000, 0, 18_000), (30_000, 90_000, 2_000)] {
        let talk = Talk {
            figures: ModelLimits { window, max_output: 1_000, vision: true },
            ..Talk::native(Wire::Anthropic)
        };
        talk.mode.store(placet::permission::Mode::Unrestricted);
        let mut agent = talk.begin();
        let input = r#"{"command":"seq 1 5200"}"#;
        talk.server.push(Reply::anthropic(&[Say::Call("c", "run_command", input)]));
        talk.server.push(Reply::anthropic(&[Say::Text("seen")]));
        assert_eq!(turn(&mut agent, &"x".repeat(before), |_, _| {}).await, TurnEnding::Done);
        let stored = talk.stored();
        let result =
            stored.iter().find(|m| m["role"] == "results").unwrap()["results"][0]["parts"][0].clone();
        let result = result["text"].as_str().unwrap();
        let is_whole = result.contains("2600\n2601");
        assert_eq!(is_whole, most > 24_000, "{window}: {} bytes", result.len());
        assert!(result.len() <= most, "{window}: {} bytes", result.len());
        assert_eq!(agent.env().scratchpads.list().len(), usize::from(!is_whole));
    }
}

#[test]
fn the_shell_shows_the_summary_takes_it_from_the_editor_and_takes_it_back() {
    let long = "the river runs to the sea and comes back as rain ".repeat(60);
    let server = MockServer::start([
        Reply::openai(&[Say::Text(&long)]),
        Reply::openai(&[Say::Text(&long)]),
        Reply::openai(&[Say::Text("You asked about rivers.\u{1b}[31m I told you of rain.")]),
        Reply::openai(&[Say::Text("as you say")]),
    ]);
    let url = server.url();
    let args = ["--provider", "openai-compatible", "--model", "m", "--base-url", &url, "--set"];
    let editor = "editor=sed -i s/rivers/mountains/";
    let start = args.iter().fold(shell(), |start, arg| start.arg(arg)).arg(editor);
    let mut pty = start.size(100, 40).open();
    let say = |pty: &mut crate::support::pty::Pty, line: &str, found: &str| {
        pty.line(line);
        pty.until(line, |s| s.contains(found));
        pty.until_prompt("");
    };
    say(&mut pty, "/context summary", "this conversation has no summary");
    say(&mut pty, "/context colours", "unknown argument `colours` of /context");
    for n in 1..=2 {
        pty.line(&format!("rivers, please ({n})"));
        pty.until("an answer", |_| server.requests().len() == n);
        pty.until_prompt("");
    }
    say(&mut pty, "/compact", "/transcript shows the whole conversation");
    say(&mut pty, "/context summary", "You asked about rivers.");
    assert!(
        !pty.raw().windows(6).any(|bytes| bytes == b"\x1b[31m "),
        "control sequences of a summary do nothing"
    );
    say(&mut pty, "/compact edit", "your summary is used from the next request on");
    say(&mut pty, "/context summary", "You asked about mountains.");
    let shown =
        "◆ of 4 messages, as the model has it:\n  You asked about mountains.\u{241b}[31m I told you of rain.";
    assert!(pty.screen().contains(shown), "{}", pty.screen());
    say(&mut pty, "/compact edit", "the summary is unchanged");
    say(&mut pty, "/compact undo", "they are sent again");
    say(&mut pty, "and now?", "as you say");
    let sent = server.requests().pop().unwrap().body.to_string();
    assert!(sent.contains("rivers, please (1)") && !sent.contains("summed up"), "{sent}");
    assert_eq!(server.violations(), Vec::<String>::new());
}
