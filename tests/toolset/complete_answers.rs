//! What an answer does not have, it says; and what a call leaves empty, or writes as a path, means the same everywhere.

use crate::support::binary::Place;
use crate::support::tool_bench::Bench;
use placet::conversation::{CallFact, CallOutcome};
use placet::tools::{DeepagentsVersion, ToolSet, ToolSetSettings};
use serde_json::{Value, json};

/// A search of contents in every tool set that has one.
fn searches(pattern: &str) -> [(ToolSet, &'static str, Value); 5] {
    [
        (ToolSet::Native, "search_contents", json!({"pattern": pattern})),
        (ToolSet::Agsh, "search_contents", json!({"pattern": pattern})),
        (ToolSet::Deepagents, "grep", json!({"pattern": pattern, "output_mode": "entries"})),
        (ToolSet::Agentos, "file_search", json!({"pattern": pattern})),
        (
            ToolSet::Triggerfish,
            "search_files",
            json!({"path": ".", "pattern": pattern, "content_search": true}),
        ),
    ]
}

fn deepagents(version: DeepagentsVersion) -> Bench {
    let settings = ToolSetSettings { deepagents: version, ..ToolSetSettings::default() };
    Bench::new().speaking(ToolSet::Deepagents, &settings)
}

#[test]
fn a_binary_file_is_counted_by_every_search() {
    for (set, tool, call) in searches("hit") {
        let bench = Bench::of(set);
        bench.write("a.txt", "hit\n");
        assert!(!bench.call(tool, call.clone()).done().contains("binary"), "{set:?}");
        bench.write("b.bin", "hit\0\n");
        bench.write("d/c.bin", "\0hit\n");
        let body = bench.call(tool, call).done();
        assert!(body.contains("2 binary files not searched") && body.contains("a.txt"), "{set:?}: {body}");
    }
}

/// More matches than an answer has, and longer ones: what is there is whole, and what is missing is counted.
#[test]
fn a_list_of_matches_that_was_cut_is_json_and_says_how_much_is_missing() {
    for (lines, width) in [(1, 1), (1000, 1), (1001, 1), (3000, 1), (900, 200)] {
        let text = format!("hit {}\n", "x".repeat(width)).repeat(lines);
        let bench = Bench::of(ToolSet::Agentos);
        bench.write("a.txt", &text);
        let answer: Value =
            serde_json::from_str(&bench.call("file_search", json!({"pattern": "hit"})).done()).unwrap();
        let shown = answer["matches"].as_array().unwrap().len();
        let cut = (shown < lines).then(|| json!(format!("{shown} of {lines} matches")));
        assert_eq!(answer.get("truncated"), cut.as_ref());
        for version in [DeepagentsVersion::V04, DeepagentsVersion::V07] {
            let bench = deepagents(version);
            bench.write("a.txt", &text);
            let got = bench.call("grep", json!({"pattern": "hit", "output_mode": "entries"})).0;
            let list: Vec<Value> = serde_json::from_str(got.for_model[0].as_text().unwrap()).unwrap();
            let cut = (list.len() < lines).then(|| format!("{} of {lines} matches", list.len()));
            let said = got.recorded.iter().find_map(|fact| match fact {
                CallFact::Incomplete { missing } => Some(missing.split(':').next().unwrap().to_string()),
                _ => None,
            });
            assert_eq!(said, cut, "{lines} {width}");
            assert!(!list.is_empty() && got.for_model[0].as_text().unwrap().chars().count() <= 80_002);
        }
    }
}

/// The output of a program is for a program: notes are beside it.
#[test]
fn what_a_tool_call_prints_is_nothing_but_its_result() {
    for (dialect, tool, call, says) in [
        ("agentos", "file_read", json!({"path": "a.txt", "explanation": "x"}), "there is no parameter"),
        ("agentos", "file_list", json!({"recursive": "true"}), "was taken as true"),
        (
            "deepagents",
            "grep",
            json!({"pattern": "hit", "output_mode": "entries"}),
            "1 binary file not searched",
        ),
    ] {
        let place = Place::new().file("a.txt", "hit\n").file("b.bin", "hit\0\n");
        let out = place.call(tool, &call, &["--dialect", dialect]).code(0);
        serde_json::from_str::<Value>(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}", out.stdout));
        assert!(out.stderr.contains(says), "{tool}: {}", out.stderr);
    }
}

/// Every path in a pattern is read as a path: empty parts and `.` are none, and a leading slash is the root where paths
/// begin at one.
#[test]
fn a_glob_is_read_as_a_path() {
    for (version, root) in [(DeepagentsVersion::V04, "/"), (DeepagentsVersion::V07, "/")] {
        let bench = deepagents(version);
        bench.write("src/a.rs", "hit\n");
        bench.write("b.md", "hit\n");
        for glob in ["src/*.rs", "./src/*.rs", "src//*.rs", "././src/./*.rs", "/src/*.rs", "//src/*.rs"] {
            let body = bench.call("glob", json!({"pattern": glob, "path": root})).done();
            assert_eq!(body, "['/src/a.rs']", "{version:?} {glob}");
            let body = bench.call("grep", json!({"pattern": "hit", "glob": glob})).done();
            assert_eq!(body, "/src/a.rs", "{version:?} {glob}");
        }
        let body = bench.call("grep", json!({"pattern": "hit", "glob": "!/src/*.rs"})).done();
        assert_eq!(body, "/b.md", "{version:?}");
    }
    for (set, tool, call) in [
        (ToolSet::Native, "find_files", json!({})),
        (ToolSet::Agsh, "find_files", json!({})),
        (ToolSet::Triggerfish, "search_files", json!({"path": "."})),
    ] {
        let bench = Bench::of(set);
        bench.write("src/a.rs", "hit\n");
        let with = |glob: &str| {
            let mut call = call.clone();
            call["pattern"] = json!(glob);
            bench.call(tool, call)
        };
        for glob in ["src/*.rs", "./src/*.rs", "src//*.rs", "src/./*.rs"] {
            assert!(with(glob).done().contains("src/a.rs"), "{set:?} {glob}");
        }
        for (glob, why) in [("/src/*.rs", "names a place"), ("../*.rs", "does not stay below a directory")] {
            assert!(with(glob).failed().contains(why), "{set:?} {glob}");
        }
    }
}

/// A model that leaves a parameter empty means that it gives none: everything that may be left out, in every tool of every
/// set, unless it is a content.
#[test]
fn an_empty_text_for_an_optional_parameter_is_none() {
    for (set, tool, mut call) in searches("hit").into_iter().take(4) {
        let bench = Bench::of(set);
        bench.write("d/a.txt", "hit\n");
        let plain = bench.call(tool, call.clone()).done();
        call["glob"] = json!("");
        call["path"] = json!("");
        assert_eq!(bench.call(tool, call).done(), plain, "{set:?}");
    }
    let bench = Bench::new();
    bench.write("a.txt", "one\n");
    let read = json!({"path": "a.txt", "pattern": "", "limit": "", "scratchpad": ""});
    assert!(bench.call("read_file", read).done().starts_with("1│one\n"));
    let edit = json!({"path": "a.txt", "old_string": "one", "new_string": "", "insert_after": null});
    bench.call("edit_file", edit).done();
    assert_eq!(bench.text("a.txt"), "\n", "an empty content is one");
    assert!(bench.call("read_file", json!({"path": ""})).0.outcome == CallOutcome::Failed);
}

#[test]
fn results_that_were_put_away_are_listed_where_they_are() {
    for version in [DeepagentsVersion::V04, DeepagentsVersion::V07] {
        let bench = deepagents(version);
        bench.write("a.txt", "a\n");
        let body = bench.call("execute", json!({"command": "seq 1 30000"})).done();
        let path = body.split("at this path: ").nth(1).unwrap().lines().next().unwrap().to_string();
        for dir in ["/large_tool_results", "/large_tool_results/", "large_tool_results"] {
            let listed = bench.call("ls", json!({"path": dir})).done();
            assert_eq!(listed, format!("['{path}']"), "{version:?}");
            let found = bench.call("glob", json!({"path": dir, "pattern": "*"})).done();
            assert_eq!(found, format!("['{path}']"), "{version:?}");
        }
        let found = bench.call("grep", json!({"path": "/large_tool_results", "pattern": "29999"})).done();
        assert_eq!(found, path, "{version:?}");
    }
}

#[test]
fn a_scratchpad_is_edited_as_a_file_is() {
    for (text, old, new) in [
        ("one\r\ntwo\r\nthree\r\n", "one\ntwo\n", "1\n2\n2b\n"),
        ("one\r\ntwo", "one\ntwo", "1\n2"),
        ("one\ntwo\n", "one\r\ntwo", "1\r\n2"),
        ("one\ntwo\n", "one\n", "one\r\n"),
        ("one\r\ntwo\n", "two\n", "2\n"),
    ] {
        let bench = Bench::of(ToolSet::Agsh);
        bench.write("f", text);
        bench.call("read_file", json!({"path": "f"})).done();
        bench.call("edit_file", json!({"path": "f", "old_string": old, "new_string": new})).done();
        bench.call("scratchpad_write", json!({"name": "p", "content": text})).done();
        bench.call("scratchpad_edit", json!({"name": "p", "old_string": old, "new_string": new})).done();
        assert_eq!(bench.pad("p"), bench.text("f"), "{text:?}");
    }
}

/// The document states no rule about reading first, whatever the patch quotes.
#[test]
fn a_patch_of_agentos_needs_no_read() {
    for (patch, after) in [
        ("@@ -1,0 +2 @@\n+new\n", "one\nnew\ntwo\n"),
        ("@@ -2 +2 @@\n-two\n+2\n", "one\n2\n"),
        ("@@ -0,0 +1 @@\n+first\n", "first\none\ntwo\n"),
    ] {
        let bench = Bench::of(ToolSet::Agentos);
        bench.write("a.ts", "one\ntwo\n");
        bench.call("apply_patch", json!({"path": "a.ts", "patch": patch})).done();
        assert_eq!(bench.text("a.ts"), after);
    }
    let bench = Bench::of(ToolSet::Agentos);
    bench.write("a.ts", "one\ntwo\n");
    bench.call("file_read", json!({"path": "a.ts"})).done();
    bench.write("a.ts", "0\none\ntwo\n");
    let by_number = json!({"path": "a.ts", "patch": "@@ -1,0 +2 @@\n+new\n"});
    assert!(bench.call("apply_patch", by_number).failed().contains("changed since you read it"));
}
