//! What no answer has printed is not lost, and neither is what others changed in between: in every tool set.

use crate::support::tool_bench::Bench;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet::permission::Mode;
use placet::tools::{DeepagentsVersion, ToolSet, ToolSetSettings};
use serde_json::{Value, json};

fn speaking(set: ToolSet) -> Bench {
    let settings = ToolSetSettings {
        virtual_paths: false,
        deepagents: DeepagentsVersion::V07,
        overwrite: true,
        ..ToolSetSettings::default()
    };
    let mut bench = Bench::new().speaking(set, &settings);
    bench.mode = Mode::Write;
    bench
}

fn operations(steps: Value) -> Value {
    json!({ "operations": steps })
}

fn lines(count: usize) -> String {
    (1..=count).map(|n| format!("line {n}\n")).collect()
}

#[test]
fn a_batch_does_not_lose_a_file_that_was_moved_or_appended_to_unread() {
    let lost = |bench: &Bench, steps: Value| bench.call("operations", operations(steps)).failed();
    let write = json!({"op": "write", "path": "v", "content": "x"});
    for last in [json!({"op": "delete", "path": "v"}), write] {
        let bench = Bench::writing();
        bench.write("u", lines(3));
        let refused = lost(&bench, json!([{"op": "move", "path": "u", "to": "v"}, last]));
        assert!(refused.contains("`v` has not been read in this session"), "{refused}");
        bench.call("operations", operations(json!([{"op": "move", "path": "u", "to": "v"}]))).done();
        let refused = lost(&bench, json!([last]));
        assert!(refused.contains("no line of `v` was shown to you"), "{refused}");
        assert_eq!(bench.text("v"), lines(3));
        bench.call("operations", json!({"operations": [last], "force": true})).done();
    }
    let bench = Bench::writing();
    bench.write("u", lines(3));
    let refused = lost(&bench, json!([{"op": "append", "path": "u", "content": "z"}]));
    assert!(refused.contains("`u` has not been read in this session"), "{refused}");
    // A copy is no loss, and what the batch itself made may go again.
    let steps = json!([{"op": "copy", "path": "u", "to": "w"}, {"op": "move", "path": "w", "to": "x"},
        {"op": "delete", "path": "x"}, {"op": "create", "path": "n", "content": "1"}, {"op": "write", "path": "n", "content": "2"}]);
    bench.call("operations", operations(steps)).done();
    assert_eq!(bench.text("u"), lines(3));
}

#[test]
fn a_batch_loses_only_lines_that_were_shown() {
    let bench = Bench::writing();
    bench.write("u", lines(51));
    bench.call("read_file", json!({"path": "u", "limit": 1})).done();
    bench.call("search_contents", json!({"pattern": "line 20"})).done();
    for last in [json!({"op": "write", "path": "u", "content": "x"}), json!({"op": "delete", "path": "u"})] {
        let refused = bench.call("operations", operations(json!([last]))).failed();
        assert!(refused.contains("only lines 1, 20 of `u` were shown to you"), "{refused}");
    }
    let edit = json!([{"op": "edit", "path": "u", "old_string": "line 30", "new_string": "x"}]);
    let refused = bench.call("operations", operations(edit)).failed();
    assert!(refused.contains("line 30 of `u` was not shown to you"), "{refused}");
    // An append after which the lines are as unknown as before.
    bench.call("operations", operations(json!([{"op": "append", "path": "u", "content": "z\n"}]))).done();
    let refused = bench.call("operations", operations(json!([{"op": "delete", "path": "u"}]))).failed();
    assert!(refused.contains("only lines 1, 20, 52 of `u`"), "{refused}");
    // What the batch itself prints counts, within it and after it.
    bench.call("operations", operations(json!([{"op": "read", "path": "u"}]))).done();
    bench.call("operations", operations(json!([{"op": "delete", "path": "u"}]))).done();
}

#[test]
fn a_batch_counts_what_it_prints_and_not_what_it_only_reads() {
    let bench = Bench::writing();
    bench.write("long", "a line of twenty byte\n".repeat(1200));
    bench.call("operations", operations(json!([{"op": "read", "path": "long"}]))).done();
    let refused = bench.call("operations", operations(json!([{"op": "delete", "path": "long"}]))).failed();
    assert!(refused.contains("only lines 1-909 of `long`"), "{refused}");
    bench.write("s", lines(3));
    bench
        .call("operations", json!({"operations": [{"op": "read", "path": "s"}], "scratchpad": "kept"}))
        .done();
    let refused = bench.call("operations", operations(json!([{"op": "delete", "path": "s"}]))).failed();
    assert!(refused.contains("`s` has not been read"), "{refused}");
}

