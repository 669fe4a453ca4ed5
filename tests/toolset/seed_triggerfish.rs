//! The rules of Triggerfish's document, each by a test that quotes it.

use crate::support::tool_bench::Bench;
use placet::permission::{Mode, PlanModeState};
use placet::tools::{ToolSet, ToolSetSettings};
use serde_json::{Value, json};

#[test]
fn read_file_returns_the_full_text_content_of_the_file() {
    let bench = Bench::of(ToolSet::Triggerfish);
    bench.write("a.txt", "one\n\ttwo\nno end");
    assert_eq!(bench.call("read_file", json!({"path": "a.txt"})).done(), "one\n\ttwo\nno end");
    let absolute = bench.path("a.txt");
    assert_eq!(bench.call("read_file", json!({"path": absolute})).done(), "one\n\ttwo\nno end");
    assert_eq!(
        bench.call("read_file", json!({"path": "none"})).failed(),
        "Error: No such file or directory: none"
    );
    let body = bench.call("read_file", json!({})).failed();
    assert_eq!(body, "Error: read_file requires a 'path' argument (string).");
}

#[test]
fn writes_are_scoped_to_the_agents_workspace_directory() {
    let bench = Bench::of(ToolSet::Triggerfish);
    let wrote = bench.call("write_file", json!({"path": "d/a.txt", "content": "né"})).done();
    assert_eq!(wrote, "Wrote 3 bytes to d/a.txt");
    std::os::unix::fs::symlink(bench.outside("far"), bench.path("link")).unwrap();
    std::fs::create_dir(bench.outside("far")).unwrap();
    for path in ["../x.txt", "/tmp/placet-no-such-x.txt", "link/x.txt", "d/../../x.txt"] {
        let body = bench.call("write_file", json!({"path": path, "content": "x"})).failed();
        assert_eq!(body, format!("Error: No such file or directory: {path}"));
    }
    assert_eq!(std::fs::read_dir(bench.outside("far")).unwrap().count(), 0);
}

#[test]
fn edit_file_old_text_must_appear_exactly_once_in_the_file() {
    let bench = Bench::of(ToolSet::Triggerfish);
    bench.write("a.txt", "one two two\n");
    let edit = |old: &str, new: &str| json!({"path": "a.txt", "old_text": old, "new_text": new});
    assert_eq!(bench.call("edit_file", edit("three", "3")).failed(), "Error: old_text not found in file");
    assert_eq!(
        bench.call("edit_file", edit("two", "2")).failed(),
        "Error: old_text appears 2 times (must be exactly 1). Provide a larger unique snippet."
    );
    assert_eq!(bench.text("a.txt"), "one two two\n");
    let done = bench.call("edit_file", edit("one", "$& $1 $$")).done();
    assert_eq!(done, "Edited a.txt (17 bytes written)");
    assert_eq!(bench.text("a.txt"), "$& $1 $$ two two\n", "taken as it is");
    assert_eq!(
        bench.call("edit_file", edit("", "x")).failed(),
        "Error: edit_file requires a non-empty 'old_text' argument (string)."
    );
}

#[test]
fn list_directory_returns_entries_with_a_slash_suffix_for_directories() {
    let bench = Bench::of(ToolSet::Triggerfish);
    bench.write("src/main.rs", "");
    bench.write(".env", "");
    assert_eq!(bench.call("list_directory", json!({"path": "."})).done(), ".env\nsrc/");
    assert_eq!(bench.call("list_directory", json!({"path": "src"})).done(), "src/main.rs");
    std::fs::create_dir(bench.path("empty")).unwrap();
    assert_eq!(bench.call("list_directory", json!({"path": "empty"})).done(), "(empty directory)");
}

#[test]
fn search_files_matches_a_glob_for_names_or_with_content_search_the_contents() {
    let bench = Bench::of(ToolSet::Triggerfish);
    bench.write("a.rs", "fn needle() {}\n");
    bench.write("d/.hidden/b.rs", "nothing\n");
    let search =
        |pattern: &str, content: bool| json!({"path": ".", "pattern": pattern, "content_search": content});
    assert_eq!(bench.call("search_files", search("*.rs", false)).done(), "a.rs\nd/.hidden/b.rs");
    assert_eq!(bench.call("search_files", search("need.e", true)).done(), "a.rs");
    assert_eq!(bench.call("search_files", search("needle(", true)).done(), "a.rs", "text as well as regex");
    let none = bench.call("search_files", search("*.py", false)).done();
    assert_eq!(none, "No files found matching pattern.");
    assert_eq!(bench.call("search_files", search("zzz", true)).done(), "No matches found.");
}

