//! The vendor-documented surfaces, what is evicted, and that names of all surfaces are fit for providers.

use crate::support::tool_bench::Bench;
use placet::tools::{ToolRegistry, ToolSet, ToolSetSettings};
use serde_json::{Value, json};

fn edit(command: &str, path: &str, rest: Value) -> Value {
    let mut input = json!({"command": command, "path": path});
    input.as_object_mut().unwrap().extend(rest.as_object().unwrap().clone());
    input
}

const EDITOR: &str = "str_replace_based_edit_tool";

#[test]
fn the_text_editor_views_replaces_inserts_and_takes_its_edits_back() {
    let bench = Bench::of(ToolSet::TextEditor);
    bench.write("a.txt", "one\r\ntwo\r\nthree");
    let call = |command: &str, rest: Value| bench.call(EDITOR, edit(command, "a.txt", rest));
    assert_eq!(call("view", json!({})).done(), "     1\tone\n     2\ttwo\n     3\tthree\n");
    assert_eq!(call("view", json!({"view_range": [2, -1]})).done(), "     2\ttwo\n     3\tthree\n");
    assert_eq!(
        call("str_replace", json!({"old_str": "two", "new_str": "2"})).done(),
        "Successfully replaced text at exactly one location."
    );
    assert_eq!(
        call("insert", json!({"insert_line": 1, "insert_text": "1.5"})).done(),
        "Successfully inserted 1 line after line 1."
    );
    assert_eq!(bench.bytes("a.txt"), b"one\r\n1.5\r\n2\r\nthree", "in the file's own line ends");
    call("insert", json!({"insert_line": 4, "insert_text": "four"})).done();
    assert_eq!(bench.bytes("a.txt"), b"one\r\n1.5\r\n2\r\nthree\r\nfour", "no end where there was none");
    for _ in 0..3 {
        assert_eq!(call("undo_edit", json!({})).done(), "Last edit to a.txt undone successfully.");
    }
    assert_eq!(bench.bytes("a.txt"), b"one\r\ntwo\r\nthree");
    assert_eq!(call("undo_edit", json!({})).failed(), "Error: No edit history found for a.txt");
}

/// Story: creates of equal content were edits to undo, whose undo changed nothing and stayed the last one for ever.
#[test]
fn an_edit_that_changed_nothing_is_not_undone() {
    let bench = Bench::of(ToolSet::TextEditor);
    let call = |command: &str, rest: Value| bench.call(EDITOR, edit(command, "u.txt", rest));
    call("create", json!({"file_text": "a\n"})).done();
    call("view", json!({})).done();
    for _ in 0..3 {
        call("create", json!({"file_text": "x\n"})).done();
    }
    call("undo_edit", json!({})).done();
    assert_eq!(bench.text("u.txt"), "a\n");
}

#[test]
fn the_text_editor_says_what_its_vendor_documents_when_it_cannot() {
    let bench = Bench::of(ToolSet::TextEditor);
    bench.write("a.txt", "x x\n");
    let call =
        |command: &str, path: &str, rest: Value| bench.call(EDITOR, edit(command, path, rest)).failed();
    assert_eq!(call("view", "none.txt", json!({})), "Error: File not found");
    let missing = call("str_replace", "a.txt", json!({"old_str": "y", "new_str": "z"}));
    assert!(
        missing.starts_with("Error: No match found for replacement. Please check your text and try again."),
        "{missing}"
    );
    assert_eq!(
        call("str_replace", "a.txt", json!({"old_str": "x", "new_str": "z"})),
        "Error: Found 2 matches for replacement text. Please provide more context to make a unique match."
    );
    let over = call("create", "a.txt", json!({"file_text": "lost"}));
    assert!(over.contains("has not been read"), "what was never seen is not written over: {over}");
    let range = call("view", "a.txt", json!({"view_range": [5, 9]}));
    assert!(range.starts_with("Error: Invalid view_range [5, 9]"), "{range}");
    assert_eq!(bench.text("a.txt"), "x x\n");
}

#[test]
fn an_edit_that_somebody_else_built_on_is_not_undone() {
    let bench = Bench::of(ToolSet::TextEditor);
    bench.write("a.txt", "one\n");
    bench.call(EDITOR, edit("str_replace", "a.txt", json!({"old_str": "one", "new_str": "1"}))).done();
    bench.write("a.txt", "1\nand more\n");
    let body = bench.call(EDITOR, edit("undo_edit", "a.txt", json!({}))).failed();
    assert!(body.contains("changed since that edit"), "{body}");
    assert_eq!(bench.text("a.txt"), "1\nand more\n");
}

#[test]
fn codex_patches_land_whole_also_from_a_shell_line() {
    let bench = Bench::of(ToolSet::Codex);
    bench.write("a.txt", "one\ntwo\n");
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Add File: b.txt\n+new\n*** End Patch\n";
    bench.call("apply_patch", json!({"input": patch})).done();
    assert_eq!((bench.text("a.txt"), bench.text("b.txt")), ("one\n2\n".into(), "new\n".into()));
    let patch = patch.replace("two", "2").replace("+2", "+3").replace("b.txt", "c.txt");
    let line = format!("apply_patch <<'EOF'\n{patch}EOF");
    bench.call("shell", json!({"command": ["bash", "-lc", line]})).done();
    assert_eq!((bench.text("a.txt"), bench.text("c.txt")), ("one\n3\n".into(), "new\n".into()));
    let body = bench.call("shell", json!({"command": ["echo", "it's", "$HOME"]})).done();
    assert!(
        body.starts_with("Exit code: 0\nWall time: ") && body.contains("Output:\nit's $HOME\n"),
        "{body}"
    );
}

#[test]
fn a_result_too_large_to_show_is_kept_where_read_file_finds_it() {
    let bench = Bench::of(ToolSet::Deepagents);
    let body = bench.call("execute", json!({"command": "seq 1 30000"})).done();
    let path = body.split("at this path: ").nth(1).unwrap().lines().next().unwrap();
    assert!(path.starts_with("/large_tool_results/"), "{body}");
    assert!(body.contains("1\n2\n3\n4\n5\n... [29990 lines truncated] ...\n29996\n"), "{body}");
    let page = bench.call("read_file", json!({"file_path": path, "offset": 19_999, "limit": 1})).done();
    assert_eq!(page, " 20000\t20000\n");
    assert!(bench.names().is_empty(), "and the project has nothing of it");
}

#[test]
fn the_tools_of_every_surface_have_names_that_providers_accept_and_schemas_of_objects() {
    for dialect in ToolSet::ALL {
        let registry = ToolRegistry::of_dialect(dialect, &ToolSetSettings::default());
        assert_eq!(ToolSet::parse(dialect.name()), Some(dialect));
        for spec in registry.wire_specs() {
            let plain = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
            assert!(spec.name.len() <= 64 && spec.name.bytes().all(plain), "{dialect}: {}", spec.name);
            assert_eq!(spec.schema["type"], json!("object"), "{dialect}: {}", spec.name);
            assert!(!spec.description.is_empty(), "{dialect}: {}", spec.name);
        }
    }
}
