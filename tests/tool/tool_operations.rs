//! operations: all or nothing, or as many as work; later ones see earlier ones.

use crate::support::tool_bench::Bench;
use placet::permission::Mode;
use serde_json::{Value, json};

fn four_files() -> Bench {
    let bench = Bench::new();
    for n in 0..4 {
        bench.write(&format!("f{n}.txt"), "one\ntwo\nthree\n");
        bench.call("read_file", json!({"path": format!("f{n}.txt")})).done();
    }
    bench
}

fn edit(file: usize, old: &str, new: &str) -> Value {
    json!({"op": "edit", "path": format!("f{file}.txt"), "old_string": old, "new_string": new})
}

#[test]
fn when_the_seventh_of_ten_edits_fails_none_is_there_and_the_error_names_it() {
    let bench = four_files();
    let mut edits: Vec<Value> = (0..10).map(|n| edit(n % 4, ["one", "two", "three"][n / 4], "x")).collect();
    edits[6] = edit(2, "no such text", "x");
    let body = bench.call("operations", json!({"operations": edits})).failed();
    assert!(body.contains("operation 7 of 10: ") && body.contains("nothing was changed"), "{body}");
    for n in 0..4 {
        assert_eq!(bench.text(&format!("f{n}.txt")), "one\ntwo\nthree\n");
    }
    edits[6] = edit(2, "two", "x");
    bench.call("operations", json!({"operations": edits})).done();
    assert_eq!(bench.text("f1.txt"), "x\nx\nx\n");
}

#[test]
fn not_atomic_those_that_fail_are_reported_and_the_others_land() {
    let bench = four_files();
    let operations = json!({"atomic": false, "operations": [edit(0, "one", "1"), edit(1, "none", "x"), edit(2, "one", "1")]});
    let body = bench.call("operations", operations).done();
    assert!(body.contains("2. failed: the text to replace is not in `f1.txt`"), "{body}");
    assert!(body.ends_with("[2 done, 1 failed, 2 files changed]\n"), "{body}");
    assert_eq!(
        (bench.text("f0.txt"), bench.text("f1.txt")),
        ("1\ntwo\nthree\n".into(), "one\ntwo\nthree\n".into())
    );
}

#[test]
fn later_operations_see_what_earlier_ones_did_and_only_the_end_is_written() {
    let bench = Bench::new();
    bench.write("old.sh", "#!/bin/sh\n");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(bench.path("old.sh"), mode).unwrap();
    bench.call("read_file", json!({"path": "old.sh"})).done();
    let operations = json!({"operations": [
        {"op": "create", "path": "a/new.txt", "content": "1"},
        {"op": "append", "path": "a/new.txt", "content": "2"},
        {"op": "edit", "path": "a/new.txt", "old_string": "12", "new_string": "three"},
        {"op": "copy", "path": "a/new.txt", "to": "b.txt"},
        {"op": "move", "path": "old.sh", "to": "bin/new.sh"},
        {"op": "delete", "path": "a/new.txt"},
        {"op": "read", "path": "b.txt"},
    ]});
    let body = bench.call("operations", operations).done();
    assert!(body.contains("7. read b.txt\nthree\n"), "{body}");
    assert_eq!(bench.names(), ["b.txt", "bin"], "what was made and deleted was never there");
    let moved = std::fs::metadata(bench.path("bin/new.sh")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&moved.permissions()) & 0o777, 0o755);
}

#[test]
fn files_must_have_been_read_links_are_not_deleted_through_and_ways_out_are_refused() {
    let mut bench = Bench::new();
    bench.mode = Mode::Write;
    bench.write("a.txt", "keep\n");
    bench.write("target.txt", "target\n");
    std::os::unix::fs::symlink("target.txt", bench.path("link")).unwrap();
    let one = |operation: Value| json!({"operations": [operation]});
    let body =
        bench.call("operations", one(json!({"op": "write", "path": "a.txt", "content": "x"}))).failed();
    assert!(body.contains("has not been read"), "{body}");
    bench.call("read_file", json!({"path": "link"})).done();
    let body = bench.call("operations", one(json!({"op": "delete", "path": "link"}))).failed();
    assert!(body.contains("the name is a link"), "{body}");
    let body =
        bench.call("operations", one(json!({"op": "create", "path": "a.txt", "content": "x"}))).failed();
    assert!(body.contains("already exists"), "{body}");
    assert_eq!((bench.text("a.txt"), bench.text("target.txt")), ("keep\n".into(), "target\n".into()));
}

#[test]
fn in_ask_mode_a_batch_is_pending_and_in_read_mode_it_is_refused() {
    let mut bench = four_files();
    bench.mode = Mode::Ask;
    let batch = json!({"operations": [edit(0, "one", "1"), {"op": "delete", "path": "f1.txt"}]});
    bench.call("operations", batch.clone()).done();
    assert_eq!(bench.text("f0.txt"), "one\ntwo\nthree\n");
    assert!(bench.path("f1.txt").exists());
    let pending = bench.call("read_file", json!({"path": "f0.txt"})).done();
    assert!(pending.starts_with("1│1\n"), "{pending}");
    bench.call("read_file", json!({"path": "f1.txt"})).failed();
    bench.mode = Mode::Read;
    let body = bench.call("operations", batch).failed();
    assert!(body.contains("read mode"), "{body}");
}
