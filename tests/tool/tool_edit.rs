//! edit_file: exact, unique, and only on lines that were seen as they are.

use crate::support::tool_bench::Bench;
use serde_json::{Value, json};

fn edit(path: &str, old: &str, new: &str) -> Value {
    json!({"path": path, "old_string": old, "new_string": new})
}

fn seen(name: &str, content: impl AsRef<[u8]>) -> Bench {
    let bench = Bench::new();
    bench.write(name, content);
    bench.call("read_file", json!({"path": name})).done();
    bench
}

#[test]
fn one_line_is_replaced_and_a_small_diff_comes_back() {
    let bench = seen("a.rs", "one\n\ttwo\nthree\n");
    let got = bench.call("edit_file", edit("a.rs", "\ttwo", "\t2\n\t2b"));
    assert_eq!(got.0.for_person.line, "edit a.rs +2 -1");
    assert_eq!(
        got.done(),
        "edited a.rs: +2 -1 lines, nothing else changed\n@@ -1,3 +1,4 @@\n one\n-\ttwo\n+\t2\n+\t2b\n three\n"
    );
    assert_eq!(bench.text("a.rs"), "one\n\t2\n\t2b\nthree\n");
    assert_eq!(bench.names(), ["a.rs"]);
    bench.call("edit_file", json!({"path": "a.rs", "old_string": "\t2b\n", "insert_before": "\tx\n"})).done();
    bench.call("edit_file", json!({"path": "a.rs", "old_string": "three", "insert_after": " four"})).done();
    assert_eq!(bench.text("a.rs"), "one\n\t2\n\tx\n\t2b\nthree four\n");
}

#[test]
fn a_file_never_read_is_refused_unless_forced() {
    let bench = Bench::new();
    bench.write("a", "x\ny\n");
    let error = bench.call("edit_file", edit("a", "x", "z")).failed();
    assert_eq!(
        error,
        "error: `a` has not been read in this session\nhint: read_file(path: \"a\") first, then repeat this call"
    );
    bench.call("edit_file", json!({"path": "a", "old_string": "x", "new_string": "z", "force": true})).done();
    assert_eq!(bench.text("a"), "z\ny\n");
}

#[test]
fn lines_that_were_not_shown_are_refused_by_number() {
    let bench = Bench::new();
    bench.write("a", (1..=50).map(|n| format!("l{n}\n")).collect::<String>());
    bench.call("read_file", json!({"path": "a", "offset": 9, "limit": 5})).done();
    bench.call("edit_file", edit("a", "l12\n", "L12\n")).done();
    let error = bench.call("edit_file", edit("a", "l40\nl41\n", "x\n")).failed();
    assert_eq!(
        error,
        "error: lines 40-41 of `a` were not shown to you: only lines 9-15 were. The lines that are missing:\n    40│l40\n    41│l41\nhint: you have now seen them: repeat the call on the current content"
    );
    bench.call("edit_file", edit("a", "l40\nl41\n", "x\n")).done();
}

#[test]
fn a_change_inside_is_refused_with_the_difference_which_counts_as_seen() {
    let bench = seen("a", "one\ntwo\nthree\n");
    bench.write("a", "one\nTWO\nthree\n");
    let error = bench.call("edit_file", edit("a", "TWO", "2")).failed();
    assert!(error.starts_with("error: `a` changed since you read it. The changes:\n@@ -1,3 +1,3 @@\n one\n-two\n+TWO\n three\nhint: you have now seen them"), "{error}");
    assert_eq!(bench.text("a"), "one\nTWO\nthree\n");
    bench.call("edit_file", edit("a", "TWO", "2")).done();
    assert_eq!(bench.text("a"), "one\n2\nthree\n");
}

#[test]
fn a_change_elsewhere_is_kept_and_told() {
    let bench = seen("a", "one\ntwo\nthree\n");
    bench.write("a", "ONE\ntwo\nthree\n");
    let body = bench.call("edit_file", edit("a", "three", "3")).done();
    assert!(body.contains("the person or another program changed the file since you read it (an edit, a rejected change or an undo); placet keeps it so:\n@@ -1,3 +1,3 @@\n-one\n+ONE\n"), "{body}");
    assert_eq!(bench.text("a"), "ONE\ntwo\n3\n");
    // Force is for lines never read, not for changes.
    bench.write("a", "other\ncontent\n");
    let error = bench
        .call("edit_file", json!({"path": "a", "old_string": "content", "new_string": "x", "force": true}))
        .failed();
    assert!(error.contains("changed since you read it"), "{error}");
}

