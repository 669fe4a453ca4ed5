//! Every tool between the registry and the policy: names, arguments, reach, consent, size of the words.

use crate::support::tool_bench::Bench;
use placet::conversation::CallInput;
use placet::permission::{Access, AccessLocation, Mode};
use placet::tools::{DisplayDetail, ReadScope, TouchedPaths};
use serde_json::json;

#[test]
fn the_words_and_schemas_of_all_tools_stay_small() {
    let specs = Bench::new().registry.specs();
    let names: Vec<&str> = specs.iter().map(|s| s.name.as_str()).collect();
    let all = [
        "read_file",
        "edit_file",
        "write_file",
        "apply_patch",
        "operations",
        "list_directory",
        "find_files",
        "search_contents",
        "run_command",
        "job",
        "fetch_url",
        "scratchpad",
        "todo",
        "ask_person",
        "agent",
        "skill",
        "remember",
    ];
    assert_eq!(names, all);
    let request: Vec<_> = specs
        .iter()
        .map(|s| json!({"name": s.name, "description": s.description, "input_schema": s.schema}))
        .collect();
    let size = serde_json::to_string(&request).unwrap().len();
    // Twelve tools for files, commands and pages, and five for the conversation itself.
    assert!(size <= 11_800, "{size}");
    for spec in &specs {
        assert_eq!(spec.schema["type"], "object", "{}", spec.name);
        assert!(!spec.schema.to_string().contains("$ref"), "{}", spec.name);
    }
}

#[test]
fn unknown_tools_and_malformed_arguments_teach() {
    let bench = Bench::new();
    let plan = |tool: &str, raw: &str| {
        bench.registry.plan(tool, &CallInput::parse(raw), &bench.env).err().unwrap().for_model()
    };
    assert!(plan("readfile", "{}").starts_with(
        "error: unknown tool `readfile`; did you mean `read_file`?\nhint: the tools are read_file, "
    ));
    assert!(
        plan("read_file", "{\"path\":").contains("not valid JSON")
            && plan("read_file", "{\"path\":").contains("nothing was run")
    );
    assert!(plan("read_file", "[]").contains("not a JSON object"));
    assert!(plan("read_file", "").contains("`path` is missing: it must be a string"));
    assert!(
        plan("run_command", "{\"command\":\"ls\",\"timeout\":3}")
            .contains("unknown parameter `timeout` of `run_command`; did you mean `timeout_ms`?")
    );
    assert!(plan("scratchpad", "{\"action\":\"burn\"}").contains("`action` must be one of \"write\", "));
}

#[test]
fn reach_names_the_real_file_and_its_place() {
    let bench = Bench::new();
    bench.write("d/f", "x\n");
    std::os::unix::fs::symlink("d/f", bench.path("l")).unwrap();
    let reach = |tool: &str, input: serde_json::Value| {
        bench.registry.plan(tool, &CallInput::Object(input), &bench.env).unwrap().reach()
    };
    let read = |name: &str, place| vec![Access::Read { path: bench.path(name), place }];
    let write = |name: &str, place| vec![Access::Write { path: bench.path(name), place }];
    assert_eq!(reach("read_file", json!({"path": "l"})), read("d/f", AccessLocation::Inside));
    assert_eq!(
        reach("edit_file", json!({"path": "l", "old_string": "x", "new_string": ""})),
        write("d/f", AccessLocation::Inside)
    );
    assert_eq!(
        reach("write_file", json!({"path": ".git/config", "content": ""})),
        write(".git/config", AccessLocation::Protected)
    );
    assert_eq!(reach("scratchpad", json!({"action": "list"})), [Access::Session]);
    let run = Access::Run { command: "ls".into(), cwd: bench.root.clone(), confined: false };
    assert_eq!(reach("run_command", json!({"command": "ls"})), [run]);
}

