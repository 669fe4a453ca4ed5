use super::*;
use placet_provider::RejectionCause;
use placet_text::conversation::CallOutcome;
use placet_text::conversation::{CallInput as Args, Transcript};
use proptest::prelude::*;
use std::time::Duration;

fn call(id: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: "t".into(), input: Args::Object(serde_json::json!({ "id": id })) }
}

fn answer(ids: &[&str]) -> AssistantMessage {
    let stop = if ids.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
    let mut blocks = vec![AssistantBlock::Text { text: "hm".into() }];
    blocks.extend(ids.iter().map(|id| AssistantBlock::Call(call(id))));
    AssistantMessage { blocks, stop, ..AssistantMessage::default() }
}

fn done(id: &str) -> CallResult {
    CallResult::text(&call(id), CallOutcome::Done, format!("result {id}"))
}

fn reads(path: &str) -> TouchedPaths {
    TouchedPaths { reads: vec![path.into()], ..TouchedPaths::default() }
}

fn writes(path: &str) -> TouchedPaths {
    TouchedPaths { writes: vec![path.into()], ..TouchedPaths::default() }
}

fn command() -> TouchedPaths {
    TouchedPaths { anything: true, ..TouchedPaths::default() }
}

/// Effects as short words, so that a whole run is one comparison.
fn words(effects: &[TurnEffect]) -> String {
    let word = |e: &TurnEffect| match e {
        TurnEffect::Save(Message::User { .. }) => "save:user".to_string(),
        TurnEffect::Save(Message::Assistant(a)) => format!("save:assistant({:?})", a.stop),
        TurnEffect::Save(Message::Results { results }) => {
            let each: Vec<String> = results.iter().map(|r| format!("{}={:?}", r.id, r.outcome)).collect();
            format!("save:results({})", each.join(","))
        }
        TurnEffect::Request => "request".into(),
        TurnEffect::Listen => "listen".into(),
        TurnEffect::Repair(r) => format!("repair({r:?})"),
        TurnEffect::Check(c) => format!("check:{}", c.id),
        TurnEffect::Run(id) => format!("run:{id}"),
        TurnEffect::Cancel => "cancel".into(),
        TurnEffect::AskLoop { times, .. } => format!("ask-loop:{times}"),
        TurnEffect::End(TurnEnding::Failed(_)) => "end:failed".into(),
        TurnEffect::End(e) => format!("end:{e:?}"),
    };
    effects.iter().map(word).collect::<Vec<_>>().join(" ")
}

fn started(ids: &[&str], touches: Vec<TouchedPaths>) -> (Turn, String) {
    let mut turn = Turn::new(TurnLimits { rounds: 0, repeats: 5 });
    assert_eq!(words(&turn.handle(TurnInput::Said(vec![Part::text("hi")]))), "save:user request");
    let effects = turn.handle(TurnInput::Answered { answer: answer(ids), touches });
    let effects = words(&effects);
    (turn, effects)
}

#[test]
fn an_answer_that_says_nothing_is_asked_for_once_more_and_then_is_none() {
    let silent = || TurnInput::Answered { answer: AssistantMessage::default(), touches: vec![] };
    let mut turn = Turn::new(TurnLimits { rounds: 0, repeats: 5 });
    turn.handle(TurnInput::Said(vec![Part::text("hi")]));
    assert_eq!(words(&turn.handle(silent())), "repair(Nudge(Empty)) save:user request");
    assert_eq!(words(&turn.handle(silent())), "end:NoAnswer(Empty)");
    assert!(turn.is_idle());
    // The next turn has a nudge of its own; a call that a person typed has none.
    turn.handle(TurnInput::Retry);
    assert_eq!(words(&turn.handle(silent())), "repair(Nudge(Empty)) save:user request");
    turn.handle(TurnInput::Interrupted);
    turn.handle(TurnInput::Typed(vec![Part::text("true")]));
    assert_eq!(words(&turn.handle(silent())), "end:Done");
}

#[test]
fn what_is_said_is_saved_before_it_is_sent_and_an_answer_without_calls_ends_the_turn() {
    let (turn, effects) = started(&[], vec![]);
    assert_eq!(effects, "save:assistant(EndTurn) end:Done");
    assert!(turn.is_idle());
}

#[test]
fn calls_that_share_nothing_are_checked_together_and_answered_in_order() {
    let (mut turn, effects) = started(&["a", "b"], vec![reads("x"), reads("x")]);
    assert_eq!(effects, "save:assistant(ToolUse) check:a check:b");
    assert_eq!(words(&turn.handle(TurnInput::Cleared(CallId::new("b")))), "run:b");
    assert_eq!(words(&turn.handle(TurnInput::Ended(done("b")))), "");
    assert_eq!(words(&turn.handle(TurnInput::Cleared(CallId::new("a")))), "run:a");
    assert_eq!(words(&turn.handle(TurnInput::Ended(done("a")))), "save:results(a=Done,b=Done) listen");
}

