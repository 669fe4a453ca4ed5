//! Arguments of megabytes: every argument of every tool that is no content is refused, with a short answer.

use super::tool_set_errors::sets;
use crate::support::tool_bench::Bench;
use placet::conversation::CallOutcome;
use serde_json::{Map, Value, json};

/// True for what is written to a file, or the place where it is written.
fn is_content(name: &str) -> bool {
    let is_one =
        ["content", "patch", "file_text", "data", "input", "sQuestion", "aOperations"].contains(&name);
    is_one
        || name.starts_with("new_")
        || name.starts_with("old_")
        || name.starts_with("insert_") && name != "insert_line"
}

#[test]
fn no_argument_but_a_content_has_megabytes() {
    let long = "x".repeat((1 << 20) + 1);
    let (mut refused, mut contents) = (0, 0);
    for (dialect, settings) in sets() {
        let bench = Bench::new().speaking(dialect, &settings);
        for spec in bench.registry.specs() {
            let named = spec.schema["properties"].as_object().cloned().unwrap_or_default();
            for name in named.keys() {
                let values = [json!(long), json!([long]), json!([{"path": long}]), json!({"a": {"b": long}})];
                for value in values {
                    let got = bench
                        .call(&spec.name, Value::Object(Map::from_iter([(name.clone(), value.clone())])));
                    let text = got.body();
                    let is_batch = name == "aOperations" && value.is_array();
                    if is_content(name) && value.is_string() || is_batch {
                        assert!(!text.contains("an argument may have"), "{dialect} {} {name}", spec.name);
                        contents += 1;
                        continue;
                    }
                    assert_eq!(got.0.outcome, CallOutcome::Failed, "{dialect} {} {name}", spec.name);
                    assert!(
                        text.contains("has 1048577 bytes; an argument may have 1048576"),
                        "{dialect} {name}: {text:.300}"
                    );
                    assert!(text.len() < 500, "{}", text.len());
                    refused += 1;
                }
            }
            let got = bench.call(&spec.name, Value::Object(Map::from_iter([(long.clone(), json!(1))])));
            assert!(got.body().len() < 500 && got.body().contains("1048577"), "{dialect} {}", spec.name);
        }
        let got = bench.call(&long, json!({}));
        assert!(got.body().contains("unknown tool `xxx") && got.body().len() < 2_000, "{:.300}", got.body());
    }
    assert!(refused > 400 && contents > 30, "{refused} {contents}");
    let bench = Bench::new();
    let written = bench.call("write_file", json!({"path": "a.txt", "content": format!("{long}\n")}));
    assert_eq!(written.0.outcome, CallOutcome::Done, "{:.300}", written.body());
}