#[test]
fn before_consent_nothing_outside_is_looked_at() {
    let mut bench = Bench::new();
    bench.mode = Mode::Ask;
    let secret = bench.outside("secret");
    std::fs::write(&secret, "the secret\n").unwrap();
    let path = secret.to_str().unwrap();
    for (tool, input) in [
        ("read_file", json!({"path": path})),
        ("edit_file", json!({"path": path, "old_string": "guess", "new_string": "x"})),
        ("search_contents", json!({"path": path, "pattern": "secret"})),
        ("list_directory", json!({"path": bench.outside("").to_str().unwrap()})),
    ] {
        let mut plan = bench.registry.plan(tool, &CallInput::Object(input), &bench.env).unwrap();
        let preview = plan.prepare(&bench.env, ReadScope::InsideOnly).unwrap();
        let shown = match preview.detail {
            DisplayDetail::Text(text) => text,
            DisplayDetail::Diff(diff) => diff.text,
            _ => String::new(),
        };
        assert!(!shown.contains("secret"), "{tool}: {shown}");
    }
    // With consent the same calls go through.
    assert!(bench.call("read_file", json!({"path": path})).done().contains("the secret"));
    bench.call("edit_file", json!({"path": path, "old_string": "the", "new_string": "a"})).done();
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "a secret\n");
}

#[test]
fn calls_that_share_a_path_are_ordered_and_commands_with_every_write() {
    let bench = Bench::new();
    let touches =
        |tool: &str, input: serde_json::Value| bench.registry.touches(tool, &CallInput::Object(input));
    let read = touches("read_file", json!({"path": "a"}));
    let edit = touches("edit_file", json!({"path": "a", "old_string": "x", "new_string": "y"}));
    let other = touches("write_file", json!({"path": "b", "content": ""}));
    let run = touches("run_command", json!({"command": "ls"}));
    assert!(edit.conflicts(&read) && read.conflicts(&edit) && !edit.conflicts(&other));
    assert!(run.conflicts(&edit) && edit.conflicts(&run) && !run.conflicts(&read));
    assert_eq!(bench.registry.touches("nonsense", &CallInput::parse("{}")), TouchedPaths::default());
}

/// The table of the offline provider against the tools themselves: a name that only one side knows is found here.
#[test]
fn every_call_of_the_offline_grammar_is_one_its_tool_understands() {
    let bench = Bench::new();
    for row in placet::provider::grammar() {
        for call in row.calls {
            let (tool, arguments) = call.split_once(' ').unwrap_or((call, "{}"));
            if let Err(error) = bench.registry.plan(tool, &CallInput::parse(arguments), &bench.env) {
                let words = error.for_model();
                let known =
                    ["unknown parameter", "must be", "is missing", "unknown tool", "needs", "requires"];
                assert!(!known.iter().any(|k| words.contains(k)), "{}: {call}: {words}", row.pattern);
            }
        }
    }
}

#[test]
fn calls_are_ordered_by_the_file_and_not_by_its_spelling() {
    let touch = |reads: &[&str], writes: &[&str]| TouchedPaths {
        reads: reads.iter().map(|p| (*p).to_string()).collect(),
        writes: writes.iter().map(|p| (*p).to_string()).collect(),
        anything: false,
    };
    let bench = Bench::new();
    bench.write("a.txt", "x");
    let resolve =
        |p: &str| bench.env.workspace.resolve(p).ok().map(|at| at.path.to_string_lossy().into_owned());
    let edit = |path: &str| touch(&[], &[path]).resolved(resolve);
    assert!(edit("a.txt").conflicts(&edit("./a.txt")));
    let search = touch(&["."], &[]).resolved(resolve);
    assert!(search.conflicts(&edit("a.txt")) && edit("a.txt").conflicts(&search));
    assert!(!touch(&["a.txt"], &[]).resolved(resolve).conflicts(&edit("a.txt.old")));
    assert!(!search.conflicts(&touch(&["a.txt"], &[]).resolved(resolve)), "reads never wait for reads");
}
