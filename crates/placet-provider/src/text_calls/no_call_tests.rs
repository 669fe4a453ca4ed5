//! What looks like a call and is none, what was meant as one and cannot run, and what is repaired.

use super::reading::{AnswerEnd, TextReading, read};
use super::tests::{calls_of, forms, offered, reading};
use super::*;
use placet_text::conversation::{CallInput, TextCallFault};
use serde_json::json;

#[test]
fn json_between_markers_is_repaired_where_one_repair_is_possible() {
    for written in [
        "{\"name\": \"write_file\", \"arguments\": {\"path\": \"a\", \"content\": \"one\ntwo\n\"}}",
        "{\"name\": \"write_file\", \"arguments\": {\"path\": \"a\", \"content\": \"one\\ntwo\\n\",}}",
    ] {
        for text in
            [format!("<tool_call>\n{written}\n</tool_call>"), format!("I write it.\n<tool_call>{written}")]
        {
            let calls = calls_of(&text);
            let input = CallInput::Object(json!({"path": "a", "content": "one\ntwo\n"}));
            assert_eq!(calls, [("write_file".to_string(), input)], "{text}");
        }
    }
}

#[test]
fn what_was_meant_as_a_call_and_cannot_run_is_no_answer() {
    for text in [
        "<tool_call>{'name': 'read_file', 'arguments': {'path': 'a'}}</tool_call>",
        "<tool_call>{'name': 'read_file', 'arguments': {'path': 'a'",
        "{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}",
        "{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}}",
        "I read it.\n{'name': 'read_file', 'arguments': {'path': 'a'}}",
        "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"\n```",
        "<read_file>\n<path>a</path>\n</read_file>",
        "functools[{'name': 'read_file', 'arguments': {'path': 'a'}}]",
    ] {
        assert!(matches!(reading(text), TextReading::Fault(_)), "{:?}: {text}", reading(text));
        let asked = read(text, &offered("how does one call `read_file`?"), AnswerEnd::Whole);
        assert!(text.starts_with("<tool_call>") || asked == TextReading::Plain, "{asked:?}: {text}");
    }
}

/// Each form in each place in which nobody makes a call.
#[test]
fn a_call_that_is_quoted_or_repeated_is_no_call() {
    let arguments = json!({"path": "src/main.rs"});
    let quoted: [fn(&str) -> String; 13] = [
        |call| call.lines().map(|line| format!("> {line}\n")).collect(),
        |call| call.lines().map(|line| format!("    {line}\n")).collect(),
        |call| call.lines().map(|line| format!("\t{line}\n")).collect(),
        |call| format!("It says:\n<pre>\n{call}\n</pre>"),
        |call| format!("<!--\n{call}\n-->"),
        |call| format!("<!-- {call}"),
        |call| format!("It is <pre>{call}</pre>"),
        |call| format!("Yes. <THINK>\nI could write\n{call}"),
        |call| format!("| form | \n|---|\n| {call} |"),
        |call| format!("It is \u{ab}{call}\u{bb}"),
        |call| format!("It is \u{2018}{call}\u{2019}"),
        |call| format!("1. ```text\n{call}\n```\n"),
        |call| format!("~~~\n{call}\n"),
    ];
    for form in forms().iter().filter(|form| form.is_marked) {
        let call = (form.write)(&[("read_file", arguments.clone())]);
        for quote in quoted {
            let text = quote(&call);
            assert!(!matches!(reading(&text), TextReading::Calls { .. }), "{}: {text}", form.name);
        }
        let mut tools = offered("what does notes.md say?");
        tools.shown = vec![format!(
            "     1\tNotes:\n{}",
            call.lines().map(|line| format!("    12\u{2502}{line}\n")).collect::<String>()
        )];
        for text in [call.clone(), format!("It says:\n\n{call}")] {
            assert_eq!(read(&text, &tools, AnswerEnd::Whole), TextReading::Plain, "{}: {text}", form.name);
        }
        let other = (form.write)(&[("read_file", json!({"path": "lib.rs"}))]);
        assert!(matches!(read(&other, &tools, AnswerEnd::Whole), TextReading::Calls { .. }), "{other}");
    }
    let mut tools = offered("what does notes.md say?");
    let call = "{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}";
    tools.shown = vec![format!("1\t{call}")];
    for text in [call.to_string(), format!("```json\n{call}\n```")] {
        assert_eq!(read(&text, &tools, AnswerEnd::Whole), TextReading::Plain, "{text}");
    }
}

/// Ordinary JSON with a name is what somebody asked for.
#[test]
fn an_object_of_an_unknown_name_is_a_call_only_with_the_parameters_of_a_tool() {
    let deploy = "{\"name\": \"deploy_app\", \"type\": \"job\", \"parameters\": {\"replicas\": 3}}";
    assert_eq!(reading(deploy), TextReading::Plain);
    let shell = "{\"name\": \"execute_command\", \"arguments\": {\"command\": \"ls\"}}";
    assert!(matches!(reading(shell), TextReading::Fault(TextCallFault::UnknownTool { .. })));
}

/// The time is not measured: these took minutes when a part was read again for each line or mark.
#[test]
fn long_answers_are_read_in_one_pass() {
    let many = |text: &str, times: usize| text.repeat(times);
    for text in [
        many(" ", 200_000) + "x",
        many("\n", 100_000),
        many("x(a=1)\n", 20_000) + "end.",
        many("`<tool_call>` ", 10_000),
        many("\"<tool_call> ", 10_000),
        many("{\"id\": 1, \"name\": \"a\"}\n", 5_000) + "end.",
    ] {
        let mut gate = gate::TextGate::default();
        let names = [String::from("read_file")];
        let (mut shown, letters) =
            (String::new(), text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()]));
        letters.for_each(|letter| shown += &gate.push(letter, &names));
        shown += &gate.release();
        assert!(shown == text && !matches!(reading(&text), TextReading::Calls { .. }));
    }
}

#[test]
fn an_action_is_a_call() {
    let path = || CallInput::Object(json!({"path": "a"}));
    for text in [
        "Action: read_file\nAction Input: {\"path\": \"a\"}",
        "Thought: I must look.\nAction: read_file\nAction Input: {\"path\": \"a\"}\nObservation:",
    ] {
        assert_eq!(calls_of(text), [("read_file".to_string(), path())], "{text}");
    }
    for text in
        ["Action: read_file", "Action: read the file\nAction Input: none", "Action: look\n{\"path\": \"a\"}"]
    {
        assert_eq!(reading(text), TextReading::Plain, "{text}");
    }
}
