//! Interrupts: wherever one falls, every call is answered, nothing more starts, and the conversation goes on, in this
//! process and read back from the store.

use crate::support::is_full;
use crate::support::mock_server::{Reply, Say};
use crate::support::talk::{ALL_WIRES, Talk, Wire, turn};
use crate::support::wait;
use placet::agent::{ApprovalReply as Answer, ApprovalRequest, TurnEnding, TurnEvent};
use placet::permission::Mode;
use serde_json::Value;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    Text,
    ToolJson,
    Planned,
    Running,
    BetweenResults,
    Question,
    QuestionCancelled,
    BackOff,
}

const POINTS: [At; 8] = [
    At::Text,
    At::ToolJson,
    At::Planned,
    At::Running,
    At::BetweenResults,
    At::Question,
    At::QuestionCancelled,
    At::BackOff,
];

fn events(wire: Wire, said: &[Say]) -> Vec<String> {
    wire.events(said)
}

fn arguments(at: At, n: usize) -> String {
    let (what, reach) = match at {
        At::BetweenResults if n == 0 => ("done", "session"),
        At::Question | At::QuestionCancelled => ("done", "run"),
        _ => ("wait", "session"),
    };
    serde_json::json!({"name": format!("p{n}"), "do": what, "reach": reach}).to_string()
}

/// The reply during which the interrupt comes.
fn reply(wire: Wire, at: At, inputs: &[String]) -> Reply {
    let mut said = vec![Say::Text("I will do it.")];
    let ids: Vec<String> = (0..inputs.len()).map(|n| format!("c{n}")).collect();
    said.extend(inputs.iter().zip(&ids).map(|(input, id)| Say::Call(id, "probe", input)));
    let all = events(wire, &said);
    match at {
        At::Text => {
            let begun = all.iter().position(|event| event.contains("I will do it.")).unwrap() + 1;
            Reply::sse(all[..begun].concat()).stall()
        }
        // Everything up to the last piece of the last call's arguments.
        At::ToolJson => {
            let after = if wire == Wire::Responses { 2 } else { 3 };
            Reply::sse(all[..all.len() - after].concat()).stall()
        }
        At::BackOff => Reply::error(529, "overloaded_error", "busy"),
        _ => Reply::sse(all.concat()),
    }
}

