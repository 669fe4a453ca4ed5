//! The same again and again: the model is told, then the person is asked, and where nobody is there the turn stops.

use crate::support::binary::Place;
use crate::support::mock_server::{MockServer, Reply, Say};
use crate::support::talk::{Talk, Wire, turn};
use placet::agent::{Ending, Event};

fn repeat(talk: &Talk, input: &str, times: usize) {
    for n in 0..times {
        talk.server.push(talk.wire.reply(&[Say::Call(&format!("c{n}"), "probe", input)]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_fails_the_same_way_three_times_asks_and_stops_on_a_no() {
    let talk = Talk::new(Wire::Anthropic);
    repeat(&talk, r#"{"name":"p","do":"fail"}"#, 3);
    let mut agent = talk.begin();
    let mut asked = Vec::new();
    let ending = turn(&mut agent, "go", |event, _| {
        if let Event::LoopQuestion(question) = event {
            asked.push((question.tool.clone(), question.times));
            let _ = question.reply.send(false);
        }
    })
    .await;
    assert_eq!(ending, Ending::Stuck { tool: "probe".into(), times: 3 });
    assert_eq!(asked, [("probe".to_string(), 3)]);
    talk.server.push(talk.wire.reply(&[Say::Text("another way, then")]));
    assert_eq!(turn(&mut agent, "try something else", |_, _| {}).await, Ending::Done);
    talk.is_lawful();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_yes_it_goes_on_and_counts_anew() {
    let talk = Talk::new(Wire::Anthropic);
    repeat(&talk, r#"{"name":"p","do":"fail"}"#, 6);
    let mut agent = talk.begin();
    let mut asked = 0;
    let ending = turn(&mut agent, "go", |event, _| {
        if let Event::LoopQuestion(question) = event {
            asked += 1;
            let _ = question.reply.send(asked == 1);
        }
    })
    .await;
    assert_eq!((ending, asked), (Ending::Stuck { tool: "probe".into(), times: 3 }, 2));
    talk.is_lawful();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_works_the_same_way_is_told_at_three_and_asked_at_five() {
    let talk = Talk::new(Wire::Anthropic);
    repeat(&talk, r#"{"name":"p"}"#, 5);
    let mut agent = talk.begin();
    let ending = turn(&mut agent, "go", |event, _| {
        if let Event::LoopQuestion(question) = event {
            let _ = question.reply.send(false);
        }
    })
    .await;
    assert_eq!(ending, Ending::Stuck { tool: "probe".into(), times: 5 });
    let notes: Vec<bool> = talk
        .stored()
        .iter()
        .filter(|m| m["role"] == "results")
        .map(|m| m.to_string().contains("in a row; try something else"))
        .collect();
    assert_eq!(notes, [false, false, true, true, false]);
    talk.is_lawful();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn twenty_calls_that_differ_are_work() {
    let talk = Talk::new(Wire::Anthropic);
    for n in 0..20 {
        let input = format!(r#"{{"name":"p{n}","do":"fail"}}"#);
        talk.server.push(talk.wire.reply(&[Say::Call("c", "probe", &input)]));
    }
    talk.server.push(talk.wire.reply(&[Say::Text("done")]));
    assert_eq!(turn(&mut talk.begin(), "go", |_, _| {}).await, Ending::Done);
    talk.is_lawful();
}

/// Polling: the same call, and each time another answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_whose_result_changes_is_never_a_loop() {
    let talk = Talk::new(Wire::Anthropic);
    repeat(&talk, r#"{"name":"p","do":"count"}"#, 20);
    talk.server.push(talk.wire.reply(&[Say::Text("done")]));
    assert_eq!(turn(&mut talk.begin(), "go", |_, _| {}).await, Ending::Done);
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
    assert!(matches!(ending, Ending::Stuck { times: 5, .. }), "{ending:?}");
    talk.server.push(talk.wire.reply(&[Say::Text("sorry")]));
    assert_eq!(turn(&mut agent, "stop that", |_, _| {}).await, Ending::Done);
    talk.is_lawful();
}

#[test]
fn without_a_person_a_loop_ends_the_run_as_stuck() {
    let call = Reply::anthropic(&[Say::Call("c", "read_file", r#"{"path":"missing.txt"}"#)]);
    let server = MockServer::start([call.clone(), call.clone(), call]);
    let place = Place::new().answered_by(&server);
    let report = place.run(["-p", "go", "--output-format", "json"]).code(1).json();
    assert_eq!(report["ending"], "stuck");
    assert_eq!(report["calls"].as_array().unwrap().len(), 3);
    assert_eq!(server.violations(), Vec::<String>::new());
    let call = Reply::anthropic(&[Say::Call("c", "read_file", r#"{"path":"missing.txt"}"#)]);
    (0..3).for_each(|_| server.push(call.clone()));
    place.run(["-p", "go"]).code(1).warns("repeated the same thing 3 times");
}
