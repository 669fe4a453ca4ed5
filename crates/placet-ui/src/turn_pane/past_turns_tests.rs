use super::*;
use crate::turn_pane::TurnDisplay;
use placet_text::conversation::{
    AssistantBlock, AssistantMessage, CallFact, CallId, CallInput, CallResult, StopReason, ToolCall,
};
use serde_json::json;

fn screen(columns: usize, rows: usize) -> PastTurnsScreen {
    let theme = Theme::plain();
    let facts = TurnPaneStatus {
        display: TurnDisplay { fold: 6, ..TurnDisplay::default() },
        ..TurnPaneStatus::default()
    };
    PastTurnsScreen { theme, facts, columns, rows, is_linear: false }
}

fn answer(blocks: Vec<AssistantBlock>) -> Message {
    Message::Assistant(AssistantMessage { blocks, stop: StopReason::EndTurn, ..AssistantMessage::default() })
}

fn text(text: &str) -> AssistantBlock {
    AssistantBlock::Text { text: text.into() }
}

fn call(id: &str, command: &str) -> ToolCall {
    let input = CallInput::Object(json!({ "command": command }));
    ToolCall { id: CallId::new(id), name: "run_command".into(), input }
}

fn drawn(shown: &PastTurns) -> String {
    shown.lines.iter().map(|line| line.to_string().trim_end().to_string() + "\n").collect()
}

fn with_calls() -> Vec<Message> {
    let (good, bad) = (call("1", "make"), call("2", "make test"));
    let mut done = CallResult::text(&good, CallOutcome::Done, "ok");
    done.shown = "run make: exit code 0 · pending: +2 -1".into();
    let (printed, below) = ("1 passed\n1 failed\n", "[exit code 2, 0.1 s, in .]");
    let facts = vec![CallFact::Exit { code: Some(2) }, CallFact::Printed { bytes: printed.len() }];
    let failed = CallResult::text(&bad, CallOutcome::Done, format!("{printed}{below}")).with(facts);
    vec![
        Message::user("build it\nand test it"),
        answer(vec![text("I **build** it."), AssistantBlock::Call(good), AssistantBlock::Call(bad)]),
        Message::Results { results: vec![done, failed] },
        answer(vec![text("The tests fail.")]),
        Message::user("use the other target"),
        answer(vec![text("- one list item that is longer than the narrow screen is wide\n- two")]),
    ]
}

#[test]
fn a_turn_looks_as_it_did_with_its_closing_line() {
    let messages = with_calls();
    let closing =
        [ClosingLine { messages: 16, line: "applied changes to 2 files; /undo reverts them".into() }];
    let past = PastConversation { messages: &messages, first: 10, closing: &closing };
    let shown = past_turns(&past, &screen(40, 24));
    insta::assert_snapshot!(drawn(&shown));
    assert_eq!(shown.said, 2);
    let linear = PastTurnsScreen { is_linear: true, ..screen(40, 24) };
    insta::assert_snapshot!(drawn(&past_turns(&past, &linear)));
}

#[test]
fn as_many_turns_are_shown_as_fit_two_screens() {
    let turn = |n: usize| [Message::user(format!("question {n}")), answer(vec![text("an answer\n\nof two")])];
    let messages: Vec<Message> = (0..5_000).flat_map(turn).collect();
    let past = PastConversation { messages: &messages, first: 0, closing: &[] };
    let shown = past_turns(&past, &screen(80, 12));
    assert!(rows(&shown.lines, 80) <= 24, "{}", drawn(&shown));
    assert_eq!(shown.said, 4);
    assert!(drawn(&shown).contains("question 4999") && !drawn(&shown).contains("question 4995"));
    assert_eq!(past_turns(&past, &screen(80, 500)).said, TURNS);
}

#[test]
fn of_a_long_turn_the_end_is_shown_below_the_person_s_words() {
    let mut messages = vec![Message::user((1..40).map(|n| format!("line {n}\n")).collect::<String>())];
    for n in 0..300 {
        let call = call("1", &format!("step {n}"));
        let result = CallResult::text(&call, CallOutcome::Done, "ok");
        messages
            .extend([answer(vec![AssistantBlock::Call(call)]), Message::Results { results: vec![result] }]);
    }
    messages.push(answer(vec![text(&format!("```\n{}```\n", "code\n".repeat(20_000)))]));
    let past = PastConversation { messages: &messages, first: 0, closing: &[] };
    let shown = past_turns(&past, &screen(80, 10));
    let drawn = drawn(&shown);
    assert!(rows(&shown.lines, 80) < 40, "{drawn}");
    assert!(drawn.contains("line 12\n") && !drawn.contains("line 13\n"), "{drawn}");
    assert!(drawn.contains("… 27 more lines") && drawn.contains("… 300 earlier entries"), "{drawn}");
}

#[test]
fn what_is_stored_is_hostile() {
    let bad = call("1", "x");
    let mut result = CallResult::text(&bad, CallOutcome::Done, "ok");
    result.shown = "run \u{1b}[2J\u{202e}x".into();
    let messages = [
        Message::User {
            parts: vec![
                Part::Note(Note::AttachedFile { path: "\u{1b}]0;p\u{7}".into() }),
                Part::text("\u{1b}[31mred"),
            ],
        },
        answer(vec![text("a\u{1b}[2Jb"), AssistantBlock::Call(bad)]),
        Message::Results { results: vec![result] },
    ];
    let closing = [ClosingLine { messages: 3, line: "\u{1b}[Happlied\u{9b}2J".into() }];
    let past = PastConversation { messages: &messages, first: 0, closing: &closing };
    for is_linear in [false, true] {
        let shown = past_turns(&past, &PastTurnsScreen { is_linear, ..screen(80, 24) });
        let drawn = drawn(&shown);
        assert!(!drawn.contains(|c: char| c != '\n' && placet_text::text::visible::acts(c)), "{drawn:?}");
    }
}
