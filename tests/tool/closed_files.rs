//! What its owner closed is closed for file tools as for every other program: directories are refused, and a read-only file
//! is a question to the person.

use crate::support::require::{has_view, require};
use crate::support::tool_bench::{Bench, Person};
use crate::support::txn::Txn;
use placet::permission::Mode;
use placet::tools::{ToolSet, ToolSetSettings};
use serde_json::{Value, json};
use std::os::unix::fs::{MetadataExt, PermissionsExt};

/// A call of each tool set that makes `n` in a directory.
fn calls(dir: &str) -> Vec<(&'static str, &'static str, Value)> {
    let path = format!("{dir}/n");
    let overwrite = json!({"sBase": "app", "sPath": path, "sMode": "overwrite", "sContent": "x"});
    vec![
        ("native", "write_file", json!({"path": path, "content": "x"})),
        ("native", "operations", json!({"operations": [{"op": "write", "path": path, "content": "x"}]})),
        (
            "native",
            "apply_patch",
            json!({"patch": format!("--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+x\n")}),
        ),
        ("agsh", "write_file", json!({"path": path, "content": "x"})),
        ("agentos", "file_write", json!({"path": path, "content": "x"})),
        ("deepagents", "write_file", json!({"file_path": format!("/{path}"), "content": "x"})),
        ("triggerfish", "write_file", json!({"path": path, "content": "x"})),
        ("typestack", "agent_prompt", json!({"aOperations": [overwrite]})),
    ]
}

/// Story: the mode of a directory was changed for the moment of a write and set back.
#[test]
fn a_file_tool_writes_where_a_program_of_the_user_can() {
    if !has_view() || !rustix::process::geteuid().is_root() || !require("setpriv") {
        return;
    }
    for mode in ["755", "555", "500", "300", "600"] {
        for dir in ["d", "d/new/deep"] {
            for (set, tool, call) in calls(dir) {
                for way in ["write", "ask"] {
                    let txn = Txn::in_dir(tempfile::TempDir::new().unwrap(), Some(1000));
                    assert_eq!(txn.sh(&txn.tree, &format!("mkdir d other; chmod {mode} d other")), 0);
                    let by_program = txn.sh(
                        &txn.tree,
                        &format!("mkdir -p other/{dir} 2>/dev/null && echo x > other/{dir}/n"),
                    ) == 0;
                    let call = call.to_string();
                    let out = txn.run(["tool", "call", tool, &call, "--dialect", set, "--mode", way]);
                    if way == "ask" {
                        txn.run(["apply"]);
                    }
                    let is_there = std::fs::symlink_metadata(txn.tree.join(dir).join("n")).is_ok();
                    assert_eq!(is_there, by_program, "{mode} {dir} {set} {tool} {way}: {out:#?}");
                    let kept = std::fs::metadata(txn.tree.join("d")).unwrap().mode() & 0o777;
                    assert_eq!(format!("{kept:o}"), mode);
                }
            }
        }
    }
}

/// Each step of a batch says for itself what is closed, and the others are done.
#[test]
fn a_closed_directory_is_the_failure_of_one_operation() {
    if !has_view() || !rustix::process::geteuid().is_root() || !require("setpriv") {
        return;
    }
    let txn = Txn::in_dir(tempfile::TempDir::new().unwrap(), Some(1000));
    assert_eq!(txn.sh(&txn.tree, "mkdir d; echo old > d/old; chmod 555 d"), 0);
    let call = json!({"atomic": false, "force": true, "operations": [
        {"op": "write", "path": "d/n", "content": "x"},
        {"op": "delete", "path": "d/old"},
        {"op": "move", "path": "d/old", "to": "moved"},
        {"op": "write", "path": "free", "content": "x"},
    ]});
    let out = txn.run(["tool", "call", "operations", &call.to_string(), "--mode", "write"]).code(0);
    assert!(out.stdout.contains("[1 done, 3 failed, 1 file changed]"), "{}", out.stdout);
    assert_eq!((txn.read("free"), txn.read("d/old")), (Some("x".into()), Some("old\n".into())));
}