#[test]
fn a_call_is_planned_only_after_earlier_ones_on_its_path_have_run() {
    let (mut turn, effects) = started(&["a", "b", "c"], vec![writes("x"), reads("x"), reads("y")]);
    assert_eq!(effects, "save:assistant(ToolUse) check:a check:c");
    turn.handle(TurnInput::Cleared(CallId::new("a")));
    assert_eq!(words(&turn.handle(TurnInput::Ended(done("a")))), "check:b");
}

#[test]
fn a_command_waits_for_every_write_and_every_write_waits_for_it() {
    let (mut turn, effects) =
        started(&["w", "c", "v", "r"], vec![writes("x"), command(), writes("y"), reads("z")]);
    assert_eq!(effects, "save:assistant(ToolUse) check:w check:r");
    assert_eq!(words(&turn.handle(TurnInput::Ended(done("w")))), "check:c");
    assert_eq!(words(&turn.handle(TurnInput::Ended(done("c")))), "check:v");
}

#[test]
fn an_interrupt_leaves_no_call_unanswered() {
    let (mut turn, _) = started(&["a", "b", "c"], vec![reads("x"), reads("y"), writes("y")]);
    turn.handle(TurnInput::Cleared(CallId::new("a")));
    assert_eq!(words(&turn.handle(TurnInput::Interrupted)), "cancel");
    assert_eq!(
        words(&turn.handle(TurnInput::Cleared(CallId::new("b")))),
        "",
        "a late clearance starts nothing"
    );
    let stopped = CallResult::text(&call("a"), CallOutcome::Interrupted, "partial output");
    assert_eq!(
        words(&turn.handle(TurnInput::Ended(stopped))),
        "save:results(a=Interrupted,b=Interrupted,c=Interrupted) end:Interrupted"
    );
    assert_eq!(words(&turn.handle(TurnInput::Interrupted)), "", "idle: nothing to stop");
}

#[test]
fn text_that_was_shown_is_kept_when_the_stream_is_stopped_or_breaks() {
    let mut turn = Turn::new(TurnLimits { rounds: 0, repeats: 5 });
    turn.handle(TurnInput::Said(vec![Part::text("hi")]));
    turn.handle(TurnInput::Streamed(StreamEvent::Thinking("hmm".into())));
    turn.handle(TurnInput::Streamed(StreamEvent::Text("half an ".into())));
    turn.handle(TurnInput::Streamed(StreamEvent::Text("answer".into())));
    let effects = turn.handle(TurnInput::Interrupted);
    assert_eq!(words(&effects), "cancel save:assistant(Cut) end:Interrupted");
    let Some(TurnEffect::Save(Message::Assistant(kept))) = effects.get(1) else { panic!("kept") };
    assert_eq!(kept.blocks, [AssistantBlock::Text { text: "half an answer".into() }]);

    turn.handle(TurnInput::Said(vec![Part::text("hi")]));
    turn.handle(TurnInput::Streamed(StreamEvent::Text("half".into())));
    let partial = Box::new(answer(&["never"]));
    let broken = ProviderError::Broken { message: "reset".into(), partial };
    let effects = turn.handle(TurnInput::Failed(broken));
    assert_eq!(words(&effects), "save:assistant(Cut) repair(GoOn { message: \"reset\" }) request");
    let Some(TurnEffect::Save(Message::Assistant(kept))) = effects.first() else { panic!("kept") };
    assert_eq!(kept.calls().count(), 0, "a half-received answer runs no call");
    // The rest is requested twice, and then the person decides.
    for last in ["repair(GoOn { message: \"reset\" }) request", "end:failed"] {
        let broken = ProviderError::Broken { message: "reset".into(), partial: Box::default() };
        assert_eq!(words(&turn.handle(TurnInput::Failed(broken))), last);
    }
}

#[test]
fn repairs_are_not_made_for_ever() {
    let mut turn = Turn::new(TurnLimits { rounds: 0, repeats: 5 });
    turn.handle(TurnInput::Said(vec![Part::text("hi")]));
    let rejected = |blames| ProviderError::BadRequest { status: 400, message: "no".into(), blames };
    // The new pictures first, then all of them; then the complaint is about something else.
    for _ in 0..MAX_REPAIRS {
        assert_eq!(
            words(&turn.handle(TurnInput::Failed(rejected(RejectionCause::Image)))),
            "repair(Images) request"
        );
    }
    assert_eq!(words(&turn.handle(TurnInput::Failed(rejected(RejectionCause::Image)))), "end:failed");
    assert_eq!(words(&turn.handle(TurnInput::Retry)), "request");
    for at in 0..MAX_REPAIRS as usize {
        let effects = turn.handle(TurnInput::Failed(rejected(RejectionCause::Tool(at))));
        assert_eq!(words(&effects), format!("repair(Tool({at})) request"));
    }
    assert_eq!(words(&turn.handle(TurnInput::Failed(rejected(RejectionCause::Tool(9))))), "end:failed");
}

