//! The native tools: what is shown of them, and calls with right and wrong arguments.

use crate::support::output::{Project, snapshot, snapshots};

const GROUP: &str = "tools";

#[test]
fn the_tools_and_their_parameters() {
    let project = Project::offline();
    let cases = [("list", "tool list"), ("list_of_another_tool_set", "tool list --dialect codex")];
    snapshots(GROUP, &project, &cases);
    let cases = [
        ("show_read_file", "read_file"),
        ("show_edit_file", "edit_file"),
        ("show_write_file", "write_file"),
        ("show_apply_patch", "apply_patch"),
        ("show_operations", "operations"),
        ("show_list_directory", "list_directory"),
        ("show_find_files", "find_files"),
        ("show_search_contents", "search_contents"),
        ("show_job", "job"),
        ("show_scratchpad", "scratchpad"),
        ("show_todo", "todo"),
        ("show_ask_person", "ask_person"),
        ("show_agent", "agent"),
        ("show_skill", "skill"),
        ("show_remember", "remember"),
        ("show_unknown", "nope"),
    ];
    for (name, tool) in cases {
        snapshot(GROUP, name, &project.run(&format!("tool show {tool}")));
    }
}

#[test]
fn calls_that_read() {
    let project = Project::offline();
    let cases = [
        ("read_file", r#"tool call read_file '{"path":"notes.txt"}'"#),
        ("read_file_part", r#"tool call read_file '{"path":"src/main.rs","offset":1,"limit":1}'"#),
        ("read_file_pattern", r#"tool call read_file '{"path":"notes.txt","pattern":"t"}'"#),
        ("list_directory", "tool call list_directory {}"),
        ("find_files", r#"tool call find_files '{"pattern":"*.rs"}'"#),
        ("find_files_none", r#"tool call find_files '{"pattern":"*.go"}'"#),
        ("search_contents", r#"tool call search_contents '{"pattern":"hello"}'"#),
        ("search_contents_none", r#"tool call search_contents '{"pattern":"nothing"}'"#),
        ("scratchpad_list", r#"tool call scratchpad '{"action":"list"}'"#),
        ("job_list", r#"tool call job '{"action":"list"}'"#),
        ("todo", r#"tool call todo '{"items":[{"text":"look","status":"pending"}]}'"#),
        ("ask_person", r#"tool call ask_person '{"question":"Which?","choices":["a","b"]}'"#),
        ("agent", r#"tool call agent '{"task":"look"}'"#),
    ];
    snapshots(GROUP, &project, &cases);
}

#[test]
fn calls_that_write() {
    let cases = [
        ("write_file", r#"tool call write_file '{"path":"a.txt","content":"x\n"}' --mode write"#),
        (
            "edit_file",
            r#"tool call edit_file '{"path":"notes.txt","old_string":"one","new_string":"1","force":true}' --mode write"#,
        ),
        (
            "apply_patch",
            r#"tool call apply_patch '{"patch":"--- a/src/main.rs\n+++ b/src/main.rs\n@@ -1 +1 @@\n-fn main() {\n+fn main()  {\n"}' --mode write"#,
        ),
        (
            "operations",
            r#"tool call operations '{"operations":[{"op":"copy","path":"notes.txt","to":"b.txt"},{"op":"delete","path":"a.txt"}],"force":true}' --mode write"#,
        ),
        ("write_file_in_ask_mode", r#"tool call write_file '{"path":"c.txt","content":"x\n"}' --mode ask"#),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn wrong_arguments() {
    let cases = [
        ("call_unknown_tool", "tool call nope {}"),
        ("call_no_json", "tool call read_file {"),
        ("call_no_object", "tool call read_file []"),
        ("call_unknown_parameter", r#"tool call read_file '{"path":"notes.txt","ofset":1}'"#),
        ("call_wrong_type", r#"tool call read_file '{"path":5}'"#),
        ("call_wrong_choice", r#"tool call job '{"action":"stop"}'"#),
        ("read_file_without_path", "tool call read_file {}"),
        ("read_file_missing", r#"tool call read_file '{"path":"note.txt"}'"#),
        ("read_file_directory", r#"tool call read_file '{"path":"src"}'"#),
        ("read_file_past_the_end", r#"tool call read_file '{"path":"notes.txt","offset":9}'"#),
        (
            "edit_file_not_read",
            r#"tool call edit_file '{"path":"notes.txt","old_string":"one","new_string":"1"}' --mode write"#,
        ),
        (
            "edit_file_not_found",
            r#"tool call edit_file '{"path":"notes.txt","old_string":"zzz","new_string":"1","force":true}' --mode write"#,
        ),
        (
            "edit_file_found_twice",
            r#"tool call edit_file '{"path":"notes.txt","old_string":"o","new_string":"1","force":true}' --mode write"#,
        ),
        (
            "edit_file_same_text",
            r#"tool call edit_file '{"path":"notes.txt","old_string":"one","new_string":"one","force":true}' --mode write"#,
        ),
        (
            "write_file_exists",
            r#"tool call write_file '{"path":"notes.txt","content":"x","mode":"create"}' --mode write"#,
        ),
        ("write_file_not_read", r#"tool call write_file '{"path":"notes.txt","content":"x"}' --mode write"#),
        ("apply_patch_no_patch", r#"tool call apply_patch '{"patch":"x"}' --mode write"#),
        (
            "apply_patch_does_not_fit",
            r#"tool call apply_patch '{"patch":"--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-zero\n+1\n"}' --mode write"#,
        ),
        (
            "operations_unknown_operation",
            r#"tool call operations '{"operations":[{"op":"nope","path":"x"}]}' --mode write"#,
        ),
        (
            "operations_missing_file",
            r#"tool call operations '{"operations":[{"op":"delete","path":"nope"}]}' --mode write"#,
        ),
        ("list_directory_missing", r#"tool call list_directory '{"path":"nope"}'"#),
        ("list_directory_file", r#"tool call list_directory '{"path":"notes.txt"}'"#),
        ("find_files_wrong_glob", r#"tool call find_files '{"pattern":"["}'"#),
        ("search_contents_wrong_regex", r#"tool call search_contents '{"pattern":"("}'"#),
        ("run_command_without_command", "tool call run_command {}"),
        ("job_unknown", r#"tool call job '{"action":"output","job":7}'"#),
        ("scratchpad_without_path", r#"tool call scratchpad '{"action":"load","name":"x"}'"#),
        ("scratchpad_unknown", r#"tool call scratchpad '{"action":"show","name":"x"}'"#),
        ("todo_wrong_status", r#"tool call todo '{"items":[{"text":"look","status":"later"}]}'"#),
        ("ask_person_without_question", "tool call ask_person {}"),
        ("agent_without_task", "tool call agent {}"),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn calls_that_are_refused() {
    let cases = [
        ("refused_in_mode_none", r#"tool call read_file '{"path":"notes.txt"}' --mode none"#),
        ("refused_in_read_mode", r#"tool call write_file '{"path":"a.txt","content":"x"}'"#),
        ("refused_outside", r#"tool call read_file '{"path":"/etc/passwd"}'"#),
        ("refused_by_a_rule", r#"tool call read_file '{"path":"notes.txt"}' --deny read(notes.txt)"#),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}
