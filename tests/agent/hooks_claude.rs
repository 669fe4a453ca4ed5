//! Hooks in the format of Claude Code, through the program: what its programs read, and what their answers do.

use super::hooks::with;
use crate::support::binary::Place;
use crate::support::mock_server::Say;
use crate::support::talk::{Talk, Wire, turn};
use placet::agent::{CallInterceptors, TurnEnding};
use placet::config::HookSettings;
use placet::hooks::{Hook, HookEnvironment, HookSet, HookSpec};
use serde_json::{Value, json};
use std::path::PathBuf;

/// A place with one hook, a program that does `body`.
fn with_hook(event: &str, matcher: &str, body: &str, more: &str) -> Place {
    let place = Place::new().file("a.txt", "alpha\n");
    let script = place.beside("hook.sh");
    std::fs::write(&script, body).unwrap();
    place.config(&format!(
        "[[hooks]]\nname = \"guard\"\nformat = \"claude\"\npoint = \"{event}\"\nmatcher = \"{matcher}\"\n\
         command = \"sh {}\"\n{more}\n",
        script.display()
    ))
}

fn heard(place: &Place) -> Value {
    serde_json::from_str(&place.read("heard.json")).unwrap()
}

#[test]
fn a_program_reads_the_names_that_it_knows_and_blocks_with_exit_code_2() {
    let body = "cat > \"$CLAUDE_PROJECT_DIR/heard.json\"; echo not for you >&2; exit 2";
    let place = with_hook("PreToolUse", "Read|Bash", body, "");
    place.reads_a().code(3).warns("denied: the hook `guard` blocks it: not for you");
    let input = heard(&place);
    assert_eq!(input["tool_name"], "Read");
    assert_eq!(input["tool_input"], json!({ "file_path": place.tree.join("a.txt") }));
    assert_eq!(
        (&input["hook_event_name"], &input["permission_mode"]),
        (&json!("PreToolUse"), &json!("plan"))
    );
    assert_eq!(input["cwd"], json!(place.tree));
    place.call("run_command", &json!({"command": "echo hi"}), &[]).code(3);
    let input = heard(&place);
    assert_eq!((&input["tool_name"], &input["tool_input"]["command"]), (&json!("Bash"), &json!("echo hi")));
    place.call("list_directory", &json!({}), &[]).code(0);
}

/// A program that protects files knows `Edit` and `Write`: no other tool that writes may pass it by.
#[test]
fn a_program_is_asked_about_each_file_of_a_call_that_writes_several() {
    let body = "grep -q 'b.txt' && { echo b is mine >&2; exit 2; }; exit 0";
    let place = with_hook("PreToolUse", "Edit|Write", body, "");
    let made = |names: &[String]| {
        let each = names.iter().map(|name| json!({"op": "create", "path": name, "content": "x"}));
        place.call("operations", &json!({"operations": each.collect::<Vec<_>>()}), &["--mode", "write"])
    };
    made(&["c.txt".into(), "d.txt".into()]).code(0);
    made(&["e.txt".into(), "b.txt".into()]).code(3).warns("the hook `guard` blocks it: b is mine");
    let patch = "*** Begin Patch\n*** Add File: b.txt\n+x\n*** End Patch";
    place.call("apply_patch", &json!({"patch": patch}), &["--mode", "write"]).code(3).warns("b is mine");
    assert!(!place.tree.join("e.txt").exists() && !place.tree.join("b.txt").exists());
    let many: Vec<String> = (0..65).map(|n| format!("n{n}.txt")).collect();
    made(&many).code(3).warns("writes 65 files, and the hook can be asked about 64 at most");
}