/// Where the document of a tool set says that the steps of a call fail each for itself, a read-only file is no question that
/// stops the others.
#[test]
fn a_read_only_file_is_the_failure_of_its_own_step() {
    let of = |path: &str| json!({"sBase": "app", "sPath": path, "sMode": "overwrite", "sContent": "x"});
    let step = |path: &str| json!({"op": "write", "path": path, "content": "x"});
    let file = |path: &str| json!({"path": path, "content": "eA=="});
    for (set, tool, call, line) in [
        (
            ToolSet::Typestack,
            "agent_prompt",
            json!({"aOperations": [of("a"), of("locked"), of("b")]}),
            "1 of 3 operations failed",
        ),
        (
            ToolSet::Deepagents,
            "upload_files",
            json!({"files": [file("/a"), file("/locked"), file("/b")]}),
            r#"{"path":"/locked","error":"permission_denied"}"#,
        ),
        (
            ToolSet::Native,
            "operations",
            json!({"operations": [step("a"), step("locked"), step("b")], "atomic": false, "force": true}),
            "[2 done, 1 failed, 2 files changed]",
        ),
    ] {
        let mut bench = read_only().speaking(set, &ToolSetSettings::default());
        bench.person = Person::Away;
        let body = bench.call(tool, call).done();
        assert!(body.contains(line), "{set}: {body}");
        let read = |name: &str| bench.text(name);
        assert_eq!((read("a"), read("locked"), read("b")), ("x".into(), "old\n".into(), "x".into()), "{set}");
    }
}

fn read_only() -> Bench {
    let bench = Bench::writing();
    let path = bench.write("locked", "old\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o444)).unwrap();
    bench.call("read_file", json!({"path": "locked"})).done();
    bench
}

#[test]
fn a_read_only_file_is_a_question_in_write_mode() {
    let patch = "--- a/locked\n+++ b/locked\n@@ -1 +1 @@\n-old\n+new\n";
    for (tool, call) in [
        ("edit_file", json!({"path": "locked", "old_string": "old", "new_string": "new"})),
        ("write_file", json!({"path": "locked", "content": "new\n"})),
        ("operations", json!({"operations": [{"op": "write", "path": "locked", "content": "new\n"}]})),
        ("apply_patch", json!({"patch": patch})),
    ] {
        let mut bench = read_only();
        bench.person = Person::Away;
        let refused = bench.call(tool, call.clone()).failed();
        assert_eq!(bench.text("locked"), "old\n", "{tool}: {refused}");
        bench.person = Person::SaysYes;
        bench.call(tool, call.clone()).done();
        assert_eq!(bench.text("locked"), "new\n", "{tool}");
        assert_eq!(std::fs::metadata(bench.path("locked")).unwrap().mode() & 0o777, 0o444);
        // In ask mode the question is that about the change.
        let mut bench = read_only();
        bench.mode = Mode::Ask;
        bench.person = Person::Away;
        bench.call(tool, call).done();
        assert_eq!(bench.text("locked"), "old\n");
    }
}

/// A permit for a file that could be written is none for the same file once it is read-only.
#[test]
fn a_file_that_became_read_only_after_the_preview_is_not_written() {
    let bench = Bench::writing();
    bench.write("f", "old\n");
    bench.call("read_file", json!({"path": "f"})).done();
    let edit = json!({"path": "f", "old_string": "old", "new_string": "new"});
    let got = bench.call_with("edit_file", edit, |root| {
        std::fs::set_permissions(root.join("f"), std::fs::Permissions::from_mode(0o444)).unwrap();
    });
    assert!(got.failed().contains("read-only"));
    assert_eq!(bench.text("f"), "old\n");
}