#[test]
fn touch_chmod_and_spelling_raise_no_false_alarm_and_a_rewrite_of_equal_size_and_time_does() {
    use std::os::unix::fs::PermissionsExt;
    let bench = seen("d/a", "one\ntwo\n");
    std::os::unix::fs::symlink("d", bench.path("link")).unwrap();
    let path = bench.path("d/a");
    for round in 0..100 {
        let now = std::time::SystemTime::now();
        std::fs::File::options().write(true).open(&path).unwrap().set_modified(now).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600 + round % 8)).unwrap();
        let spelling = ["d/a", "./d/a", "link/a", "d/../d/a", path.to_str().unwrap()][round as usize % 5];
        let old = if round % 2 == 0 { "two" } else { "TWO" };
        let new = if round % 2 == 0 { "TWO" } else { "two" };
        bench.call("edit_file", edit(spelling, old, new)).done();
    }
    let time = std::fs::metadata(&path).unwrap().modified().unwrap();
    std::fs::write(&path, "one\nowt\n").unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
    assert!(bench.call("edit_file", edit("d/a", "owt", "x")).failed().contains("changed since"));
}

#[test]
fn a_miss_shows_the_nearest_lines_and_needs_no_new_read() {
    let bench = seen("a.go", "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n");
    let error = bench.call("edit_file", edit("a.go", "func b() {\n    return 2\n}", "x")).failed();
    assert!(error.contains("line 6\n  file: →return·2\n  sent: ····return·2\n"), "{error}");
    assert!(error.contains("6│\treturn 2\n"), "{error}");
    assert_eq!(bench.text("a.go").len(), 47);
    let error = bench.call("edit_file", edit("a.go", "\treturn", "\tyield")).failed();
    assert_eq!(
        error,
        "error: old_string occurs 2 times in `a.go`: at lines 2, 6\nhint: add surrounding lines until it is unique, or set replace_all"
    );
    let all = json!({"path": "a.go", "old_string": "\treturn", "new_string": "\tyield", "replace_all": true});
    assert!(bench.call("edit_file", all).done().starts_with("edited a.go at 2 places: +2 -2 lines"));
}

#[test]
fn other_encodings_are_edited_in_place_and_what_they_lack_is_refused() {
    let gbk = encoding_rs::GBK.encode("// 测试文件\nint a = 1;\n// 结束了\n").0.into_owned();
    let bench = seen("a.c", &gbk);
    bench.call("edit_file", edit("a.c", "int a = 1;", "int a = 2; // 改变")).done();
    assert_eq!(
        bench.bytes("a.c"),
        encoding_rs::GBK.encode("// 测试文件\nint a = 2; // 改变\n// 结束了\n").0.into_owned()
    );
    let error = bench.call("edit_file", edit("a.c", "int a = 2;", "int a = 🙂;")).failed();
    assert!(error.contains("U+1F642") && error.contains("GBK"), "{error}");
    let bench = seen("b", b"\xC3\xA9t\xC3\xA9 \xFF\xFE raw\nplain\n");
    bench.call("edit_file", edit("b", "plain", "PLAIN")).done();
    assert_eq!(bench.bytes("b"), b"\xC3\xA9t\xC3\xA9 \xFF\xFE raw\nPLAIN\n");
    let error = bench.call("edit_file", edit("b", "\u{FFFD}\u{FFFD} raw", "cooked")).failed();
    assert!(error.contains("not valid UTF-8 (line 1"), "{error}");
}

#[test]
fn a_change_between_preview_and_write_loses_nothing() {
    let bench = seen("a", "one\ntwo\n");
    let got = bench.call_with("edit_file", edit("a", "one", "1"), |root| {
        std::fs::write(root.join("a"), "mine\n").unwrap()
    });
    let error = got.failed();
    assert!(error.contains("changed since you read it") && error.contains("+mine"), "{error}");
    assert_eq!(bench.text("a"), "mine\n");
    assert_eq!(bench.names(), ["a"]);
}