#[test]
fn answers_mean_what_their_format_says_and_a_broken_program_blocks() {
    let answer = |fields: &str| format!("echo '{{\"hookSpecificOutput\":{{{fields}}}}}'");
    for (body, code, words) in [
        (
            answer("\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"not today\""),
            3,
            "blocks it: not today",
        ),
        (
            answer("\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"look\""),
            3,
            "asks for a person's approval: look",
        ),
        (answer("\"permissionDecision\":\"allow\""), 0, ""),
        (answer("\"permissionDecision\":\"allow\",\"updatedInput\":{}"), 3, "it changes the arguments"),
        ("echo '{\"decision\":\"block\",\"reason\":\"old form\"}'".into(), 3, "blocks it: old form"),
        ("echo '{\"continue\":false,\"stopReason\":\"enough\"}'".into(), 3, "blocks it: enough"),
        ("echo some words".into(), 0, ""),
        ("exit 0".into(), 0, ""),
        // As the format says: reported, and nothing is blocked.
        ("echo broken >&2; exit 1".into(), 0, ""),
        // Nobody bypasses a guard by breaking it.
        ("/no/such/program".into(), 3, "it failed with exit code 127"),
        ("sleep 30".into(), 3, "it did not answer within 700 ms"),
        ("echo '{broken'".into(), 3, "its answer cannot be read"),
    ] {
        // Short only for what never answers.
        let timeout = if body.starts_with("sleep") { "timeout_ms = 700" } else { "timeout_ms = 30000" };
        let out = with_hook("PreToolUse", "", &body, timeout).reads_a().code(code);
        assert!(out.stderr.contains(words), "{body}\n{out:#?}");
    }
}

/// All hooks of this format are asked: an `allow` or `ask` of one does not hide the `deny` of another.
#[test]
fn a_later_hook_still_refuses() {
    let hook = |decision: &str| {
        let body = format!("{{\"hookSpecificOutput\":{{\"permissionDecision\":\"{decision}\"}}}}");
        format!(
            "[[hooks]]\nname = \"h-{decision}\"\nformat = \"claude\"\npoint = \"PreToolUse\"\ncommand = '''echo '{body}' '''\n"
        )
    };
    let all: Vec<String> = ["allow", "ask", "deny"].map(hook).to_vec();
    let place = Place::new().file("a.txt", "alpha\n").config(&all.concat());
    place.reads_a().code(3).warns("the hook `h-deny` blocks it");
}

#[test]
fn a_program_that_writes_without_end_is_ended() {
    for body in ["head -c 104857600 /dev/zero | tr '\\0' x", "exec yes", "yes >&2"] {
        let out = with_hook("PreToolUse", "", body, "").reads_a().code(3);
        assert!(out.stderr.contains("it wrote more than 8 MiB"), "{body}\n{out:#?}");
    }
}

#[test]
fn after_a_tool_the_words_of_a_program_follow_the_result() {
    let place = with_hook("PostToolUse", "Read", "cat > heard.json; echo run the formatter >&2; exit 2", "");
    let out = place.reads_a().code(0);
    assert!(out.stdout.contains("alpha") && out.stdout.contains("run the formatter"), "{out:#?}");
    assert!(heard(&place)["tool_response"]["content"].as_str().unwrap().contains("alpha"));
    std::fs::remove_file(place.tree.join("heard.json")).unwrap();
    place.call("read_file", &json!({"path": "missing.txt"}), &[]);
    assert!(!place.tree.join("heard.json").exists());
}

/// A conversation in this process, with these hooks.
fn talk(hooks: Vec<HookSpec>) -> Talk {
    let hooks = hooks.into_iter().map(|spec| Hook::parse(spec).unwrap()).collect();
    let programs = HookEnvironment {
        supervisor: PathBuf::from(crate::support::program::placet()),
        withheld: Vec::new(),
    };
    let gate = CallInterceptors { hooks: HookSet::new(hooks, programs), ..CallInterceptors::default() };
    Talk { gate: std::sync::Arc::new(gate), ..Talk::new(Wire::Anthropic) }
}

fn of(event: &str, format: &str) -> HookSpec {
    HookSpec {
        name: format!("h-{event}"),
        settings: HookSettings {
            point: event.into(),
            format: Some(format.into()),
            command: Some("true".into()),
            ..HookSettings::default()
        },
        ..HookSpec::default()
    }
}

