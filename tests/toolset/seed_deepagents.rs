//! The rules of the deepagents document, each by a test that quotes it.

use crate::support::tool_bench::Bench;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet::tools::{ToolSet, ToolSetSettings};
use serde_json::{Value, json};

fn plain() -> Bench {
    let settings = ToolSetSettings { virtual_paths: false, ..ToolSetSettings::default() };
    Bench::new().speaking(ToolSet::Deepagents, &settings)
}

#[test]
fn check_if_message_content_is_empty_and_return_warning_message() {
    let bench = Bench::of(ToolSet::Deepagents);
    for content in ["", " \n\t\n"] {
        bench.write("empty.txt", content);
        let body = bench.call("read_file", json!({"file_path": "/empty.txt"})).done();
        assert_eq!(body, "System reminder: File exists but has empty contents");
    }
}

#[test]
fn format_file_content_with_line_numbers_cat_n_style() {
    let bench = Bench::of(ToolSet::Deepagents);
    bench.write("a.txt", "one\ntwo\nthree\n");
    let body = bench.call("read_file", json!({"file_path": "/a.txt"})).done();
    assert_eq!(body, "     1\tone\n     2\ttwo\n     3\tthree\n");
    let window = json!({"file_path": "a.txt", "offset": 1, "limit": 1});
    assert_eq!(bench.call("read_file", window).done(), "     2\ttwo\n");
    let past = json!({"file_path": "/a.txt", "offset": 3});
    assert_eq!(bench.call("read_file", past).failed(), "Error: Line offset 3 exceeds file length (3 lines)");
}

#[test]
fn chunks_lines_longer_than_max_line_length_with_continuation_markers() {
    let bench = Bench::of(ToolSet::Deepagents);
    let long = "é".repeat(12_000);
    bench.write("a.txt", format!("1\n2\n3\n4\n{long}\n6\n"));
    let body = bench.call("read_file", json!({"file_path": "/a.txt"})).done();
    let rows: Vec<(&str, usize)> = body
        .lines()
        .map(|row| row.split_once('\t').unwrap())
        .map(|(n, t)| (n.trim(), t.chars().count()))
        .collect();
    let all = [("1", 1), ("2", 1), ("3", 1), ("4", 1), ("5", 5000), ("5.1", 5000), ("5.2", 2000), ("6", 1)];
    assert_eq!(rows, all);
    bench.write("b.txt", "x".repeat(5000));
    let body = bench.call("read_file", json!({"file_path": "/b.txt"})).done();
    assert_eq!(body.lines().count(), 1, "exactly the limit is one row");
}

#[test]
fn perform_string_replacement_with_occurrence_validation() {
    let bench = Bench::of(ToolSet::Deepagents);
    bench.write("a.txt", "aXbX\r\nlast");
    let edit = |old: &str, all: bool| json!({"file_path": "/a.txt", "old_string": old, "new_string": "-", "replace_all": all});
    assert_eq!(
        bench.call("edit_file", edit("nope", false)).failed(),
        "Error: String not found in file: 'nope'"
    );
    assert_eq!(
        bench.call("edit_file", edit("X", false)).failed(),
        "Error: String 'X' appears 2 times in file. Use replace_all=True to replace all instances, or provide a more specific string with surrounding context."
    );
    assert_eq!(bench.bytes("a.txt"), b"aXbX\r\nlast");
    let done = bench.call("edit_file", edit("X", true)).done();
    assert_eq!(done, "Successfully replaced 2 instance(s) of the string in '/a.txt'");
    assert_eq!(bench.bytes("a.txt"), b"a-b-\r\nlast", "line ends stay");
    bench.call("edit_file", edit("", true)).failed();
}

#[test]
fn all_file_data_has_content_lines_created_at_and_modified_at() {
    let bench = Bench::of(ToolSet::Deepagents);
    bench.write("a.txt", "one\ntwo");
    let body = bench.call("file_data", json!({"file_path": "/a.txt"})).done();
    let data: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(data["content"], json!(["one", "two"]));
    for time in ["created_at", "modified_at"] {
        let text = data[time].as_str().unwrap();
        assert!(text.parse::<jiff::Timestamp>().is_ok(), "{time}: {text}");
    }
}

#[test]
fn result_from_backend_write_operations() {
    let bench = Bench::of(ToolSet::Deepagents);
    let write = |content: &str| json!({"file_path": "/d/new.txt", "content": content});
    assert_eq!(bench.call("write_file", write("one")).done(), "Updated file /d/new.txt");
    assert_eq!(
        bench.call("write_file", write("two")).failed(),
        "Cannot write to /d/new.txt because it already exists. Read and then make an edit, or write to a new path."
    );
    assert_eq!(bench.text("d/new.txt"), "one");
    let settings = ToolSetSettings { overwrite: true, ..ToolSetSettings::default() };
    let bench = bench.speaking(ToolSet::Deepagents, &settings);
    bench.call("write_file", write("two")).done();
    assert_eq!(bench.text("d/new.txt"), "two", "as from 0.7 on");
}

