use super::*;
use placet_text::conversation::{CallInput, CallOutcome, ToolCall};
use serde_json::json;

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall { id: CallId::new(id), name: name.into(), input: CallInput::parse("{\"a\":1}") }
}

fn answer(stop: StopReason, blocks: Vec<AssistantBlock>) -> Message {
    Message::Assistant(AssistantMessage { blocks, stop, model: "m".into(), ..AssistantMessage::default() })
}

fn text(text: &str) -> AssistantBlock {
    AssistantBlock::Text { text: text.into() }
}

fn results(calls: &[&ToolCall]) -> Message {
    Message::Results { results: calls.iter().map(|c| CallResult::text(c, CallOutcome::Done, "ok")).collect() }
}

fn said(id: &str, name: &'static str) -> WireAssistantPart<'static> {
    WireAssistantPart::Call { id: id.into(), name: Cow::Borrowed(name), input: json!({"a": 1}) }
}

fn texts<'t>(parts: &'t [WireContent<'_>]) -> Vec<&'t str> {
    let text = |part: &'t WireContent<'_>| match part {
        WireContent::Text(text) => Some(text.as_ref()),
        WireContent::Image(_) => None,
    };
    parts.iter().filter_map(text).collect()
}

fn ids(turn: &WireTurn) -> Vec<String> {
    match turn {
        WireTurn::User { results, .. } => results.iter().map(|r| r.id.clone()).collect(),
        WireTurn::Assistant(said) => said
            .iter()
            .filter_map(|s| match s {
                WireAssistantPart::Call { id, .. } => Some(id.clone()),
                _ => None,
            })
            .collect(),
    }
}

#[test]
fn a_cut_answer_loses_its_calls_and_unproven_thoughts_and_what_follows_merges() {
    let thought = AssistantBlock::Thinking(ThinkingBlock { text: "hm".into(), ..ThinkingBlock::default() });
    let messages = [
        Message::user("one"),
        answer(StopReason::Cut, vec![thought, AssistantBlock::Call(call("a", "x"))]),
        Message::user("two"),
    ];
    let turns = turns(&messages, ReasoningPolicy::Proven { wire: "", model: "m" });
    let [WireTurn::User { results, parts }] = &turns[..] else { panic!("{turns:?}") };
    assert!(results.is_empty());
    assert_eq!(texts(parts), ["one", "two"]);
}

#[test]
fn a_call_without_a_result_gets_one() {
    let messages = [
        Message::user("one"),
        answer(
            StopReason::ToolUse,
            vec![AssistantBlock::Call(call("a", "x")), AssistantBlock::Call(call("b", "x"))],
        ),
        Message::user("two"),
        answer(StopReason::ToolUse, vec![AssistantBlock::Call(call("c", "x"))]),
    ];
    let turns = turns(&messages, ReasoningPolicy::Drop);
    assert_eq!(turns.len(), 5);
    assert_eq!(ids(&turns[2]), ["a", "b"]);
    assert_eq!(ids(&turns[4]), ["c"]);
}

#[test]
fn ids_are_unique_in_the_whole_history_and_names_are_well_formed() {
    let (a, b) = (call("c 1", "no such:tool"), call("", ""));
    let messages = [
        Message::user("one"),
        answer(StopReason::ToolUse, vec![AssistantBlock::Call(a.clone()), AssistantBlock::Call(b.clone())]),
        results(&[&a, &b]),
        answer(StopReason::ToolUse, vec![AssistantBlock::Call(a.clone())]),
        results(&[&a]),
    ];
    let turns = turns(&messages, ReasoningPolicy::Drop);
    let first = ids(&turns[1]);
    assert!(first.iter().all(|id| id.chars().all(is_plain)), "{first:?}");
    assert_eq!(ids(&turns[2]), first);
    assert_eq!(ids(&turns[3]), [format!("{}-2", first[0])]);
    assert_eq!(ids(&turns[4]), ids(&turns[3]));
    let WireTurn::Assistant(blocks) = &turns[1] else { panic!() };
    assert!(matches!(&blocks[0], WireAssistantPart::Call { name, .. } if name == "no_such_tool"));
    assert!(matches!(&blocks[1], WireAssistantPart::Call { name, .. } if name == "unknown"));
}

#[test]
fn thoughts_go_back_only_to_their_own_model_and_never_at_the_end() {
    let proven = ThinkingBlock { text: "hm".into(), signature: Some("s".into()), ..ThinkingBlock::default() };
    let a = call("a", "x");
    let messages = [
        Message::user("one"),
        answer(
            StopReason::ToolUse,
            vec![AssistantBlock::Thinking(proven.clone()), AssistantBlock::Call(a.clone())],
        ),
        results(&[&a]),
        answer(StopReason::EndTurn, vec![text("done"), AssistantBlock::Thinking(proven.clone())]),
        Message::user("more"),
    ];
    let same = turns(&messages, ReasoningPolicy::Proven { wire: "", model: "m" });
    assert_eq!(same[1], WireTurn::Assistant(vec![WireAssistantPart::Thinking(&proven), said("a", "x")]));
    assert_eq!(same[3], WireTurn::Assistant(vec![WireAssistantPart::Text("done")]));
    for reasoning in [
        ReasoningPolicy::Proven { wire: "", model: "n" },
        ReasoningPolicy::Proven { wire: "gemini", model: "m" },
        ReasoningPolicy::ProvenToTheEnd { wire: "gemini", model: "m" },
        ReasoningPolicy::Words { model: "n" },
        ReasoningPolicy::Drop,
    ] {
        assert_eq!(
            turns(&messages, reasoning)[1],
            WireTurn::Assistant(vec![said("a", "x")]),
            "{reasoning:?}"
        );
    }
    let to_the_end = turns(&messages, ReasoningPolicy::ProvenToTheEnd { wire: "", model: "m" });
    assert_eq!(
        to_the_end[3],
        WireTurn::Assistant(vec![WireAssistantPart::Text("done"), WireAssistantPart::Thinking(&proven)])
    );
    let words = turns(&messages, ReasoningPolicy::Words { model: "m" });
    assert_eq!(words[1], same[1]);
}

#[test]
fn a_history_that_begins_with_an_answer_gets_a_beginning_and_blank_text_is_left_out() {
    let messages = [answer(StopReason::EndTurn, vec![text(" \n"), text("hi")]), Message::user(" ")];
    let turns = turns(&messages, ReasoningPolicy::Drop);
    assert_eq!(turns.len(), 3, "and ends with the person");
    assert_eq!(turns[1], WireTurn::Assistant(vec![WireAssistantPart::Text("hi")]));
}

#[test]
fn a_history_that_ends_with_a_broken_answer_asks_for_the_rest_of_it() {
    let messages = [Message::user("one"), answer(StopReason::Cut, vec![text("Half an")])];
    let asked = turns(&messages, ReasoningPolicy::Drop);
    let [_, WireTurn::Assistant(said), WireTurn::User { parts, .. }] = &asked[..] else {
        panic!("{asked:?}")
    };
    assert_eq!(said, &[WireAssistantPart::Text("Half an")]);
    assert_eq!(texts(parts), [GO_ON]);
    let rest = [messages[0].clone(), messages[1].clone(), answer(StopReason::EndTurn, vec![text(" answer")])];
    let rest = [rest.as_slice(), &[Message::user("two")]].concat();
    let again = turns(&rest, ReasoningPolicy::Drop);
    assert_eq!(
        again[1],
        WireTurn::Assistant(vec![WireAssistantPart::Text("Half an"), WireAssistantPart::Text(" answer")])
    );
}
