//! `placet -p` with the offline provider: the answers, formats, modes and exit codes; and prompts from a pipe.

use crate::support::output::{Project, snapshot, snapshots};

const GROUP: &str = "print";

#[test]
fn answers_in_every_format() {
    let cases = [
        ("help", "-p help"),
        ("not_understood", "-p 'please do something'"),
        ("read", "-p 'show notes.txt'"),
        ("read_json", "-p 'show notes.txt' --output-format json"),
        ("read_stream_json", "-p 'show notes.txt' --output-format stream-json"),
        ("several_calls", "-p 'show notes.txt and then list src and then find *.rs and then search hello'"),
        ("file_is_missing", "-p 'show nope.txt'"),
        ("too_many_requests", "-p 'show notes.txt' --max-turns 1"),
        ("other_tool_set", "-p 'show notes.txt' --dialect codex"),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn a_change_in_every_mode() {
    let cases = [
        ("mode_none", "-p 'create a.txt with \"x\"' --mode none"),
        ("mode_read", "-p 'create a.txt with \"x\"' --mode read"),
        ("mode_ask", "-p 'create a.txt with \"x\"' --mode ask"),
        ("mode_ask_json", "-p 'create a.txt with \"x\"' --mode ask --output-format json"),
        ("mode_ask_stream_json", "-p 'create a.txt with \"x\"' --mode ask --output-format stream-json"),
        ("mode_ask_dry_run", "-p 'create a.txt with \"x\"' --mode ask --dry-run"),
        ("mode_ask_apply", "-p 'create a.txt with \"x\"' --mode ask --apply"),
        ("mode_write", "-p 'create b.txt with \"x\"' --mode write"),
        ("mode_write_json", "-p 'create c.txt with \"x\"' --mode write --output-format json"),
        ("mode_unrestricted", "-p 'create d.txt with \"x\"' --mode unrestricted"),
        (
            "mode_not_permitted",
            "-p 'create e.txt with \"x\"' --mode write --set 'permission.modes=[\"read\"]'",
        ),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn calls_that_nobody_is_there_to_permit() {
    let cases = [
        ("outside", "-p 'create /opt/placet-test/a with \"x\"' --mode write"),
        ("outside_json", "-p 'create /opt/placet-test/a with \"x\"' --mode write --output-format json"),
        ("outside_stream_json", "-p 'show /etc/passwd' --output-format stream-json"),
        ("denied_by_a_rule", "-p 'show notes.txt' --deny read(notes.txt)"),
        ("denied_by_a_rule_json", "-p 'show notes.txt' --deny read(notes.txt) --output-format json"),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

#[test]
fn no_provider_and_no_key() {
    let cases = [
        ("no_provider", "-p 'show notes.txt'"),
        ("no_key", "-p hi --provider anthropic"),
        ("no_key_json", "-p hi --provider anthropic --output-format json"),
        ("no_key_stream_json", "-p hi --provider openai --output-format stream-json"),
    ];
    snapshots(GROUP, &Project::new(), &cases);
}

const BATCH: &str = r#"{"aOperations": [{"sTool": "fs", "sBase": "app", "sPath": "z.txt", "sMode": "overwrite", "sContent": "Hi"}]}"#;

#[test]
fn prompts_from_standard_input() {
    let project = Project::offline();
    for (name, line, stdin) in [
        ("stdin_dash", "-p -", "show notes.txt\n"),
        ("stdin_empty", "-p", " \n"),
        ("stdin_lines", "", "show notes.txt\nlist src\n"),
        ("stdin_lines_change", "--mode ask", "create a.txt with \"x\"\nshow a.txt\n"),
        ("stdin_shell_command", "", "/mode ask\n"),
        ("batch", "-p - --batch --mode write", BATCH),
        ("batch_wrong", "-p - --batch --mode write", "{\"aOperations\": 5}"),
    ] {
        snapshot(GROUP, name, &project.piped(line, stdin));
    }
}

#[test]
fn a_session_is_continued() {
    let project = Project::offline();
    project.prepare("-p 'save notes as x'", 0);
    snapshots(GROUP, &project, &[("continued", "-c -p 'show notes.txt'")]);
}
