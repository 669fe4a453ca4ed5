use super::*;
use placet_text::conversation::{AssistantBlock, CallId, CallInput, CallOutcome, CallResult, ToolCall};
use proptest::prelude::*;

fn user(size: usize) -> Vec<Message> {
    vec![Message::User { parts: vec![Part::text("x".repeat(size))] }]
}

fn answer(size: usize) -> Vec<Message> {
    let blocks = vec![AssistantBlock::Text { text: "x".repeat(size) }];
    vec![Message::Assistant(AssistantMessage { blocks, ..AssistantMessage::default() })]
}

fn round(size: usize) -> Vec<Message> {
    let call = ToolCall { id: CallId::new("c"), name: "t".into(), input: CallInput::parse("{}") };
    let result = CallResult::text(&call, CallOutcome::Done, "x".repeat(size));
    vec![
        Message::Assistant(AssistantMessage {
            blocks: vec![AssistantBlock::Call(call)],
            ..AssistantMessage::default()
        }),
        Message::Results { results: vec![result] },
    ]
}

fn conversation() -> impl Strategy<Value = Vec<Message>> {
    let piece = (0..3u8, 1..4000usize).prop_map(|(kind, size)| match kind {
        0 => [user(size), answer(size)].concat(),
        1 => round(size),
        _ => answer(size),
    });
    prop::collection::vec(piece, 1..20).prop_map(|pieces| [user(10), pieces.concat()].concat())
}

proptest! {
    #[test]
    fn no_cut_parts_a_call_from_its_result(
        messages in conversation(), kept in 0.0..5000.0f64, room in 50.0..3000.0f64, asked: bool,
    ) {
        let cause = if asked { CompactCause::Person } else { CompactCause::Window };
        let is_result = |at: usize| matches!(messages.get(at), Some(Message::Results { .. }));
        if let Some(upto) = cut_at(&messages, kept, cause) {
            prop_assert!(upto >= 2 && upto <= messages.len() && !is_result(upto));
            let ends = pieces(&messages, upto, room);
            prop_assert_eq!(ends.last(), Some(&upto));
            prop_assert!(ends.windows(2).all(|w| w[0] < w[1]) && ends.len() <= MOST_PIECES * 2 + 1);
            prop_assert!(ends.iter().all(|end| !is_result(*end)));
            let sent = ConversationSummary { upto, notes: vec![Note::Summary { text: "s".into() }] }.over(&messages);
            let begins_with_person = matches!(sent.first(), Some(Message::User { .. }));
            prop_assert!(begins_with_person);
            let mut transcript = placet_text::conversation::Transcript::default();
            for message in sent {
                prop_assert!(transcript.push(message).is_ok());
            }
        }
    }
}

#[test]
fn what_was_asked_for_stays_in_the_persons_words_with_what_was_added() {
    let messages = [
        user(1),
        answer(1),
        vec![Message::user("mend it")],
        round(1),
        vec![Message::user("with tabs")],
        round(1),
    ]
    .concat();
    let sent = ConversationSummary { upto: 6, notes: vec![Note::GoesOn] }.over(&messages);
    let Some(Message::User { parts }) = sent.first() else { panic!() };
    assert_eq!(parts, &[Part::Note(Note::GoesOn), Part::text("mend it"), Part::text("with tabs")]);
    let sent = ConversationSummary { upto: 2, notes: vec![Note::GoesOn] }.over(&messages);
    let Some(Message::User { parts }) = sent.first() else { panic!() };
    assert_eq!(parts, &[Part::Note(Note::GoesOn), Part::text("mend it")]);
}