#[test]
fn arguments_that_contradict_are_refused() {
    let bench = seen("a", "x\n");
    for (input, want) in [
        (json!({"path": "a", "old_string": "x"}), "is missing"),
        (json!({"path": "a", "old_string": "x", "new_string": "", "insert_after": "y"}), "use only one of"),
        (json!({"path": "a", "old_string": "", "new_string": "y"}), "`old_string` is empty"),
        (
            json!({"path": "a", "old_string": "x", "new_string": "y", "replace_all": "yes"}),
            "`replace_all` must be true or false",
        ),
        (
            json!({"path": "a", "old": "x"}),
            "unknown parameter `old` of `edit_file`; did you mean `old_string`?",
        ),
        (json!({"path": "b", "old_string": "x", "new_string": "y"}), "does not exist"),
    ] {
        let error = bench.call("edit_file", input).failed();
        assert!(error.contains(want), "{error}");
    }
    let same = bench.call("edit_file", edit("a", "x", "x")).done();
    assert!(same.contains("nothing to change"), "{same}");
}

#[test]
fn a_large_file_is_edited_where_its_window_was_read() {
    let bench = Bench::new();
    let filler = format!("{}\n", "y".repeat(99)).repeat(100_000);
    bench.write("big", format!("{filler}first target\n{filler}second target\n"));
    assert!(bench.call("edit_file", edit("big", "first target", "x")).failed().contains("has not been read"));
    bench.call("read_file", json!({"path": "big", "offset": 99_999, "limit": 2})).done();
    assert!(
        bench
            .call("edit_file", edit("big", "second target", "x"))
            .failed()
            .contains("line 200002 of `big` was not shown")
    );
    bench.call("edit_file", edit("big", "first target", "FIRST\nTARGET")).done();
    bench.call("edit_file", edit("big", "FIRST\nTARGET", "done")).done();
    assert!(bench.call("edit_file", edit("big", "second target", "x")).failed().contains("was not shown"));
    let bytes = bench.bytes("big");
    assert_eq!(bytes.len(), filler.len() * 2 + "done\nsecond target\n".len());
    assert!(bytes[filler.len()..].starts_with(b"done\nyyy"));
}

#[test]
fn what_was_seen_survives_a_restart_as_long_as_the_content_does() {
    let bench = seen("a", "one\ntwo\n");
    bench.write("b", "three\n");
    bench.call("read_file", json!({"path": "b"})).done();
    let saved = serde_json::to_string(&bench.env.ledger.lock().unwrap().snapshot()).unwrap();
    let restored = placet::workspace::ReadLedger::restore(&serde_json::from_str(&saved).unwrap());
    *bench.env.ledger.lock().unwrap() = restored;
    bench.write("b", "THREE\n");
    bench.call("edit_file", edit("a", "two", "2")).done();
    let error = bench.call("edit_file", edit("b", "THREE", "3")).failed();
    assert!(
        error.starts_with("error: `b` changed since you read it\nhint: read_file(path: \"b\") again"),
        "{error}"
    );
    bench.env.ledger.lock().unwrap().drop_all();
    assert!(bench.call("edit_file", edit("a", "2", "two")).failed().contains("has not been read"));
}

/// What follows the gutter, sent back as it is, matches at the first try and changes nothing.
#[test]
fn whatever_was_read_can_be_sent_back() {
    let fixtures: [&[u8]; 6] = [
        b"func a() {\n\tif x {\n\t\treturn 1 \n\t}\n \t mixed\n\n}\n",
        b"one\r\n\ttwo\r\n  three  \r\n\r\nfive\r\n",
        b"lf\ncrlf\r\nbare\rreturn\nlast without end",
        "nbsp\u{a0}here\nzero\u{200b}width\n\u{3000}wide\n日本\tx\n".as_bytes(),
        b"\xEF\xBB\xBFmarked\nsecond\n12\xE2\x94\x82gutter\n",
        b"caf\xE9 one\nna\xEFve two\nplain three\n",
    ];
    for fixture in fixtures {
        let bench = seen("f", fixture);
        let page = bench.call("read_file", json!({"path": "f"})).done();
        let rows: Vec<&str> =
            page.split('\n').filter_map(|row| row.split_once('│')).map(|(_, text)| text).collect();
        for from in 0..rows.len() {
            for to in from + 1..=rows.len() {
                let old = rows[from..to].join("\n");
                if old.is_empty() {
                    continue;
                }
                let same = json!({"path": "f", "old_string": old, "new_string": old, "replace_all": true});
                let got = bench.call("edit_file", same).done();
                assert!(got.contains("nothing to change"), "{got}");
                assert_eq!(bench.bytes("f"), fixture);
            }
        }
    }
}
