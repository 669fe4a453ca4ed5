//! Requests as small models send them, for files of 10 to 100 kB: whatever a request lacks, its answer lets the next one
//! succeed.

use crate::support::tool_bench::Bench;
use placet::tools::ToolLimits;
use serde_json::{Value, json};

/// The tool, what it is sent, and a part of its answer.
type Step = (&'static str, Value, &'static str);

fn source(size: usize) -> String {
    let row =
        |n: usize| format!("    let value_{n} = compute(value_{}, \"row {n}\");\n", n.saturating_sub(1));
    (0..size / 46).map(row).collect()
}

/// Each row ends in a change or in what was looked for.
fn table() -> Vec<(&'static str, Vec<Step>)> {
    let edit = |old: &str, new: &str| json!({"path": "f.rs", "old_string": old, "new_string": new});
    let far = || edit("\"row 150\"", "\"changed\"");
    let read = || ("read_file", json!({"path": "f.rs", "limit": 20}), "row 5");
    let missing = "The lines that are missing";
    vec![
        (
            "an edit behind the page that was read",
            vec![read(), ("edit_file", far(), missing), ("edit_file", far(), "f.rs")],
        ),
        (
            "an edit of a file that only a command showed",
            vec![
                ("run_command", json!({"command": "head -n 3 f.rs"}), "row 1"),
                ("edit_file", far(), "has not been read"),
                read(),
                ("edit_file", far(), missing),
                ("edit_file", far(), "f.rs"),
            ],
        ),
        (
            "the number of the line was copied too",
            vec![
                ("read_file", json!({"path": "f.rs"}), "row 5"),
                (
                    "edit_file",
                    edit("     6│    let value_5 = compute(value_4, \"row 5\");", "x"),
                    "the most similar",
                ),
                ("edit_file", edit("    let value_5 = compute(value_4, \"row 5\");", "x // changed"), "f.rs"),
            ],
        ),
        (
            "other blanks than the file has, far from what was read",
            vec![
                read(),
                (
                    "edit_file",
                    edit("\tlet value_150 = compute(value_149, \"row 150\");", "x"),
                    "differs only in blanks",
                ),
                (
                    "edit_file",
                    edit("    let value_150 = compute(value_149, \"row 150\");", "x // changed"),
                    "f.rs",
                ),
            ],
        ),
        (
            "a text that is there many times",
            vec![
                ("read_file", json!({"path": "f.rs", "limit": 20}), "row 5"),
                ("edit_file", edit("compute(", "changed("), "occurs"),
                ("edit_file", edit("compute(value_4,", "changed(value_4,"), "f.rs"),
            ],
        ),
        (
            "numbers as text",
            vec![
                ("read_file", json!({"path": "f.rs", "offset": "140", "limit": "20"}), "row 150"),
                ("edit_file", far(), "f.rs"),
            ],
        ),
        (
            "a parameter that the tool does not have",
            vec![
                ("read_file", json!({"path": "f.rs", "encoding": "utf-8", "limit": 200}), "row 150"),
                ("edit_file", far(), "f.rs"),
            ],
        ),
        (
            "the path of the project in front",
            vec![
                ("read_file", json!({"path": "./f.rs", "offset": 140, "limit": 20}), "row 150"),
                ("edit_file", far(), "f.rs"),
            ],
        ),
        (
            "lines that match, and then an edit of one of them",
            vec![
                ("read_file", json!({"path": "f.rs", "pattern": "row 150"}), "row 150"),
                ("edit_file", far(), "f.rs"),
            ],
        ),
        (
            "the whole file from memory, and then an edit",
            vec![
                ("write_file", json!({"path": "f.rs", "content": "x\n"}), "has not been read"),
                ("read_file", json!({"path": "f.rs", "limit": 20}), "row 5"),
                ("write_file", json!({"path": "f.rs", "content": "x\n"}), "would lose"),
                ("edit_file", edit("\"row 5\"", "\"changed\""), "f.rs"),
            ],
        ),
    ]
}

#[test]
fn the_answer_to_each_request_lets_the_next_one_succeed() {
    for size in [10_000, 40_000, 100_000] {
        for (name, steps) in table() {
            let bench = Bench::with_limits(ToolLimits::default());
            bench.write("f.rs", source(size));
            let last = steps.len() - 1;
            for (at, (tool, input, part)) in steps.into_iter().enumerate() {
                let got = bench.call(tool, input.clone());
                let body = if at == last { got.done() } else { got.body() };
                assert!(body.contains(part), "{size}, {name}: {tool} {input}: {body}");
            }
            assert!(bench.text("f.rs").contains("changed"), "{size}, {name}");
        }
    }
}