/// Open questions are kept in `held`: dropping one would be a no.
fn stop_at(
    at: At,
    event: TurnEvent,
    count: usize,
    (seen, held): (&mut usize, &mut Vec<ApprovalRequest>),
    stop: &CancellationToken,
) {
    let hit = match (at, &event) {
        (At::Text, TurnEvent::Text(_))
        | (At::BackOff, TurnEvent::Retrying { .. })
        | (At::Planned, TurnEvent::CallPlanned { .. })
        | (At::BetweenResults, TurnEvent::CallEnded { .. }) => true,
        (At::ToolJson, TurnEvent::CallComing { .. }) | (At::Running, TurnEvent::CallRunning { .. }) => {
            *seen += 1;
            *seen == count
        }
        _ => false,
    };
    match event {
        TurnEvent::Question(question) if at == At::QuestionCancelled => {
            drop(question.reply.send(Answer::Cancel));
            stop.cancel();
        }
        TurnEvent::Question(question) => {
            held.push(question);
            stop.cancel();
        }
        _ if hit => stop.cancel(),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wherever_an_interrupt_falls_the_conversation_goes_on() {
    let counts: &[usize] = if is_full() { &[1, 2, 3, 4, 5] } else { &[1, 2, 5] };
    for wire in ALL_WIRES {
        for at in POINTS {
            for &count in counts {
                // Gemini sends a call in one piece, so nothing falls into the middle of one.
                if at == At::BetweenResults && count == 1 || at == At::ToolJson && wire == Wire::Gemini {
                    continue;
                }
                matrix(wire, at, count).await;
            }
        }
    }
}

async fn matrix(wire: Wire, at: At, count: usize) {
    let what = format!("{wire:?} {at:?} {count}");
    println!("{what}");
    let mut talk = Talk::new(wire);
    talk.mode.store(Mode::Ask);
    if at == At::BackOff {
        talk.first_wait = Duration::from_secs(30);
    }
    let inputs: Vec<String> = (0..count).map(|n| arguments(at, n)).collect();
    talk.server.push(reply(wire, at, &inputs));
    let mut agent = talk.begin();
    let mut seen = 0;
    let mut stopped = None;
    let mut held = Vec::new();
    let ending = turn(&mut agent, "go", |event, stop| {
        stop_at(at, event, count, (&mut seen, &mut held), stop);
        if stop.is_cancelled() {
            stopped.get_or_insert_with(Instant::now);
        }
    })
    .await;
    assert_eq!(ending, TurnEnding::Interrupted, "{what}");
    assert!(
        stopped.unwrap().elapsed() < crate::support::wait::DEADLINE,
        "{what}: {:?}",
        stopped.unwrap().elapsed()
    );
    let ran = talk.ran();

    talk.server.push(wire.reply(&[Say::Text("and on")]));
    assert_eq!(turn(&mut agent, "go on", |_, _| {}).await, TurnEnding::Done, "{what}");
    drop(agent);
    talk.server.push(wire.reply(&[Say::Text("and on")]));
    assert_eq!(turn(&mut talk.resume(), "and on?", |_, _| {}).await, TurnEnding::Done, "{what}");
    assert_eq!(talk.server.violations(), Vec::<String>::new(), "{what}");
    assert_eq!(talk.ran(), ran, "nothing runs again: {what}");
    assert!(ran.iter().all(|name| ran.iter().filter(|n| *n == name).count() == 1), "{what}: {ran:?}");

    let stored = talk.stored();
    let results: Vec<&Value> = stored
        .iter()
        .filter(|m| m["role"] == "results")
        .flat_map(|m| m["results"].as_array().unwrap())
        .collect();
    let whole_answer = !matches!(at, At::Text | At::ToolJson | At::BackOff);
    assert_eq!(results.len(), if whole_answer { count } else { 0 }, "{what}: {stored:?}");
    for (n, result) in results.iter().enumerate() {
        assert_eq!(result["id"], format!("c{n}"), "{what}");
        let outcome = if at == At::BetweenResults && n == 0 { "done" } else { "interrupted" };
        assert_eq!(result["outcome"], outcome, "{what}: {result}");
    }
    if matches!(at, At::Text | At::ToolJson) {
        assert_eq!(stored[1]["stop"], "cut", "{what}: {stored:?}");
        assert_eq!(stored[1]["blocks"][0]["text"], "I will do it.", "{what}");
    }
    if matches!(at, At::Question | At::QuestionCancelled) {
        assert_eq!(ran, Vec::<String>::new(), "{what}");
    }
}

/// A tool that does not listen is given up, and the conversation is not held up by it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_real_command_dies_with_the_interrupt() {
    let talk = Talk::native(Wire::Anthropic);
    talk.mode.store(Mode::Unrestricted);
    let line = "trap '' INT TERM; echo $$ > pid; sleep 1000 & sleep 1000; sleep 1000";
    let input = serde_json::json!({ "command": line }).to_string();
    talk.server.push(talk.wire.reply(&[Say::Call("c", "run_command", &input)]));
    let mut agent = talk.begin();
    let pid_file = talk.root.join("pid");
    let stop = CancellationToken::new();
    let watching = {
        let (stop, pid_file) = (stop.clone(), pid_file.clone());
        async move {
            let begun = || std::fs::read_to_string(&pid_file).is_ok_and(|t| t.ends_with('\n'));
            wait::until_then("the command", begun).await;
            stop.cancel();
            Instant::now()
        }
    };
    let (events, _inbox) = tokio::sync::mpsc::unbounded_channel();
    let start = placet::agent::TurnStart::Say(vec![placet::conversation::Part::text("go")]);
    let (ending, stopped) = tokio::join!(agent.run(start, events, stop), watching);
    assert_eq!(ending, TurnEnding::Interrupted);
    assert!(stopped.elapsed() < crate::support::wait::DEADLINE, "{:?}", stopped.elapsed());
    let pid: i32 = std::fs::read_to_string(pid_file).unwrap().trim().parse().unwrap();
    assert!(rustix::process::test_kill_process(rustix::process::Pid::from_raw(pid).unwrap()).is_err());
    assert_eq!(talk.stored()[2]["results"][0]["outcome"], "interrupted");
}
