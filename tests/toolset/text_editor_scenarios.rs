//! The public scenarios of the text editor tool, as cases of our own. The guide has those that differ.

use super::dialect_scenarios::assert_scenarios;
use crate::support::tool_bench::Bench;
use placet::tools::ToolSet;
use serde_json::{Value, json};

/// A call of the text editor and what must come of it: its whole answer, or a part of the refusal.
struct Edit(Value, Result<&'static str, &'static str>);

/// A scenario of the text editor: a file `plum` before, calls, and the file after.
type Editing = (&'static str, Option<&'static str>, Vec<Edit>, Option<&'static str>);

fn editing() -> Vec<Editing> {
    let call = |command: &str, path: &str, rest: Value| {
        let mut input = json!({"command": command, "path": path});
        input.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
        input
    };
    let plum = |command: &str, rest: Value| call(command, "plum", rest);
    let replaced = Ok("Successfully replaced text at exactly one location.");
    let four = Some("1\n2\n3\n4");
    vec![
        (
            "a file is viewed",
            Some("red\n"),
            vec![Edit(plum("view", json!({})), Ok("     1\tred\n"))],
            Some("red\n"),
        ),
        (
            "a range of lines is viewed",
            four,
            vec![
                Edit(plum("view", json!({"view_range": [2, 3]})), Ok("     2\t2\n     3\t3\n")),
                Edit(plum("view", json!({"view_range": [3, -1]})), Ok("     3\t3\n     4\t4\n")),
            ],
            four,
        ),
        (
            "a range beyond the last line is viewed",
            four,
            vec![Edit(plum("view", json!({"view_range": [4, 99]})), Ok("     4\t4\n"))],
            four,
        ),
        (
            "a range that ends before it begins",
            four,
            vec![
                Edit(plum("view", json!({"view_range": [3, 2]})), Err("Error: Invalid view_range [3, 2]")),
                Edit(plum("view", json!({"view_range": [0, 2]})), Err("Error: Invalid view_range [0, 2]")),
                Edit(plum("view", json!({"view_range": [1]})), Err("`view_range` must be two numbers")),
            ],
            four,
        ),
        (
            "a range of a directory",
            Some("red\n"),
            vec![Edit(call("view", ".", json!({"view_range": [1, 2]})), Err("`view_range` is for files"))],
            Some("red\n"),
        ),
        (
            "a missing file is viewed or changed",
            None,
            vec![
                Edit(plum("view", json!({})), Err("Error: File not found")),
                Edit(
                    plum("str_replace", json!({"old_str": "a", "new_str": "b"})),
                    Err("Error: File not found"),
                ),
                Edit(
                    plum("insert", json!({"insert_line": 0, "insert_text": "b"})),
                    Err("Error: File not found"),
                ),
            ],
            None,
        ),
        (
            "a file is created",
            None,
            vec![Edit(plum("create", json!({"file_text": "red"})), Ok("File created successfully at: plum"))],
            Some("red"),
        ),
        (
            "a file is created without its text",
            None,
            vec![Edit(plum("create", json!({})), Err("`file_text` is missing"))],
            None,
        ),
        (
            "an existing file is created",
            Some("red\n"),
            vec![Edit(
                plum("create", json!({"file_text": "blue"})),
                Err("view it first, then create it again"),
            )],
            Some("red\n"),
        ),
        (
            "a file that was viewed is created again",
            Some("red\n"),
            vec![
                Edit(plum("view", json!({})), Ok("     1\tred\n")),
                Edit(
                    plum("create", json!({"file_text": "blue\n"})),
                    Ok("File created successfully at: plum"),
                ),
            ],
            Some("blue\n"),
        ),
        (
            "a text that is there once is replaced",
            Some("red and blue"),
            vec![Edit(plum("str_replace", json!({"old_str": "red", "new_str": "green"})), replaced)],
            Some("green and blue"),
        ),
        (
            "a text is removed",
            Some("red and blue"),
            vec![Edit(plum("str_replace", json!({"old_str": " and blue"})), replaced)],
            Some("red"),
        ),
        (
            "a text that is not there",
            Some("red\n"),
            vec![Edit(
                plum("str_replace", json!({"old_str": "blue", "new_str": "x"})),
                Err("Error: No match found for replacement."),
            )],
            Some("red\n"),
        ),
        (
            "a text that is there several times",
            Some("red red red\n"),
            vec![Edit(
                plum("str_replace", json!({"old_str": "red", "new_str": "x"})),
                Err("Error: Found 3 matches for replacement text."),
            )],
            Some("red red red\n"),
        ),
        (
            "a directory is changed",
            Some("red\n"),
            vec![Edit(
                call("str_replace", ".", json!({"old_str": "a", "new_str": "b"})),
                Err("is a directory"),
            )],
            Some("red\n"),
        ),
        (
            "lines are inserted in the middle",
            Some("1\n2\n3"),
            vec![Edit(
                plum("insert", json!({"insert_line": 2, "insert_text": "new"})),
                Ok("Successfully inserted 1 line after line 2."),
            )],
            Some("1\n2\nnew\n3"),
        ),
        (
            "lines are inserted at the beginning",
            Some("1\n2"),
            vec![Edit(
                plum("insert", json!({"insert_line": 0, "insert_text": "new\nnewer\n"})),
                Ok("Successfully inserted 2 lines after line 0."),
            )],
            Some("new\nnewer\n1\n2"),
        ),
        (
            "lines are inserted at the end",
            Some("1\n2"),
            vec![Edit(
                plum("insert", json!({"insert_line": 2, "insert_text": "new"})),
                Ok("Successfully inserted 1 line after line 2."),
            )],
            Some("1\n2\nnew"),
        ),
        (
            "lines are inserted beyond the end",
            Some("1\n2"),
            vec![
                Edit(
                    plum("insert", json!({"insert_line": 5, "insert_text": "new"})),
                    Err("Error: Invalid insert_line 5"),
                ),
                Edit(
                    plum("insert", json!({"insert_line": -1, "insert_text": "new"})),
                    Err("Error: Invalid insert_line -1"),
                ),
            ],
            Some("1\n2"),
        ),
        (
            "an edit is undone",
            None,
            vec![
                Edit(
                    plum("create", json!({"file_text": "x = 1\n"})),
                    Ok("File created successfully at: plum"),
                ),
                Edit(plum("str_replace", json!({"old_str": "x = 1", "new_str": "x = 2"})), replaced),
                Edit(plum("undo_edit", json!({})), Ok("Last edit to plum undone successfully.")),
            ],
            Some("x = 1\n"),
        ),
        (
            "nothing is there to undo",
            Some("red\n"),
            vec![Edit(plum("undo_edit", json!({})), Err("Error: No edit history found for plum"))],
            Some("red\n"),
        ),
    ]
}

#[test]
fn the_scenarios_of_the_text_editor_come_out_as_the_guide_says() {
    let shell = ["a command fails", "the shell is restarted", "a variable of an earlier command"];
    let names: Vec<&str> = editing().iter().map(|scenario| scenario.0).chain(shell).collect();
    assert_scenarios("guide/dialect-text-editor.md", &names);
    for (name, before, calls, after) in editing() {
        let bench = Bench::of(ToolSet::TextEditor);
        before.iter().for_each(|text| drop(bench.write("plum", text)));
        for Edit(input, expected) in calls {
            let got = bench.call("str_replace_based_edit_tool", input);
            match expected {
                Ok(words) => assert_eq!(got.done(), words, "{name}"),
                Err(part) => {
                    let body = got.failed();
                    assert!(body.contains(part), "{name}: {body}");
                }
            }
        }
        let there = std::fs::read_to_string(bench.path("plum")).ok();
        assert_eq!(there.as_deref(), after, "{name}");
    }
}

#[test]
fn the_shell_next_to_the_editor_keeps_nothing_between_commands() {
    let bench = Bench::of(ToolSet::TextEditor);
    let bash = |input: Value| bench.call("bash", input);
    assert_eq!(bash(json!({"command": "echo red"})).done(), "red\n");
    assert_eq!(bash(json!({"command": "echo red >&2; exit 3"})).done(), "red\n[exit code 3]");
    assert!(bash(json!({"restart": true})).failed().contains("there is nothing to restart"));
    assert!(bash(json!({})).failed().contains("`command` is missing"));
    bash(json!({"command": "COLOUR=red"})).done();
    assert_eq!(bash(json!({"command": "echo \"[$COLOUR]\""})).done(), "[]\n");
}
