//! Texts and names that look the same and are not: composed and decomposed, dashes and quotes.

use crate::support::require::has_view;
use crate::support::tool_bench::Bench;
use placet::tools::ToolSet;
use serde_json::{Value, json};

/// What the hint of a refusal says the text of the file is, as the JSON string that it is written as.
fn offered(error: &str) -> String {
    let (_, json) =
        error.split_once("repeat the call with old_string: ").unwrap_or_else(|| panic!("{error}"));
    assert!(json.is_ascii(), "{json}");
    serde_json::from_str(json).unwrap()
}

#[test]
fn the_refusal_shows_the_code_points_and_the_edit_that_matches() {
    for (there, sent, points) in [
        ("name = \"cafe\u{301}\"", "name = \"caf\u{e9}\"", ["cafe<U+0301>", "caf<U+00E9>"]),
        ("name = \"caf\u{e9}\"", "name = \"cafe\u{301}\"", ["caf<U+00E9>", "cafe<U+0301>"]),
        ("it\u{2019}s here", "it's here", ["it<U+2019>s", "it's"]),
        ("a \u{2014} b", "a - b", ["a <U+2014> b", "a - b"]),
        ("\u{ac00}\u{b098}", "\u{1100}\u{1161}\u{1102}\u{1161}", ["<U+AC00>", "<U+1100><U+1161>"]),
    ] {
        for around in [["", ""], ["first\n", "\nlast\n"], ["first\r\n\tlet x = ", ";\r\n"]] {
            let bench = Bench::new();
            bench.write("f", format!("{}{there}{}", around[0], around[1]));
            bench.call("read_file", json!({"path": "f"})).done();
            let edit = |old: &str| json!({"path": "f", "old_string": old, "new_string": "new"});
            let error = bench.call("edit_file", edit(sent)).failed();
            // Of a part of a line the edit that matches shows them.
            let is_whole_line = !around[0].ends_with(' ');
            let shown = |point: &&str| error.contains(*point) || !is_whole_line;
            assert!(points.iter().all(shown), "{points:?}: {error}");
            bench.call("edit_file", edit(&offered(&error))).done();
            assert_eq!(bench.text("f"), format!("{}new{}", around[0], around[1]));
        }
    }
}

#[test]
fn a_text_of_several_lines_that_looks_the_same_is_offered_whole() {
    let bench = Bench::new();
    bench.write("f", "one\r\ncafe\u{301}\r\nthe\u{301}\r\nend\r\n");
    bench.call("read_file", json!({"path": "f"})).done();
    let old = "caf\u{e9}\nth\u{e9}\n";
    let error = bench.call("edit_file", json!({"path": "f", "old_string": old, "new_string": ""})).failed();
    let there = offered(&error);
    assert_eq!(there, "cafe\u{301}\nthe\u{301}\n");
    bench.call("edit_file", json!({"path": "f", "old_string": there, "new_string": ""})).done();
    assert_eq!(bench.text("f"), "one\r\nend\r\n");
}

/// With one changed line the answer was that no text is similar.
#[test]
fn a_patch_that_differs_in_dashes_and_quotes_is_refused_with_both_lines() {
    for (set, there, sent) in [
        (ToolSet::Codex, "say \u{201c}hi\u{201d} \u{2013} now", "say \"hi\" - now"),
        (ToolSet::Native, "cafe\u{301}", "caf\u{e9}"),
    ] {
        let bench = Bench::of(set);
        bench.write("f", format!("{there}\n"));
        let patch = format!("*** Begin Patch\n*** Update File: f\n@@\n-{sent}\n+new\n*** End Patch\n");
        let argument = if set == ToolSet::Codex { "input" } else { "patch" };
        let error = bench.call("apply_patch", json!({argument: patch})).failed();
        assert!(error.contains("<U+") && !error.contains("no similar text"), "{error}");
        assert_eq!(bench.text("f"), format!("{there}\n"));
    }
}

/// A tool's list, and the command that uses a name of it as it is.
#[test]
fn a_name_of_a_list_can_be_used_by_a_command() {
    if !has_view() {
        return;
    }
    let names = [
        "cafe\u{301}.txt",
        "\u{1f469}\u{200d}\u{1f4bb}.txt",
        "\u{e9}t\u{e9}.txt",
        "a b.txt",
        "\u{5e9}\u{5dc}.txt",
    ];
    for (set, tool, call) in [
        (ToolSet::Native, "list_directory", json!({})),
        (ToolSet::Native, "find_files", json!({"pattern": "*.txt"})),
        (ToolSet::Native, "search_contents", json!({"pattern": "content", "files_only": true})),
        (ToolSet::Agsh, "find_files", json!({"pattern": "*.txt"})),
        (ToolSet::Triggerfish, "list_directory", json!({"path": "."})),
    ] {
        let bench = Bench::of(set);
        names.iter().for_each(|name| drop(bench.write(name, "content\n")));
        let body = bench.call(tool, call).done();
        names.iter().for_each(|name| assert!(body.contains(name), "{tool} {name:?}: {body}"));
    }
    let bench = Bench::new();
    names.iter().for_each(|name| drop(bench.write(name, "content\n")));
    for name in names {
        bench.call("read_file", json!({"path": name})).done();
        let body = bench.call("run_command", json!({"command": format!("cat '{name}'")})).done();
        assert!(body.starts_with("content"), "{body}");
    }
}

/// A name that acts on a terminal, that reorders text or that imitates a sign is shown by signs, which file tools read back.
#[test]
fn a_name_that_could_deceive_is_still_shown_by_signs() {
    let bench = Bench::new();
    for name in ["a\u{202e}b", "line\nbreak", "esc\u{1b}[2J", "<U+0301>", "zero\u{200b}width"] {
        bench.write(name, "content\n");
    }
    let body = bench.call("find_files", json!({"pattern": "*"})).done();
    for c in ['\u{202e}', '\u{1b}', '\u{200b}'] {
        assert!(!body.contains(c), "{body:?}");
    }
    let listed: Vec<&str> = body.lines().filter(|line| !line.starts_with('[')).collect();
    assert_eq!(listed.len(), 5, "{body}");
    for name in listed {
        let page: Value = Value::from(bench.call("read_file", json!({"path": name})).done());
        assert!(page.as_str().unwrap().contains("content"), "{name}");
    }
}
