//! Every failure of every tool set, walked: its words name no tool and no parameter of another tool set, and no directory
//! behind virtual paths.

use crate::support::tool_bench::Bench;
use placet::conversation::CallOutcome;
use placet::tools::{DeepagentsVersion, ToolRegistry, ToolSet, ToolSetSettings};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The tool sets with the settings that change their words.
pub(super) fn sets() -> Vec<(ToolSet, ToolSetSettings)> {
    let usual = || ToolSetSettings::default();
    let mut sets: Vec<_> = ToolSet::ALL.into_iter().map(|dialect| (dialect, usual())).collect();
    sets.push((ToolSet::Deepagents, ToolSetSettings { virtual_paths: false, ..usual() }));
    let newer = ToolSetSettings { deepagents: DeepagentsVersion::V07, overwrite: true, ..usual() };
    sets.push((ToolSet::Deepagents, newer));
    sets
}

/// A workspace with one of everything that a call can stumble over.
pub(super) fn ground(bench: &Bench) {
    bench.write("a.txt", "one\ntwo\ntwo\n");
    bench.write("dir/b.txt", "b\n");
    bench.write("data", b"\0\x01\x02\xff".as_slice());
    bench.write("big.png", b"\x89PNG\r\n\x1a\nnot a picture at all".as_slice());
    bench.write("utf32", b"\xff\xfe\0\0a\0\0\0".as_slice());
    bench.write("locked/x.txt", "x\n");
    let link = |to: &str, at: &str| std::os::unix::fs::symlink(to, bench.path(at)).unwrap();
    link("loop2", "loop1");
    link("loop1", "loop2");
    link("a.txt", "link");
    let outside = bench.outside("secret.txt");
    std::fs::write(&outside, "secret\n").unwrap();
    link(outside.to_str().unwrap(), "out");
    crate::support::special::fifo(&bench.path("pipe"));
    bench.env.workspace.set_hidden(&["hidden*".into()]).unwrap();
    bench.write("hidden.txt", "h\n");
}

const PATHS: [&str; 18] = [
    "",
    "nowhere",
    "no/such/dir/x.txt",
    "dir",
    "dir/",
    "a.txt/below",
    "loop1",
    "loop1/x",
    "data",
    "big.png",
    "utf32",
    "out",
    "link",
    "pipe",
    "hidden.txt",
    "../secret.txt",
    "~nobody/x",
    "/proc/self/mem",
];

/// Values for a parameter: first the ones that are right, then those that are not.
fn values(name: &str) -> Vec<Value> {
    match name {
        "path" | "file_path" | "cwd" | "workdir" => {
            std::iter::once("a.txt").chain(PATHS).map(|path| json!(path)).collect()
        }
        "paths" => vec![json!(["a.txt"]), json!("a.txt")],
        "offset" | "limit" | "max_count" | "insert_line" | "maxBytes" => {
            vec![json!(1), json!(0), json!(1_000_000), json!("1"), json!(-1)]
        }
        "pattern" => vec![json!("one"), json!(""), json!("("), json!("a\nb"), json!("/etc/*"), json!("../x")],
        "glob" => vec![json!("*"), json!(""), json!("[")],
        "old_string" | "old_text" | "old_str" => vec![json!("one"), json!(""), json!("nope"), json!("two")],
        // No command runs: what a tool set says of one that ran is not a failure.
        "command" => vec![json!(""), json!([])],
        "patch" | "input" => [
            "",
            "--- a/a.txt\n+++ b/a.txt\n@@ -1 +1 @@\n-zero\n+null\n",
            "*** Begin Patch\n*** Update File: a.txt\n@@\n-zero\n+null\n*** End Patch\n",
            "*** Begin Patch\n*** Update File: nowhere\n@@\n-zero\n+null\n*** End Patch\n",
            "*** Begin Patch\n*** Delete File: a.txt\n*** End Patch\n",
        ]
        .map(|patch| json!(patch))
        .into(),
        "view_range" => vec![json!([1, 2]), json!([5, 1]), json!([1])],
        "files" => vec![json!([{"path": "nowhere/../../x", "content": "!"}]), json!({})],
        "from" => vec![json!(["x"]), json!([])],
        "plan" => vec![json!({"steps": []}), json!(""), json!(3)],
        _ => vec![json!("x"), json!(""), json!(true), json!(7)],
    }
}

/// Calls of a tool: a right one, and each parameter in turn with every value, missing, and of another type.
pub(super) fn calls(schema: &Value) -> Vec<Value> {
    let properties = schema["properties"].as_object().cloned().unwrap_or_default();
    let values = |name: &str| match properties.get(name).and_then(|schema| schema["enum"].as_array()) {
        Some(all) => all.clone(),
        None => values(name),
    };
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let right: Map<String, Value> =
        required.iter().map(|name| ((*name).to_string(), values(name)[0].clone())).collect();
    // A watch that sees nothing waits.
    let waits = |name: &String| matches!(name.as_str(), "timeout_ms" | "timeoutMs" | "timeout");
    let right: Map<String, Value> = properties
        .keys()
        .filter(|name| waits(name))
        .map(|name| (name.clone(), json!(1)))
        .chain(right)
        .collect();
    let mut calls = vec![Value::Object(right.clone()), json!([]), json!({"no_such_parameter": 1})];
    for name in properties.keys().filter(|name| !waits(name)) {
        let mut without = right.clone();
        without.remove(name);
        calls.push(Value::Object(without));
        for value in values(name) {
            let mut call = right.clone();
            call.insert(name.clone(), value);
            calls.push(Value::Object(call.clone()));
            // Commands and actions need more than the schema says.
            for (more, value) in
                [("path", json!("a.txt/x")), ("name", json!("none")), ("name", json!("../x"))]
            {
                if properties.contains_key(more) && !call.contains_key(more) {
                    let mut call = call.clone();
                    call.insert(more.into(), value);
                    calls.push(Value::Object(call));
                }
            }
        }
    }
    calls
}

