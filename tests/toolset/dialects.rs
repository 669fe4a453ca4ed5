//! What holds in every surface: hints that can be followed, rules, one failure that is not everybody's, nothing left
//! behind.

use crate::support::binary::{Out, Place};

fn call(place: &Place, dialect: &str, tool: &str, input: &str, more: &[&str]) -> Out {
    let mut args = vec!["--mode", "write", "--dialect", dialect, "tool", "call", tool, input];
    args.extend(more);
    place.run(&args)
}

/// Story: a long result named the tool `scratchpad`, which four surfaces did not have: the rest was lost to the model.
#[test]
fn a_long_result_names_a_tool_that_is_there() {
    let place = Place::new();
    for (dialect, tool, input) in [
        ("agsh", "execute_command", r#"{"command":"seq 20000"}"#),
        ("triggerfish", "run_command", r#"{"command":"seq 20000"}"#),
        ("text-editor", "bash", r#"{"command":"seq 20000"}"#),
        ("codex", "shell", r#"{"command":["seq","20000"]}"#),
    ] {
        let out = call(&place, dialect, tool, input, &[]).stdout;
        let named = out.split("Page with ").nth(1).and_then(|rest| rest.split('(').next()).unwrap();
        let listed = place.run(["--dialect", dialect, "tool", "list"]).stdout;
        assert!(
            listed.lines().any(|line| line.split_whitespace().next() == Some(named)),
            "{dialect}: {named}"
        );
    }
}

#[test]
fn a_hint_names_tools_by_the_names_of_the_surface_or_not_at_all() {
    let place = Place::new().file("data", "\0\0\u{1}").file("a.txt", "x\n");
    let data = r#"{"file_path":"/data"}"#;
    let said = |dialect: &str, tool: &str, input: &str| call(&place, dialect, tool, input, &[]).stderr;
    assert!(said("deepagents", "read_file", data).contains("inspect it with execute,"));
    let view = r#"{"command":"view","path":"data"}"#;
    assert!(said("text-editor", "str_replace_based_edit_tool", view).contains("inspect it with bash,"));
    let nowhere = said("agsh", "read_file", r#"{"path":"nowhere"}"#);
    assert!(nowhere.contains("does not exist") && !nowhere.contains("list_directory"), "{nowhere}");
    assert!(said("agsh", "scratchpad_read", r#"{"name":"x"}"#).contains("see them with scratchpad_list()"));
    let over = r#"{"command":"create","path":"a.txt","file_text":"y"}"#;
    let over = said("text-editor", "str_replace_based_edit_tool", over);
    assert!(over.contains("view it first") && !over.contains("read_file"), "{over}");
}

/// Story: one hidden file made a whole transfer fail, where each file answers for itself.
#[test]
fn a_file_hidden_by_a_rule_fails_alone_in_a_transfer_and_a_batch() {
    let place = Place::new().file("secret", "s\n").file("a.txt", "x\n");
    let deny = ["--deny", "read(secret)"];
    let out = call(&place, "deepagents", "download_files", r#"{"paths":["/secret","/a.txt"]}"#, &deny);
    let answers: serde_json::Value = serde_json::from_str(&out.stdout).unwrap();
    assert_eq!(answers[0]["error"], "permission_denied");
    assert_eq!(answers[1]["content"], "eAo=");
    let read = |path: &str| serde_json::json!({"sBase": "app", "sPath": path, "sMode": "read"});
    let batch = serde_json::json!({"aOperations": [read("secret"), read("a.txt")]}).to_string();
    let out = call(&place, "typestack", "agent_prompt", &batch, &deny).stdout;
    let answer: serde_json::Value = serde_json::from_str(&out).unwrap();
    let flags = [0, 1].map(|n| answer["aOpResults"][n]["bSuccess"].clone());
    assert_eq!(flags, [false, true]);
    assert!(!out.contains("s\\n") && !out.contains("/./"), "{out}");
}

#[test]
fn a_rule_of_a_native_tool_holds_for_what_the_text_editor_does_with_it() {
    let place = Place::new().file("a.txt", "x\n");
    let tool = "str_replace_based_edit_tool";
    for (input, rule) in [
        (r#"{"command":"view","path":"a.txt"}"#, "read_file(a.txt)"),
        (r#"{"command":"create","path":"b.txt","file_text":"y"}"#, "write_file(b.txt)"),
        (r#"{"command":"str_replace","path":"a.txt","old_str":"x","new_str":"y"}"#, "edit_file(a.txt)"),
    ] {
        assert_eq!(call(&place, "text-editor", tool, input, &["--deny", rule]).code, 3, "{rule}");
    }
}

#[test]
fn what_a_text_editor_call_lacks_is_named_and_nothing_is_guessed() {
    let place = Place::new().file("a.txt", "x\n");
    let tool = "str_replace_based_edit_tool";
    let insert = r#"{"command":"insert","path":"a.txt","insert_text":"y"}"#;
    let out = call(&place, "text-editor", tool, insert, &[]);
    assert!(out.stderr.contains("`insert_line` is missing"), "{}", out.stderr);
    let blank = r#"{"command":"insert","path":"a.txt","insert_line":1,"insert_text":"\n"}"#;
    let out = call(&place, "text-editor", tool, blank, &[]);
    assert_eq!(out.stdout.trim_end(), "Successfully inserted 1 line after line 1.");
    let out = call(&place, "text-editor", "bash", r#"{"restart":true}"#, &[]);
    assert!(out.stderr.contains("nothing to restart"), "{}", out.stderr);
}

#[test]
fn what_is_not_there_is_an_empty_list_in_deepagents_and_no_failure() {
    let place = Place::new().file("a.txt", "x\n");
    for (tool, input, answer) in [
        ("ls", r#"{"path":"/no"}"#, "[]"),
        ("ls", r#"{"path":"/a.txt"}"#, "[]"),
        ("glob", r#"{"path":"/no","pattern":"*"}"#, "[]"),
        ("grep", r#"{"path":"/no","pattern":"x"}"#, "No matches found"),
    ] {
        let out = call(&place, "deepagents", tool, input, &[]);
        assert_eq!((out.code, out.stdout.trim_end()), (0, answer), "{tool} {input}");
    }
}

/// Story: the exec workspace of a call, and what read mode threw away, stayed in the home directory for good.
#[test]
fn what_single_calls_leave_goes_when_the_next_one_runs() {
    let place = Place::new();
    call(&place, "triggerfish", "exec.write", r#"{"path":"t.py","content":"x"}"#, &[]);
    place.run(["--mode", "read", "tool", "call", "run_command", r#"{"command":"touch q"}"#]);
    call(&place, "native", "run_command", r#"{"command":"true"}"#, &[]);
    let left = |dir: &str| std::fs::read_dir(place.home.join(dir)).map_or(0, Iterator::count);
    assert!(left(".cache/placet/scratch") <= 1 && left(".local/state/placet/views") <= 1);
}