#[test]
fn designed_to_allow_partial_success_in_batch_upload_operations() {
    let bench = Bench::of(ToolSet::Deepagents);
    bench.write("dir/x", "");
    let file = |path: &str, text: &str| json!({"path": path, "content": STANDARD.encode(text)});
    let files =
        json!({"files": [file("/a.bin", "A"), file("/../out", "B"), file("/dir", "C"), file("/b.bin", "D")]});
    let answers: Value = serde_json::from_str(&bench.call("upload_files", files).done()).unwrap();
    assert_eq!(
        answers,
        json!([{"path": "/a.bin", "error": null}, {"path": "/../out", "error": "invalid_path"},
            {"path": "/dir", "error": "is_directory"}, {"path": "/b.bin", "error": null}])
    );
    assert_eq!((bench.text("a.bin"), bench.text("b.bin")), ("A".into(), "D".into()));
}

#[test]
fn errors_are_standardized_using_file_operation_error_literals() {
    let bench = Bench::of(ToolSet::Deepagents);
    bench.write("a.bin", b"\x00\xff".as_slice());
    bench.write("dir/x", "");
    let paths = json!({"paths": ["/a.bin", "/none", "/dir", "~/x"]});
    let answers: Value = serde_json::from_str(&bench.call("download_files", paths).done()).unwrap();
    let errors: Vec<&Value> = answers.as_array().unwrap().iter().map(|a| &a["error"]).collect();
    assert_eq!(
        errors,
        [&json!(null), &json!("file_not_found"), &json!("is_directory"), &json!("invalid_path")]
    );
    assert_eq!(answers[0]["content"], json!(STANDARD.encode(b"\x00\xff")));
}

#[test]
fn structured_file_listing_info() {
    let bench = Bench::of(ToolSet::Deepagents);
    bench.write("b.txt", "");
    bench.write("a/x.txt", "");
    assert_eq!(bench.call("ls", json!({"path": "/"})).done(), "['/a/', '/b.txt']");
    assert_eq!(bench.call("ls", json!({"path": "/none"})).done(), "[]");
    assert_eq!(bench.call("glob", json!({"pattern": "*.txt"})).done(), "['/a/x.txt', '/b.txt']");
}

#[test]
fn structured_grep_match_entry() {
    let bench = Bench::of(ToolSet::Deepagents);
    bench.write("a.txt", "x.y\nxzy\n");
    bench.write("b/c.txt", "x.y\n");
    let grep = |mode: &str| bench.call("grep", json!({"pattern": "x.y", "output_mode": mode})).done();
    assert_eq!(grep("files_with_matches"), "/a.txt\n/b/c.txt");
    assert_eq!(grep("content"), "/a.txt:\n  1: x.y\n/b/c.txt:\n  1: x.y");
    assert_eq!(grep("count"), "/a.txt: 1\n/b/c.txt: 1");
    let entries: Value = serde_json::from_str(&grep("entries")).unwrap();
    assert_eq!(entries[1], json!({"path": "/b/c.txt", "line": 1, "text": "x.y"}));
    assert_eq!(bench.call("grep", json!({"pattern": "none"})).done(), "No matches found");
}

#[test]
fn files_are_accessed_using_their_actual_filesystem_paths() {
    let bench = plain();
    let path = bench.write("a.txt", "one\n");
    let absolute = json!({"file_path": path.to_str().unwrap()});
    assert_eq!(bench.call("read_file", absolute).done(), "     1\tone\n");
    assert_eq!(bench.call("ls", json!({"path": bench.root})).done(), format!("['{}']", path.display()));
}

#[test]
fn relative_paths_are_resolved_relative_to_the_current_working_directory() {
    let bench = plain();
    bench.write("d/a.txt", "one\n");
    assert_eq!(bench.call("read_file", json!({"file_path": "d/a.txt"})).done(), "     1\tone\n");
}

#[test]
fn virtual_mode_can_provide_path_based_guardrails_by_blocking_traversal() {
    let bench = Bench::of(ToolSet::Deepagents);
    let outside = bench.outside("secret.txt");
    std::fs::write(&outside, "secret").unwrap();
    std::os::unix::fs::symlink(&outside, bench.path("link")).unwrap();
    for path in ["../secret.txt", "/../secret.txt", "~/secret.txt", "/link", "/a/../../secret.txt"] {
        let body = bench.call("read_file", json!({"file_path": path})).failed();
        assert_eq!(body, format!("Error: Path traversal not allowed: {path}"));
    }
    bench.write("foo..bar", "fine\n");
    assert_eq!(bench.call("read_file", json!({"file_path": "/foo..bar"})).done(), "     1\tfine\n");
    let absolute = json!({"file_path": outside.to_str().unwrap()});
    let body = bench.call("read_file", absolute).failed();
    assert!(body.ends_with("not found"), "below the root there is no such file: {body}");
}