#[test]
fn the_same_failing_call_five_times_stops_and_asks() {
    let mut turn = Turn::new(TurnLimits { rounds: 0, repeats: 5 });
    turn.handle(TurnInput::Said(vec![Part::text("hi")]));
    let mut last = String::new();
    for _ in 0..5 {
        turn.handle(TurnInput::Answered { answer: answer(&["a"]), touches: vec![] });
        let failed = CallResult::text(&call("a"), CallOutcome::Failed, "no such file");
        last = words(&turn.handle(TurnInput::Ended(failed)));
        turn.handle(TurnInput::Heard(Vec::new()));
    }
    assert_eq!(last, "save:results(a=Failed) ask-loop:5");
    assert_eq!(words(&turn.handle(TurnInput::LoopAnswered(LoopAnswer::GoOn))), "listen");
}

#[test]
fn a_turn_has_a_bound_on_its_requests() {
    let mut turn = Turn::new(TurnLimits { rounds: 1, repeats: 5 });
    turn.handle(TurnInput::Said(vec![Part::text("hi")]));
    turn.handle(TurnInput::Answered { answer: answer(&["a"]), touches: vec![] });
    assert_eq!(words(&turn.handle(TurnInput::Ended(done("a")))), "save:results(a=Done) end:TooManyRounds(1)");
}

#[test]
fn what_is_said_meanwhile_is_saved_after_the_results_and_before_the_next_request() {
    let (mut turn, _) = started(&["a", "b"], vec![reads("x"), reads("y")]);
    let said = || TurnInput::Heard(vec![Part::text("use tabs")]);
    assert_eq!(words(&turn.handle(said())), "", "nobody asked yet");
    assert_eq!(words(&turn.handle(TurnInput::Ended(done("a")))), "");
    assert_eq!(words(&turn.handle(TurnInput::Ended(done("b")))), "save:results(a=Done,b=Done) listen");
    assert_eq!(words(&turn.handle(said())), "save:user request");
    assert_eq!(words(&turn.handle(said())), "", "once");
}

#[test]
fn an_interrupt_while_it_listens_ends_the_turn() {
    let (mut turn, _) = started(&["a"], vec![]);
    turn.handle(TurnInput::Ended(done("a")));
    assert_eq!(words(&turn.handle(TurnInput::Interrupted)), "cancel end:Interrupted");
    assert_eq!(words(&turn.handle(TurnInput::Heard(vec![Part::text("late")]))), "");
}

#[test]
fn calls_of_one_name_are_told_apart() {
    let (_, effects) = started(&["a", "a", ""], vec![]);
    assert_eq!(effects, "save:assistant(ToolUse) check:a check:a_2 check:_2");
}

fn any_input() -> impl Strategy<Value = TurnInput> {
    let id = prop::sample::select(vec!["a", "b", "c"]);
    prop_oneof![
        Just(TurnInput::Said(vec![Part::text("hi")])),
        Just(TurnInput::Retry),
        Just(TurnInput::Streamed(StreamEvent::Text("text\n".into()))),
        Just(TurnInput::Streamed(StreamEvent::Silent { since: Duration::from_secs(10) })),
        Just(TurnInput::Answered { answer: answer(&["a", "b"]), touches: vec![reads("x"), command()] }),
        Just(TurnInput::Answered { answer: answer(&[]), touches: vec![] }),
        Just(TurnInput::Answered { answer: AssistantMessage::default(), touches: vec![] }),
        Just(TurnInput::Failed(ProviderError::Timeout(Duration::from_secs(1)))),
        Just(TurnInput::Failed(ProviderError::TooLong { message: "x".into(), exceeded: None })),
        id.clone().prop_map(|id| TurnInput::Cleared(CallId::new(id))),
        id.prop_map(|id| TurnInput::Ended(done(id))),
        Just(TurnInput::LoopAnswered(LoopAnswer::Stop)),
        Just(TurnInput::LoopAnswered(LoopAnswer::GoOn)),
        Just(TurnInput::Heard(Vec::new())),
        Just(TurnInput::Heard(vec![Part::text("meanwhile")])),
        Just(TurnInput::Interrupted),
    ]
}

proptest! {
    /// The machine is defined for any input in any order, and the conversation that it saves is always valid for a
    /// provider.
    #[test]
    fn no_order_of_inputs_breaks_the_conversation(inputs in prop::collection::vec(any_input(), 0..60)) {
        let mut turn = Turn::new(TurnLimits { rounds: 0, repeats: 5 });
        let mut transcript = Transcript::default();
        for input in inputs {
            for effect in turn.handle(input) {
                match effect {
                    TurnEffect::Save(message) => transcript.push(message).unwrap(),
                    TurnEffect::Request => prop_assert!(transcript.open_calls().is_empty()),
                    TurnEffect::End(_) => prop_assert!(turn.is_idle()),
                    _ => {}
                }
            }
        }
    }
}
