//! Patches that leave open what they mean are refused, as git, GNU patch or the program of the form refuses them.

use crate::support::tool_bench::Bench;
use placet::permission::Mode;
use placet::tools::{ToolSet, ToolSetSettings};
use serde_json::json;
use std::os::unix::fs::{PermissionsExt, symlink};

/// The patch on a file `v` with this content: it must be refused, and the file must stay.
fn refused(content: &str, patch: &str) -> String {
    let bench = Bench::writing();
    bench.write("v", content);
    let error = bench.call("apply_patch", json!({ "patch": patch })).failed();
    assert_eq!(bench.text("v"), content, "{patch}");
    error
}

fn unified(hunks: &str) -> String {
    format!("--- a/v\n+++ b/v\n{hunks}")
}

fn envelope(hunks: &str) -> String {
    format!("*** Begin Patch\n*** Update File: v\n{hunks}*** End Patch\n")
}

#[test]
fn an_anchor_of_the_envelope_that_is_not_above_the_hunk_is_an_error_that_names_it() {
    let change = "-  return 1\n+  return 2\n";
    let error = refused("def b():\n  return 1\n", &envelope(&format!("@@ def a():\n{change}")));
    assert!(error.contains("is below `def a():`, and no such line is in the file"), "{error}");
    let below = "def b():\n  return 1\ndef a():\n  return 3\n";
    let error = refused(below, &envelope(&format!("@@ def a():\n{change}")));
    assert!(error.contains("matches at line 2, but not below `def a():`"), "{error}");
    let nested = "class X:\n def f():\n  return 1\n";
    let error = refused(nested, &envelope(&format!("@@ class Y:\n@@ def f():\n{change}")));
    assert!(error.contains("is below `class Y:`"), "{error}");
    let error = refused("a\n", &envelope("@@ def a():\n+b\n"));
    assert!(error.contains("is below `def a():`"), "{error}");
    let bench = Bench::writing();
    bench.write("v", nested);
    let patch = envelope(&format!("@@ class X:\n@@  def f():\n{change}"));
    bench.call("apply_patch", json!({ "patch": patch })).done();
    assert_eq!(bench.text("v"), nested.replace('1', "2"));
}

#[test]
fn a_hunk_whose_lines_an_earlier_hunk_has_taken_goes_to_no_other_place() {
    let twice = "@@ -1,3 +1,3 @@\n a\n-x\n+X\n b\n".repeat(2);
    let error = refused("a\nx\nb\n1\n2\n3\n4\na\nx\nb\n", &unified(&twice));
    assert!(error.contains("hunk 2 of 2") && error.contains("hunk 1 changes too"), "{error}");
    let out_of_order = "@@ -4,3 +4,3 @@\n 1\n-2\n+Z\n 3\n@@ -1,3 +1,3 @@\n a\n-x\n+X\n b\n";
    let error = refused("a\nx\nb\n1\n2\n3\n4\n5\n6\na\nx\nb\n9\n", &unified(out_of_order));
    assert!(error.contains("matches only at line 1, above the end of hunk 1"), "{error}");
    refused("c\nb\nc\n", &unified(&"@@ -1 +0,0 @@\n-c\n".repeat(2)));
    // Where git and GNU patch both find the other place, it is taken: the header alone is wrong.
    let bench = Bench::writing();
    bench.write("v", "0\na\nx\nb\n1\n2\n3\n4\nc\ny\nd\n5\n");
    let hunks = "@@ -2,3 +2,3 @@\n a\n-x\n+X\n b\n@@ -2,3 +2,3 @@\n c\n-y\n+Y\n d\n";
    bench.call("apply_patch", json!({"patch": unified(hunks)})).done();
    assert_eq!(bench.text("v"), "0\na\nX\nb\n1\n2\n3\n4\nc\nY\nd\n5\n");
}

#[test]
fn a_header_that_names_different_files_is_refused() {
    let cases = [
        "diff --git a/f5 b/f6\nrename from f5\nrename to f6\n--- a/f7\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
        "diff --git a/f5 b/f6\nrename from f5\nrename to f6\n--- a/f5\n+++ b/f7\n@@ -1,2 +1,2 @@\n-a\n+A\n b\n",
        "diff --git a/f5 b/f5\ndeleted file mode 100644\n--- a/f7\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n",
        "diff --git a/n1 b/n1\nnew file mode 100644\n--- /dev/null\n+++ b/n2\n@@ -0,0 +1 @@\n+a\n",
    ];
    for patch in cases {
        let bench = Bench::writing();
        bench.write("f5", "a\nb\n");
        bench.write("f7", "a\nb\n");
        let error = bench.call("apply_patch", json!({ "patch": patch })).failed();
        assert!(error.contains("the header names"), "{error}");
        assert_eq!(bench.names(), ["f5", "f7"], "{patch}");
        assert_eq!((bench.text("f5"), bench.text("f7")), ("a\nb\n".into(), "a\nb\n".into()), "{patch}");
    }
}