#[test]
fn hooks_that_cannot_be_read_are_named() {
    let parse = |spec: HookSpec| Hook::parse(spec).err().map(|e| e.to_string()).unwrap_or_default();
    assert_eq!(parse(of("Stop", "claude")), "");
    assert!(parse(of("Stopp", "claude")).contains("the events of the format `claude` are PreToolUse"));
    assert!(parse(of("Stop", "codex")).contains("unknown format `codex`"));
    assert!(parse(with(of("Stop", "claude"), |s| s.deny = Some("x".into()))).contains("it takes only"));
    assert!(parse(with(of("Stop", "claude"), |s| s.matcher = Some("(".into()))).contains("invalid pattern"));
    assert!(
        parse(with(of("PRE_OUTPUT", ""), |s| {
            s.format = None;
            s.matcher = Some("x".into());
        }))
        .contains("matcher")
    );
}

/// The events around a conversation, as a program sees them, and what the model reads of their answers.
#[tokio::test(flavor = "multi_thread")]
async fn the_events_of_a_conversation_are_those_of_claude_code() {
    let dir = tempfile::tempdir().unwrap();
    let (log, mark) = (dir.path().join("events"), dir.path().join("once"));
    let hook = |event: &str, body: &str| {
        with(of(event, "claude"), |s| {
            s.command = Some(format!("cat >> '{0}'; echo >> '{0}'; {body}", log.display()))
        })
    };
    let once = format!(
        "if [ -e '{0}' ]; then exit 0; fi; touch '{0}'; echo check the tests >&2; exit 2",
        mark.display()
    );
    let context = "echo '{\"hookSpecificOutput\":{\"additionalContext\":\"it is Monday\"}}'";
    let hooks = vec![
        hook("SessionStart", "echo the branch is main"),
        hook("UserPromptSubmit", context),
        hook("Stop", &once),
        hook("SessionEnd", "exit 0"),
    ];
    let talk = talk(hooks);
    talk.server.push(talk.wire.reply(&[Say::Text("done")]));
    talk.server.push(talk.wire.reply(&[Say::Text("tests pass")]));
    let mut agent = talk.begin();
    assert_eq!(turn(&mut agent, "go", |_, _| {}).await, TurnEnding::Done);
    agent.end_session("other").await;
    let seen = std::fs::read_to_string(&log).unwrap();
    let seen: Vec<Value> = seen
        .lines()
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let names: Vec<&str> = seen.iter().map(|event| event["hook_event_name"].as_str().unwrap()).collect();
    assert_eq!(names, ["UserPromptSubmit", "SessionStart", "Stop", "Stop", "SessionEnd"]);
    assert_eq!((&seen[0]["prompt"], &seen[1]["source"]), (&json!("go"), &json!("startup")));
    assert_eq!((&seen[2]["stop_hook_active"], &seen[3]["stop_hook_active"]), (&json!(false), &json!(true)));
    assert_eq!(seen[3]["last_assistant_message"], "tests pass");
    let transcript = format!("{:?}", agent.transcript());
    for words in ["the branch is main", "it is Monday", "check the tests"] {
        assert!(transcript.contains(words), "{words}\n{transcript}");
    }
}

/// Story: what a hook told the model about a call was on no screen.
#[test]
fn what_a_hook_tells_the_model_about_a_call_is_shown_with_the_call() {
    let place = Place::new().file("a.txt", "alpha\n");
    let script = place.beside("hook.sh");
    let answer = r#"{"hookSpecificOutput":{"additionalContext":"format it with rustfmt"}}"#;
    std::fs::write(&script, format!("echo '{answer}'\n")).unwrap();
    let place = place.config(&format!(
        "provider = \"offline\"\n[[hooks]]\nname = \"style\"\nformat = \"claude\"\npoint = \"PostToolUse\"\ncommand = \"sh {}\"\n",
        script.display()
    ));
    place
        .run(["-p", r#"call read_file {"path":"a.txt"}"#])
        .code(0)
        .warns("note: the hook `style`: format it with rustfmt");
}
