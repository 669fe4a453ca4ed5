//! scratchpad, and the `scratchpad` parameter of the others.

use crate::support::tool_bench::Bench;
use serde_json::json;

#[test]
fn entries_are_written_read_edited_and_deleted() {
    let bench = Bench::new();
    let pad = |input: serde_json::Value| bench.call("scratchpad", input);
    assert_eq!(pad(json!({"action": "list"})).done(), "[no scratchpads yet]");
    assert_eq!(
        pad(json!({"action": "write", "name": "a", "content": "one\ntwo"})).done(),
        "wrote the scratchpad `a`: 2 lines, 7 bytes"
    );
    pad(json!({"action": "append", "name": "a", "content": "\nthree"})).done();
    assert_eq!(pad(json!({"action": "read", "name": "a"})).done(), "1│one\n2│two\n3│three\n");
    assert_eq!(
        pad(json!({"action": "read", "name": "a", "offset": 1, "limit": 1})).done(),
        "2│two\n[rows 2-2 of 3; continue with offset 2]\n"
    );
    pad(json!({"action": "edit", "name": "a", "old_string": "two", "new_string": "2"})).done();
    assert!(
        pad(json!({"action": "edit", "name": "a", "old_string": "e", "new_string": "x"}))
            .failed()
            .contains("occurs 3 times")
    );
    assert!(
        pad(json!({"action": "edit", "name": "a", "old_string": "zz", "new_string": "x"}))
            .failed()
            .contains("is not in")
    );
    pad(json!({"action": "write", "name": "b", "content": ""})).done();
    assert_eq!(pad(json!({"action": "read", "name": "b"})).done(), "[the scratchpad `b` is empty]");
    assert!(pad(json!({"action": "rename", "name": "a", "to": "b"})).failed().contains("already exists"));
    pad(json!({"action": "rename", "name": "a", "to": "c"})).done();
    pad(json!({"action": "merge", "name": "d", "from": ["c", "b", "c"]})).done();
    assert_eq!(bench.pad("d"), "one\n2\nthree\none\n2\nthree");
    assert_eq!(pad(json!({"action": "list"})).done(), "b  0 bytes\nc  11 bytes\nd  23 bytes");
    pad(json!({"action": "delete", "name": "b"})).done();
    assert!(
        pad(json!({"action": "read", "name": "b"}))
            .failed()
            .contains("no scratchpad `b`; the scratchpads are: c, d")
    );
    assert!(
        pad(json!({"action": "write", "name": "x/y", "content": ""}))
            .failed()
            .contains("cannot be the name of a scratchpad")
    );
    assert!(
        pad(json!({"action": "write", "name": "x"}))
            .failed()
            .contains("`content` is missing: the action \"write\" needs it")
    );
}

#[test]
fn loading_and_saving_go_by_the_rules_of_files() {
    let bench = Bench::new();
    bench.write("f", "text\n");
    bench.call("scratchpad", json!({"action": "load", "name": "p", "path": "f"})).done();
    assert_eq!(bench.pad("p"), "text\n");
    let save = |path: &str| bench.call("scratchpad", json!({"action": "save", "name": "p", "path": path}));
    assert!(save("f").failed().contains("has not been read"));
    assert_eq!(save("new/g").done(), "created new/g: 5 bytes, +1 line");
    assert_eq!(bench.text("new/g"), "text\n");
}

/// What is loaded and saved again is the same file, or the answer says what becomes of it.
#[test]
fn a_loaded_file_is_kept_to_the_byte_or_its_change_is_told() {
    let exact: [&[u8]; 4] = [b"x\r\ny\n", b"\xef\xbb\xbfx\r\ny\r\n", "\u{fffd}\r\u{feff}é".as_bytes(), b""];
    for bytes in exact {
        let bench = Bench::new();
        bench.write("f", bytes);
        let load = json!({"action": "load", "name": "p", "path": "f"});
        assert!(!bench.call("scratchpad", load).done().contains("UTF-8"));
        bench.call("scratchpad", json!({"action": "save", "name": "p", "path": "g"})).done();
        assert_eq!(std::fs::read(bench.root.join("g")).unwrap(), bytes);
    }
    let load = |bytes: &[u8]| {
        let bench = Bench::new();
        bench.write("f", bytes);
        bench.call("scratchpad", json!({"action": "load", "name": "p", "path": "f"}))
    };
    assert!(load(b"caf\xe9\n").done().ends_with("decoded from windows-1252: it is saved as UTF-8"));
    assert!(load(b"\xff\xfea\0\n\0").done().ends_with("it is saved as UTF-8"));
    assert!(load(b"\xef\xbb\xbfx \xe9\n").failed().contains("bytes that are no text"));
}

#[test]
fn an_output_can_be_kept_and_an_error_never_takes_its_place() {
    let bench = Bench::new();
    bench.write("f", "text\n");
    let line = bench.call("read_file", json!({"path": "f", "scratchpad": "out"})).done();
    assert_eq!(
        line,
        "stored in the scratchpad `out`: 1 line, 9 bytes".replace("9", &bench.pad("out").len().to_string())
    );
    let error = bench.call("read_file", json!({"path": "g", "scratchpad": "out"})).failed();
    assert!(error.contains("does not exist"));
    assert!(bench.pad("out").contains("text"));
    assert!(
        bench
            .call("read_file", json!({"path": "f", "scratchpad": "a b"}))
            .failed()
            .contains("cannot be the name of a scratchpad")
    );
    // Kept is not shown: the lines were not seen.
    assert!(
        bench
            .call("edit_file", json!({"path": "f", "old_string": "text", "new_string": "x"}))
            .failed()
            .contains("has not been read")
    );
    bench.call("run_command", json!({"command": "true", "scratchpad": "run"})).done();
    assert!(bench.pad("run").contains("exit code 0"));
}

#[test]
fn one_endless_line_can_be_paged() {
    let bench = Bench::new();
    let text: String = (0..20_000).map(|n| format!("{n:05}")).collect();
    bench.call("scratchpad", json!({"action": "write", "name": "a", "content": text})).done();
    let mut all = String::new();
    let mut offset = 0;
    loop {
        let page = bench.call("scratchpad", json!({"action": "read", "name": "a", "offset": offset})).done();
        all.extend(page.lines().filter_map(|l| l.split_once('│')).map(|(_, row)| row.trim_end_matches('↩')));
        match page.rsplit_once("continue with offset ") {
            Some((_, next)) => offset = next.split(']').next().unwrap().parse().unwrap(),
            None => break,
        }
    }
    assert_eq!(all, text);
}
