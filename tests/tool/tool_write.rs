//! write_file, and what every written file keeps.

use crate::support::require::require;
use crate::support::tool_bench::Bench;
use serde_json::json;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

fn write(bench: &Bench, path: &str, content: &str) -> crate::support::tool_bench::Got {
    bench.call("write_file", json!({"path": path, "content": content}))
}

#[test]
fn a_new_file_is_made_with_its_directories() {
    let bench = Bench::new();
    let got = write(&bench, "a/b/c.txt", "one\ntwo\n");
    assert_eq!(got.0.for_person.line, "write a/b/c.txt +2 -0");
    assert_eq!(got.done(), "created a/b/c.txt: 8 bytes, +2 lines");
    assert_eq!(bench.text("a/b/c.txt"), "one\ntwo\n");
    // What was written was seen.
    bench.call("edit_file", json!({"path": "a/b/c.txt", "old_string": "two", "new_string": "2"})).done();
    let error =
        bench.call("write_file", json!({"path": "a/b/c.txt", "content": "", "mode": "create"})).failed();
    assert!(error.contains("already exists"), "{error}");
    assert!(write(&bench, "a/b", "x").failed().contains("is a directory"));
    assert!(write(&bench, "a/b/c.txt/d", "x").failed().contains("is not a directory"));
    assert!(write(&bench, "x/", "x").failed().contains("names a directory"));
}

#[test]
fn writing_over_a_file_needs_all_of_it_to_have_been_read() {
    let bench = Bench::new();
    bench.write("a", "one\ntwo\nthree\n");
    assert!(write(&bench, "a", "new\n").failed().contains("has not been read"));
    bench.call("read_file", json!({"path": "a", "limit": 2})).done();
    let error = write(&bench, "a", "new\n").failed();
    assert!(
        error
            .contains("only lines 1-2 of `a` were shown to you; this call would lose others, from line 3 on"),
        "{error}"
    );
    bench.call("read_file", json!({"path": "a"})).done();
    bench.write("a", "one\nTWO\nthree\n");
    let error = write(&bench, "a", "new\n").failed();
    assert!(error.contains("changed since you read it") && error.contains("+TWO"), "{error}");
    write(&bench, "a", "new\n").done();
    assert_eq!(bench.text("a"), "new\n");
    bench.write("empty", "");
    write(&bench, "empty", "x").done();
}

#[test]
fn appending_keeps_what_is_there_and_what_others_add() {
    let bench = Bench::new();
    let append = |content: &str| {
        bench.call("write_file", json!({"path": "log", "content": content, "mode": "append"}))
    };
    append("one\r\n").done();
    append("two\n").done();
    assert_eq!(bench.text("log"), "one\r\ntwo\r\n");
    bench.write("log", "zero\r\none\r\ntwo\r\n");
    append("three\n").done();
    assert_eq!(bench.text("log"), "zero\r\none\r\ntwo\r\nthree\r\n");
    bench.write("unread", "x\n");
    assert!(
        bench
            .call("write_file", json!({"path": "unread", "content": "y", "mode": "append"}))
            .failed()
            .contains("has not been read")
    );
}

#[test]
fn a_file_keeps_its_mark_its_line_ends_and_its_encoding() {
    let bench = Bench::new();
    bench.write("bom", b"\xEF\xBB\xBFa\r\nb\r\n");
    bench.write("wide", b"\xFF\xFEa\0\n\0");
    bench.write("latin", b"caf\xE9 ol\xE9\n");
    for name in ["bom", "wide", "latin"] {
        bench.call("read_file", json!({"path": name})).done();
        write(&bench, name, "é\nx\n").done();
    }
    assert_eq!(bench.bytes("bom"), "\u{FEFF}é\r\nx\r\n".as_bytes());
    assert_eq!(bench.bytes("wide"), b"\xFF\xFE\xE9\0\n\0x\0\n\0");
    assert_eq!(bench.bytes("latin"), b"\xE9\nx\n");
    assert!(write(&bench, "latin", "日本\n").failed().contains("windows-1252"));
}

#[test]
fn mode_links_and_attributes_stay() {
    let bench = Bench::new();
    let edit = |path: &str, old: &str, new: &str| {
        bench.call("edit_file", json!({"path": path, "old_string": old, "new_string": new, "force": true}))
    };
    let script = bench.write("script", "old\n");
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o4751)).unwrap();
    let marked = rustix::fs::setxattr(&script, "user.note", b"kept", rustix::fs::XattrFlags::empty()).is_ok();
    std::os::unix::fs::symlink("script", bench.path("l1")).unwrap();
    std::os::unix::fs::symlink(bench.path("l1"), bench.path("l2")).unwrap();
    let body = edit("l2", "old", "new").done();
    assert!(body.contains(&format!("the file is {}", script.display())), "{body}");
    assert_eq!(bench.text("script"), "new\n");
    assert!(std::fs::symlink_metadata(bench.path("l2")).unwrap().is_symlink());
    assert_eq!(std::fs::metadata(&script).unwrap().mode() & 0o7777, 0o4751);
    if marked {
        let mut value = [0; 16];
        let length = rustix::fs::getxattr(&script, "user.note", &mut value).unwrap();
        assert_eq!(&value[..length], b"kept");
    }
    bench.write("h1", "old\n");
    std::fs::hard_link(bench.path("h1"), bench.path("h2")).unwrap();
    assert!(edit("h1", "old", "new").done().contains("written in place"));
    assert_eq!(bench.text("h2"), "new\n");
    assert_eq!(bench.names(), ["h1", "h2", "l1", "l2", "script"]);
}

#[test]
fn access_lists_stay() {
    if !require("setfacl") || !require("getfacl") {
        return;
    }
    let bench = Bench::new();
    bench.write("f", "old\n");
    bench.call("run_command", json!({"command": "setfacl -m u:1:rw f"})).done();
    bench
        .call("edit_file", json!({"path": "f", "old_string": "old", "new_string": "new", "force": true}))
        .done();
    let body = bench.call("run_command", json!({"command": "getfacl -n f"})).done();
    assert!(body.contains("user:1:rw-") && bench.text("f") == "new\n", "{body}");
}

#[test]
fn the_owner_stays_where_we_may_give_files_away() {
    let bench = Bench::new();
    let file = bench.write("f", "old\n");
    if std::os::unix::fs::chown(&file, Some(1), Some(1)).is_err() {
        eprintln!("skipped: not root");
        return;
    }
    bench
        .call("edit_file", json!({"path": "f", "old_string": "old", "new_string": "new", "force": true}))
        .done();
    let meta = std::fs::metadata(&file).unwrap();
    assert_eq!((meta.uid(), meta.gid(), bench.text("f").as_str()), (1, 1, "new\n"));
}
