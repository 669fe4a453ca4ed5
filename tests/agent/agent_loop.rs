//! The same again and again: the model is told, then the person is asked, and where nobody is there the turn stops.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::pty::shell;
use crate::support::talk::{Talk, Wire, turn};
use placet::agent::{TurnEnding, TurnEvent};

fn repeat(talk: &Talk, input: &str, times: usize) {
    for n in 0..times {
        talk.server.push(talk.wire.reply(&[Say::Call(&format!("c{n}"), "probe", input)]));
    }
}

/// Of each round, whether the model was told that it repeats itself.
fn told(talk: &Talk) -> Vec<bool> {
    let stored = talk.stored();
    let results = stored.iter().filter(|m| m["role"] == "results");
    results.map(|m| m.to_string().contains(r#""note":"repeated""#)).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_fails_the_same_way_is_told_at_three_and_asks_at_five_with_what_the_turn_has_taken() {
    let talk = Talk::new(Wire::Anthropic);
    repeat(&talk, r#"{"name":"p","do":"fail"}"#, 5);
    let mut agent = talk.begin();
    let mut asked = Vec::new();
    let ending = turn(&mut agent, "go", |event, _| {
        if let TurnEvent::LoopQuestion(question) = event {
            asked.push((
                question.tool.clone(),
                question.times,
                question.spent.prompt(),
                question.spent.output,
            ));
            let _ = question.reply.send(false);
        }
    })
    .await;
    assert_eq!(ending, TurnEnding::Stuck { tool: "probe".into(), times: 5 });
    assert_eq!(asked, [("probe".to_string(), 5, 50, 100)]);
    assert_eq!(told(&talk), [false, false, true, true, false]);
    talk.server.push(talk.wire.reply(&[Say::Text("another way, then")]));
    assert_eq!(turn(&mut agent, "try something else", |_, _| {}).await, TurnEnding::Done);
    talk.is_lawful();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_yes_it_goes_on_and_counts_anew() {
    let talk = Talk::new(Wire::Anthropic);
    repeat(&talk, r#"{"name":"p","do":"fail"}"#, 10);
    let mut agent = talk.begin();
    let mut asked = 0;
    let ending = turn(&mut agent, "go", |event, _| {
        if let TurnEvent::LoopQuestion(question) = event {
            asked += 1;
            let _ = question.reply.send(asked == 1);
        }
    })
    .await;
    assert_eq!((ending, asked), (TurnEnding::Stuck { tool: "probe".into(), times: 5 }, 2));
    talk.is_lawful();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_works_the_same_way_is_told_at_three_and_asked_at_five() {
    let talk = Talk::new(Wire::Anthropic);
    repeat(&talk, r#"{"name":"p"}"#, 5);
    let mut agent = talk.begin();
    let ending = turn(&mut agent, "go", |event, _| {
        if let TurnEvent::LoopQuestion(question) = event {
            let _ = question.reply.send(false);
        }
    })
    .await;
    assert_eq!(ending, TurnEnding::Stuck { tool: "probe".into(), times: 5 });
    assert_eq!(told(&talk), [false, false, true, true, false]);
    talk.is_lawful();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_bound_can_be_another_and_off() {
    for (max_repeats, ending) in
        [(2, TurnEnding::Stuck { tool: "probe".into(), times: 2 }), (0, TurnEnding::Done)]
    {
        let talk = Talk { max_repeats, ..Talk::new(Wire::Anthropic) };
        repeat(&talk, r#"{"name":"p","do":"fail"}"#, 12);
        talk.server.push(talk.wire.reply(&[Say::Text("done")]));
        assert_eq!(turn(&mut talk.begin(), "go", |_, _| {}).await, ending);
    }
}

/// Each run of the same command takes another time, and each long output is kept under another name.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_does_the_same_again_is_a_loop_however_long_it_takes() {
    for command in ["sleep 0.$(shuf -i 1-4 -n 1); echo no such test; exit 1", "seq 1 9000"] {
        let talk = Talk::native(Wire::Anthropic);
        talk.mode.store(placet::permission::Mode::Unrestricted);
        let input = serde_json::json!({ "command": command }).to_string();
        for n in 0..5 {
            talk.server.push(talk.wire.reply(&[Say::Call(&format!("c{n}"), "run_command", &input)]));
        }
        let ending = turn(&mut talk.begin(), "go", |_, _| {}).await;
        assert_eq!(ending, TurnEnding::Stuck { tool: "run_command".into(), times: 5 }, "{command}");
        talk.is_lawful();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn forty_calls_that_differ_and_fail_now_and_then_are_work() {
    let talk = Talk::new(Wire::Anthropic);
    for n in 0..40 {
        let what = if n % 5 == 4 { "count" } else { "fail" };
        let input = format!(r#"{{"name":"p{n}","do":"{what}"}}"#);
        talk.server.push(talk.wire.reply(&[Say::Call("c", "probe", &input)]));
    }
    talk.server.push(talk.wire.reply(&[Say::Text("done")]));
    assert_eq!(turn(&mut talk.begin(), "go", |_, _| {}).await, TurnEnding::Done);
    talk.is_lawful();
}

/// 200 requests of one turn were spent so: each answer was cut at its limit within another call.
#[test]
fn calls_that_are_cut_at_the_limit_end_the_turn_after_ten_requests() {
    let cut = |n: usize| {
        let written = "a line of a file that is too long\\n".repeat(n + 1);
        let arguments = format!(r#"{{"path":"a.txt","content":"{written}"#);
        let call = serde_json::json!({"index": 0, "id": "c", "function": {"name": "write_file", "arguments": arguments}});
        let delta =
            serde_json::json!({"choices": [{"delta": {"tool_calls": [call]}, "finish_reason": "length"}]});
        let usage =
            serde_json::json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 100 + n}});
        Reply::sse(format!("data: {delta}\n\ndata: {usage}\n\ndata: [DONE]\n\n"))
    };
    let server = MockServer::start((0..30).map(cut).collect::<Vec<_>>());
    let place = Place::new();
    let base_url = server.url();
    let args = ["-p", "go", "--provider", "openai-compatible", "--model", "m", "--base-url", &base_url];
    place.run(args).code(1).warns("write_file was called 10 times");
    let requests = server.requests();
    assert_eq!(requests.len(), 10);
    let last = requests.last().unwrap().body.to_string();
    assert!(
        last.contains("the answer was cut at 107 tokens") && last.contains("send its text in parts"),
        "{last}"
    );
    assert!(last.contains("have failed in the same way 5 times"), "{last}");
    assert_eq!(requests[0].body["max_tokens"], 8192, "a quarter of the assumed window");
}

/// Polling: the same call, and each time another answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_result_changes_is_never_a_loop() {
    let talk = Talk::new(Wire::Anthropic);
    repeat(&talk, r#"{"name":"p","do":"count"}"#, 20);
    talk.server.push(talk.wire.reply(&[Say::Text("done")]));
    assert_eq!(turn(&mut talk.begin(), "go", |_, _| {}).await, TurnEnding::Done);
    assert!(!format!("{:?}", talk.stored()).contains("in a row"));
    talk.is_lawful();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paragraph_said_over_and_over_stops_the_answer() {
    let talk = Talk::new(Wire::Anthropic);
    let line = "I will now have a look at the file, and then I will fix it.\n\n";
    let said: Vec<Say> = (0..50).map(|_| Say::Text(line)).collect();
    talk.server.push(talk.wire.reply(&said));
    let mut agent = talk.begin();
    let ending = turn(&mut agent, "go", |_, _| {}).await;
    assert!(matches!(ending, TurnEnding::RepeatedText { times: 5 }), "{ending:?}");
    talk.server.push(talk.wire.reply(&[Say::Text("sorry")]));
    assert_eq!(turn(&mut agent, "stop that", |_, _| {}).await, TurnEnding::Done);
    talk.is_lawful();
}

#[test]
fn without_a_person_a_loop_ends_the_run_as_stuck() {
    let call = Reply::anthropic(&[Say::Call("c", "read_file", r#"{"path":"missing.txt"}"#)]);
    let server = MockServer::start(vec![call; 5]);
    let place = Place::new().answered_by(&server);
    let report = place.run(["-p", "go", "--output-format", "json"]).code(1).json();
    assert_eq!(report["ending"], "stuck");
    assert_eq!(report["calls"].as_array().unwrap().len(), 5);
    assert_eq!(server.violations(), Vec::<String>::new());
    let call = Reply::anthropic(&[Say::Call("c", "read_file", r#"{"path":"missing.txt"}"#)]);
    (0..5).for_each(|_| server.push(call.clone()));
    place.run(["-p", "go"]).code(1).warns("was called 5 times with the same result");
}

#[test]
fn the_question_says_what_the_turn_has_taken() {
    let call = Reply::openai(&[Say::Call("c", "read_file", r#"{"path":"missing.txt"}"#)]);
    let server = MockServer::start(vec![call; 5]);
    let url = server.url();
    let args = ["--provider", "openai-compatible", "--model", "m", "--base-url", &url];
    let mut pty = args.iter().fold(shell(), |start, arg| start.arg(arg)).open();
    pty.line("go");
    pty.until("the question", |s| {
        s.contains("read_file was called 5 times with the same result. Continue?")
            && s.contains("this turn has cost 50 in, 100 out so far")
    });
    pty.until_answers_count();
    let shown = "◆ read_file was called 5 times with the same result. Continue?\n\
                 \x20 this turn has cost 50 in, 100 out so far\n\
                 \x20 [Yes] · No   Enter answers";
    assert!(pty.screen().contains(shown), "{}", pty.screen());
    pty.answer("n");
    pty.until("the end", |s| s.contains("stopped: read_file was called 5 times with the same result"));
}