#[test]
fn a_patch_of_programs_writes_through_no_link_and_needs_the_name_of_a_file() {
    let bench = Bench::writing();
    bench.write("f", "a\n");
    symlink("f", bench.path("lf")).unwrap();
    symlink("nowhere", bench.path("dangling")).unwrap();
    let fails = |patch: &str| bench.call("apply_patch", json!({ "patch": patch })).failed();
    let error = fails("--- a/lf\n+++ b/lf\n@@ -1 +1 @@\n-a\n+b\n");
    assert!(error.contains("`lf` is a symbolic link to `f`"), "{error}");
    let error = fails("--- /dev/null\n+++ b/dangling\n@@ -0,0 +1 @@\n+a\n");
    assert!(error.contains("`dangling` is a symbolic link to `nowhere`"), "{error}");
    fails("*** Begin Patch\n*** Add File: dangling\n+a\n*** End Patch\n");
    for name in ["f/", ""] {
        let error = fails(&format!("--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-a\n+b\n"));
        assert!(error.contains("it ends with `/`"), "{error}");
    }
    let error = fails("--- /dev/null\n+++ b/\n@@ -0,0 +1 @@\n+a\n");
    assert!(error.contains("it ends with `/`"), "{error}");
    let run = "diff --git a/f b/f\nold mode 100644\nnew mode 104755\n";
    let answer = bench.call("apply_patch", json!({ "patch": run })).done();
    assert!(answer.starts_with("M f +0 -0 mode 100755\n"), "{answer}");
    assert!(!answer.contains("nothing to change"), "{answer}");
    let mode = std::fs::metadata(bench.path("f")).unwrap().permissions().mode();
    assert_eq!(mode & 0o7111, 0o111);
    assert_eq!(
        (bench.text("f"), bench.names()),
        ("a\n".into(), vec!["dangling".to_string(), "f".into(), "lf".into()])
    );
}

#[test]
fn a_second_envelope_is_not_skipped_and_marks_may_have_other_blanks() {
    let one = envelope("-a\n+b\n");
    let error = refused("a\n", &format!("{one}{one}"));
    assert!(error.contains("line 6 begins a second patch"), "{error}");
    for mark in ["***  Update File: v", "*** Update File:v", "***Update File:  v "] {
        let bench = Bench::writing();
        bench.write("v", "a\n");
        let patch = format!("*** Begin Patch\n{mark}\n-a\n+b\n*** End Patch\n");
        bench.call("apply_patch", json!({ "patch": patch })).done();
        assert_eq!(bench.text("v"), "b\n", "{mark}");
    }
}

#[test]
fn agentos_says_what_was_adapted_and_how_to_send_a_patch_of_two_files() {
    let mut bench = Bench::new().speaking(ToolSet::Agentos, &ToolSetSettings::default());
    bench.mode = Mode::Write;
    bench.write("f", "x\na\ny\nx\na\ny\n");
    let patch = "@@ -9,3 +9,3 @@\n x\n-a\n+b\n y\n";
    let answer = bench.call("apply_patch", json!({"path": "f", "patch": patch})).done();
    assert!(answer.contains("\"notes\":[") && answer.contains("the nearest of 2 places"), "{answer}");
    let two = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-x\n+1\n--- a/g\n+++ b/g\n@@ -1 +1 @@\n-x\n+1\n";
    let error = bench.call("apply_patch", json!({"path": "f", "patch": two})).failed();
    assert!(error.contains("send one call for each file") && !error.contains("leave"), "{error}");
}

#[test]
fn a_list_of_operations_is_checked_item_by_item_and_a_path_has_a_length() {
    let bench = Bench::writing();
    let fails = |steps| bench.call("operations", json!({ "operations": steps })).failed();
    for item in [json!(null), json!("x")] {
        let error = fails(json!([{"op": "read", "path": "a"}, item]));
        assert!(error.contains("item 2 of `operations` must be an object, got"), "{error}");
    }
    let error = fails(json!([{"op": "create", "path": "a", "content": "", "mod": "0755"}]));
    assert!(error.contains("unknown parameter `mod` of item 1 of `operations`"), "{error}");
    let error = fails(json!([{"op": "zap", "path": "a"}]));
    assert!(error.contains("`op` of item 1 of `operations` must be one of \"read\", \"write\""), "{error}");
    let path = "d/".repeat(3000);
    let error = fails(json!([{"op": "create", "path": format!("{path}f"), "content": ""}]));
    assert!(error.contains("bytes; the system takes at most 4095"), "{error}");
    bench
        .call("operations", json!({"operations": [{"op": "create", "path": "a", "content": "", "to": null}]}))
        .done();
}