#[test]
fn run_command_returns_stdout_stderr_and_exit_code_in_the_workspace_directory() {
    let bench = Bench::of(ToolSet::Triggerfish);
    let body = bench.call("run_command", json!({"command": "pwd; echo err >&2; exit 3"})).done();
    let mut lines = body.lines();
    assert_eq!(lines.next(), bench.root.to_str());
    assert_eq!(lines.next(), Some("err"));
    let last = lines.next().unwrap();
    assert!(last.starts_with("[exit code: 3, ") && last.ends_with("ms]"), "{last}");
    let alias = bench.call("run_command", json!({"cmd": "echo hi"})).done();
    assert!(alias.starts_with("hi\n"), "{alias}");
    bench.write("sub/a.txt", "below\n");
    bench.call("run_command", json!({"command": "cd sub && true"})).done();
    assert_eq!(
        bench.call("read_file", json!({"path": "a.txt"})).done(),
        "below\n",
        "a leading cd is followed"
    );
}

#[test]
fn a_command_denylist_blocks_dangerous_operations() {
    let settings = ToolSetSettings { denied: vec!["curl".into()], ..ToolSetSettings::default() };
    let bench = Bench::new().speaking(ToolSet::Triggerfish, &settings);
    for line in ["rm -rf /", "sudo ls", "echo x; sudo ls", "curl x"] {
        for tool in ["run_command", "exec.run"] {
            let body = bench.call(tool, json!({"command": line})).failed();
            assert_eq!(body, format!("Command denied by policy: \"{line}\""));
        }
    }
}

#[test]
fn exec_tools_work_in_a_structured_workspace_with_explicit_isolation() {
    let bench = Bench::of(ToolSet::Triggerfish);
    let wrote = bench.call("exec.write", json!({"path": "t/run.sh", "content": "echo ran\n"})).done();
    assert_eq!(wrote, "Wrote 9 bytes to t/run.sh");
    assert!(bench.names().is_empty(), "nothing of it is in the project");
    let body = bench.call("exec.run", json!({"command": "sh t/run.sh"})).done();
    assert!(body.starts_with("ran\n[exit code: 0, "), "{body}");
    assert_eq!(bench.call("exec.read", json!({"path": "t/run.sh"})).done(), "echo ran\n");
    let list: Value = serde_json::from_str(&bench.call("exec.ls", json!({"path": "t"})).done()).unwrap();
    assert_eq!(list, json!([{"name": "run.sh", "size": 9, "isDirectory": false}]));
    let body = bench.call("exec.read", json!({"path": "../../x"})).failed();
    assert_eq!(body, "Path \"../../x\" escapes the workspace directory");
}

#[test]
fn names_map_to_what_providers_accept_reversibly() {
    let bench = Bench::of(ToolSet::Triggerfish);
    let wire: Vec<String> = bench.registry.wire_specs().into_iter().map(|s| s.name).collect();
    let own = bench.registry.names();
    for name in ["exec.write", "exec.read", "exec.run", "exec.ls"] {
        let at = own.iter().position(|n| n == name).unwrap();
        assert_eq!(bench.registry.get(&wire[at]).unwrap().spec().name, name);
    }
    let fits = |name: &String| {
        name.len() <= 64 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b))
    };
    assert!(wire.iter().all(fits), "{wire:?}");
}

#[test]
fn in_plan_mode_write_file_is_blocked_until_the_plan_is_approved() {
    let mut bench = Bench::of(ToolSet::Triggerfish);
    bench.mode = Mode::Write;
    bench.write("a.txt", "x\n");
    bench.call("plan_manage", json!({"action": "enter", "goal": "tidy"})).done();
    let write = json!({"path": "a.txt", "content": "y"});
    let edit = json!({"path": "a.txt", "old_text": "x", "new_text": "y"});
    for (tool, input) in [("write_file", &write), ("edit_file", &edit)] {
        let body = bench.call(tool, input.clone()).failed();
        let words = format!(
            "Tool \"{tool}\" is blocked in plan mode. Use plan_manage(action: \"exit\") to present your implementation plan first."
        );
        assert_eq!(body, words);
    }
    // Presented and refused: still blocked. The bench says yes to whatever is asked, so the refusal is made by hand.
    bench.env.mode.plan(PlanModeState::Presented);
    let body = bench.call("write_file", write.clone()).failed();
    assert!(body.contains("waits for the person's approval"), "{body}");
    assert_eq!(bench.text("a.txt"), "x\n");
    bench.call("plan_manage", json!({"action": "exit", "plan": "write y into a.txt"})).done();
    bench.call("write_file", write).done();
    assert_eq!(bench.text("a.txt"), "y");
}