fn parameters(registry: &ToolRegistry) -> BTreeSet<String> {
    let names = |schema: Value| schema["properties"].as_object().cloned().unwrap_or_default().into_iter();
    registry.specs().into_iter().flat_map(|spec| names(spec.schema)).map(|(name, _)| name).collect()
}

/// True where `text` has `name` as a word of its own.
fn says(text: &str, name: &str) -> bool {
    let joins = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(joins)
            && !text[at + name.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

#[test]
fn no_result_names_what_another_tool_set_calls_a_tool_or_a_parameter_or_a_real_path() {
    let every: Vec<ToolRegistry> =
        sets().iter().map(|(dialect, settings)| ToolRegistry::of_dialect(*dialect, settings)).collect();
    // Names that are also English words say nothing: a tool may tell that `ls` is a command.
    let telling = |name: &String| name.contains(['_', '.']);
    let tools: BTreeSet<String> = every.iter().flat_map(ToolRegistry::names).filter(telling).collect();
    let all_parameters: BTreeSet<String> = every.iter().flat_map(parameters).collect();
    let mut wrong = BTreeSet::new();
    let mut failures = 0;
    for (dialect, settings) in sets() {
        let is_virtual = dialect == ToolSet::Deepagents && settings.virtual_paths;
        let bench = Bench::new().speaking(dialect, &settings);
        ground(&bench);
        // No result names the directory behind virtual paths, or that of triggerfish's exec workspace.
        let beside = bench.root.parent().unwrap();
        let scratch = beside.join("view-state");
        std::fs::create_dir_all(scratch.join("scratch/exec")).unwrap();
        for name in ["a.txt", "dir/b.txt", "data"] {
            let copy = scratch.join("scratch/exec").join(name);
            std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
            std::fs::copy(bench.path(name), copy).unwrap();
        }
        let (own, own_parameters) = (bench.registry.names(), parameters(&bench.registry));
        for spec in bench.registry.specs() {
            for call in calls(&spec.schema) {
                let got = bench.call(&spec.name, call.clone());
                let (text, sent) = (got.body(), call.to_string());
                let mut found =
                    |what: String| wrong.insert(format!("{dialect} {} {sent}: {what}: {text}", spec.name));
                let unnamed = if is_virtual { beside } else { scratch.as_path() };
                if text.contains(unnamed.to_str().unwrap()) {
                    found("has a real path".into());
                }
                if got.0.outcome != CallOutcome::Failed {
                    continue;
                }
                failures += 1;
                for tool in tools.iter().filter(|tool| !own.contains(tool) && says(&text, tool)) {
                    found(format!("names the tool {tool}"));
                }
                for name in all_parameters
                    .iter()
                    .filter(|name| !own_parameters.contains(*name) && !own.contains(*name))
                {
                    let quoted = text.contains(&format!("`{name}`")) || text.contains(&format!("({name}: "));
                    if !sent.contains(name.as_str()) && (quoted || telling(name) && says(&text, name)) {
                        found(format!("names the parameter {name}"));
                    }
                }
            }
        }
    }
    assert!(failures > 500, "{failures}");
    assert!(
        wrong.is_empty(),
        "{} of {failures}:\n{}",
        wrong.len(),
        wrong.into_iter().collect::<Vec<_>>().join("\n")
    );
}

/// The same mistake in the tool sets that have no words of their own for it is told in the same words.
#[test]
fn the_same_failure_has_the_same_words_in_each_tool_set() {
    let failed = |dialect: ToolSet, tool: &str, input: Value| {
        let bench = Bench::new().speaking(dialect, &ToolSetSettings::default());
        ground(&bench);
        bench.call(tool, input).failed().lines().next().unwrap_or_default().to_string()
    };
    let data = |dialect, tool, parameter: &str, path: &str| failed(dialect, tool, json!({parameter: path}));
    let native = data(ToolSet::Native, "read_file", "path", "data");
    assert_eq!(data(ToolSet::Agsh, "read_file", "path", "data"), native);
    // The directory behind `/data` has no name there.
    let there = data(ToolSet::Deepagents, "read_file", "file_path", "/data");
    let kind = |text: &str| text.split_once("` is ").map(|(_, kind)| kind.to_string());
    assert!(there.starts_with("error: `/data` is binary data"), "{there}");
    assert!(kind(&native).is_some_and(|kind| kind.starts_with("binary data")), "{native}");
}