#[test]
fn the_editor_counts_only_lines_that_it_quoted_or_printed() {
    let bench = speaking(ToolSet::TextEditor);
    let tool = "str_replace_based_edit_tool";
    bench.write("u", lines(30));
    let replace = json!({"command": "str_replace", "path": "u", "old_str": "line 15\n", "new_str": "X\n"});
    bench.call(tool, replace).done();
    let create = json!({"command": "create", "path": "u", "file_text": "gone\n"});
    let refused = bench.call(tool, create.clone()).failed();
    assert!(refused.contains("only line 15 of `u` was shown to you"), "{refused}");
    bench.call(tool, json!({"command": "view", "path": "u"})).done();
    bench.call(tool, create).done();
}

#[test]
fn an_edit_elsewhere_does_not_make_the_change_of_others_known() {
    let sets = [
        (ToolSet::Triggerfish, "read_file", "path", "edit_file", "old_text", "new_text"),
        (ToolSet::Deepagents, "read_file", "file_path", "edit_file", "old_string", "new_string"),
        (ToolSet::Agentos, "file_read", "path", "apply_patch", "", ""),
    ];
    for (set, read, path, edit, old, new) in sets {
        let bench = speaking(set);
        let file = bench.write("f.txt", lines(30)).display().to_string();
        bench.call(read, json!({path: file})).done();
        bench.write("f.txt", lines(30).replace("line 2\n", "THEIRS\n"));
        let call = match set {
            ToolSet::Agentos => {
                json!({"path": file, "patch": "@@ -14,3 +14,3 @@\n line 14\n-line 15\n+OURS\n line 16\n"})
            }
            _ => json!({path: file, old: "line 15\n", new: "OURS\n"}),
        };
        bench.call(edit, call).done();
        let whole = match set {
            ToolSet::Triggerfish => ("write_file", json!({"path": file, "content": lines(30)})),
            ToolSet::Agentos => ("file_write", json!({"path": file, "content": lines(30)})),
            _ => ("write_file", json!({"file_path": file, "content": lines(30)})),
        };
        let refused = bench.call(whole.0, whole.1.clone()).failed();
        assert!(refused.contains("at line 2 after you read it"), "{set:?}: {refused}");
        assert!(refused.contains("2│THEIRS"), "{set:?}: {refused}");
        assert!(bench.text("f.txt").contains("THEIRS"), "{set:?}");
        // What was shown now may be replaced.
        bench.call(whole.0, whole.1).done();
    }
}

#[test]
fn an_upload_over_a_file_that_others_changed_is_refused_by_itself() {
    let bench = speaking(ToolSet::Deepagents);
    let file = bench.write("f.txt", "one\n").display().to_string();
    let other = bench.path("g.txt").display().to_string();
    bench.call("read_file", json!({"file_path": file})).done();
    bench.write("f.txt", "theirs\n");
    let bytes = STANDARD.encode("new\n");
    let upload = json!({"files": [{"path": file, "content": bytes}, {"path": other, "content": bytes}]});
    let answer = bench.call("upload_files", upload).done();
    assert!(answer.contains("changed since you read it"), "{answer}");
    assert_eq!((bench.text("f.txt"), bench.text("g.txt")), ("theirs\n".into(), "new\n".into()));
}

#[test]
fn a_line_number_alone_is_not_trusted_after_a_change_by_others() {
    let text = "1\n2\n3\n4\n";
    let insert = "@@ -2,0 +3,1 @@\n+ins\n";
    let named = format!("--- a/f\n+++ b/f\n{insert}");
    let sets = [
        (
            ToolSet::TextEditor,
            "str_replace_based_edit_tool",
            json!({"command": "view", "path": "f"}),
            "str_replace_based_edit_tool",
            json!({"command": "insert", "path": "f", "insert_line": 2, "insert_text": "ins\n"}),
        ),
        (
            ToolSet::Agentos,
            "file_read",
            json!({"path": "f"}),
            "apply_patch",
            json!({"path": "f", "patch": insert}),
        ),
        (ToolSet::Native, "read_file", json!({"path": "f"}), "apply_patch", json!({"patch": named})),
    ];
    for (set, read, what, edit, call) in sets {
        let bench = speaking(set);
        bench.write("f", text);
        bench.call(read, what).done();
        bench.write("f", "TOP\n1\n2\n3\n4\n");
        let refused = bench.call(edit, call.clone()).failed();
        assert!(refused.contains("+TOP"), "{set:?}: {refused}");
        assert_eq!(bench.text("f"), "TOP\n1\n2\n3\n4\n");
        // The model has seen the change now, and the number means the present content.
        bench.call(edit, call).done();
        assert_eq!(bench.text("f"), "TOP\n1\nins\n2\n3\n4\n", "{set:?}");
    }
}
