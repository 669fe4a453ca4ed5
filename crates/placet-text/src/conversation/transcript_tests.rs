use super::super::{AssistantBlock, AssistantMessage, CallInput, CallOutcome, Part, ToolCall};
use super::*;

fn call(id: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: "read_file".into(), input: CallInput::parse("{}") }
}

fn asks(ids: &[&str]) -> Message {
    Message::Assistant(AssistantMessage {
        blocks: ids.iter().map(|id| AssistantBlock::Call(call(id))).collect(),
        ..AssistantMessage::default()
    })
}

fn answers(ids: &[&str]) -> Message {
    Message::Results {
        results: ids.iter().map(|id| CallResult::text(&call(id), CallOutcome::Done, "ok")).collect(),
    }
}

#[test]
fn a_call_left_unanswered_blocks_every_other_message() {
    let mut t = Transcript::default();
    t.push(Message::user("hi")).unwrap();
    t.push(asks(&["a", "b"])).unwrap();
    assert_eq!(t.push(Message::user("next")), Err(TranscriptError::Unanswered(CallId::new("a"))));
    assert_eq!(t.push(answers(&["a"])), Err(TranscriptError::Unanswered(CallId::new("b"))));
    assert_eq!(t.push(answers(&["a", "b", "c"])), Err(TranscriptError::Unasked(CallId::new("c"))));
    assert_eq!(t.push(answers(&["a", "a", "b"])), Err(TranscriptError::Unasked(CallId::new("b"))));
    t.push(answers(&["a", "b"])).unwrap();
    t.push(Message::user("next")).unwrap();
    assert_eq!(t.messages().len(), 4);
}

#[test]
fn results_without_a_question_are_refused() {
    let mut t = Transcript::default();
    assert_eq!(t.push(answers(&["a"])), Err(TranscriptError::Unasked(CallId::new("a"))));
    assert_eq!(t.push(asks(&["a", "a"])), Err(TranscriptError::Duplicate(CallId::new("a"))));
    assert_eq!(t.push(Message::User { parts: Vec::<Part>::new() }), Err(TranscriptError::Empty));
}

#[test]
fn what_a_crash_left_open_is_closed_as_interrupted() {
    let mut t = Transcript::default();
    t.push(asks(&["a", "b"])).unwrap();
    let Some(Message::Results { results }) = t.close_open_calls(CallInterruption::PlacetStopped) else {
        panic!("two calls were open")
    };
    assert_eq!(results.len(), 2);
    assert!(results.iter().all(|r| r.outcome == CallOutcome::Interrupted));
    assert_eq!(t.close_open_calls(CallInterruption::PlacetStopped), None);
    t.push(Message::user("next")).unwrap();
}
