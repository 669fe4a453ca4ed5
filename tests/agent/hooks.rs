//! Hooks through the program: what they decide, in which order, and that they fail closed.

use crate::support::binary::Place;
use crate::support::mock_server::Say;
use crate::support::talk::{Talk, Wire, turn};
use placet::agent::{ApprovalReply, CallInterceptors, TurnEnding, TurnEvent};
use placet::config::HookSettings;
use placet::hooks::{
    Hook, HookAction, HookContext, HookEnvironment, HookError, HookPoint, HookSet, HookSource, HookSpec,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use tokio_util::sync::CancellationToken;

/// A place whose only hook is a program that does `body`, at PRE_TOOL_CALL.
fn with_program(body: &str) -> Place {
    let place = Place::new().file("a.txt", "alpha\n");
    let script = place.beside("hook.sh");
    std::fs::write(&script, body).unwrap();
    let line = format!("sh {}", script.display());
    // Short only for what never answers.
    let timeout = if body.starts_with("sleep") { 700 } else { 30_000 };
    place.config(&format!(
        "[[hooks]]\nname = \"guard\"\npoint = \"PRE_TOOL_CALL\"\ncommand = \"{line}\"\ntimeout_ms = {timeout}\n"
    ))
}

#[test]
fn a_program_that_fails_in_any_way_blocks_and_is_named() {
    for (body, why) in [
        ("sleep 30", "it did not answer within 700 ms"),
        ("exit 3", "it failed with exit code 3"),
        ("echo broken >&2; exit 1", "it failed with exit code 1: broken"),
        ("kill -9 $$", "it failed with exit code 137"),
        ("echo hello", "its answer cannot be read"),
        ("true", "its answer cannot be read"),
        ("echo '{\"reason\":\"no decision\"}'", "its answer cannot be read"),
        ("echo '{\"decision\":\"MAYBE\"}'", "it answered `MAYBE`; expected ALLOW"),
        ("echo '{\"decision\":\"REDACT\",\"pattern\":\"a\"}'", "which does not support redaction"),
        ("/no/such/program", "it failed with exit code 127"),
    ] {
        let place = with_program(body);
        let out = place.reads_a().code(3);
        assert!(
            out.stderr.contains("the hook `guard` blocks it: ") && out.stderr.contains(why),
            "{why}\n{out:#?}"
        );
        assert!(!out.stdout.contains("alpha"), "{out:#?}");
    }
}

#[test]
fn a_program_hears_what_the_call_is_about_and_its_words_are_kept() {
    let place = with_program("cat > heard.json; echo note >&2; echo '{\"decision\":\"ALLOW\"}'");
    place.reads_a().code(0).says("alpha");
    let heard: Value = serde_json::from_str(&place.read("heard.json")).unwrap();
    assert_eq!(
        heard,
        json!({
            "hook": "PRE_TOOL_CALL", "tool": "read_file", "session_id": "", "mode": "read", "session_taint": "PUBLIC",
            "write_down_violation": "false", "resource_write_down_violation": "false",
            "resource_read_ceiling_violation": "false", "cwd": place.tree, "input": {"path": "a.txt"},
        })
    );
    let place = with_program("echo '{\"decision\":\"BLOCK\",\"reason\":\"not on Sundays\"}'");
    place.reads_a().code(3).warns("denied: the hook `guard` blocks it: not on Sundays");
}

#[test]
fn a_hook_that_wants_a_person_is_refused_by_name_where_there_is_none() {
    let place = Place::new().file("a.txt", "alpha\n").config(
        "[[hooks]]\nname = \"ask-first\"\npoint = \"PRE_TOOL_CALL\"\ntool = \"read_*\"\nask = \"\"\nreason = \"reading is private\"\n",
    );
    let out = place
        .reads_a()
        .code(3)
        .warns("denied: the hook `ask-first` asks for a person's approval: reading is private");
    assert!(out.stderr.contains("never allowed without a person"), "{out:#?}");
    // Neither a rule nor a mode answers for the person.
    place.call("read_file", &json!({"path": "a.txt"}), &["--allow", "*", "--mode", "unrestricted"]).code(3);
    place.call("list_directory", &json!({}), &[]).code(0);
}

#[test]
fn a_list_of_forbidden_words_and_a_pattern_over_an_argument() {
    let place = Place::new().file("a.txt", "alpha\n").file("b.key", "beta\n").config(
        "[[hooks]]\nname = \"words\"\npoint = \"PRE_TOOL_CALL\"\ntool = \"run_command\"\ndenylist = [\"rm -rf /\", \"sudo\"]\n\
         [[hooks]]\nname = \"keys\"\npoint = \"PRE_TOOL_CALL\"\nargument = \"path\"\ndeny = \"\\\\.key$\"\nreason = \"keys stay here\"\n",
    );
    let run = |line: &str| place.call("run_command", &json!({"command": line}), &[]);
    run("sudo ls").code(3).warns("the hook `words` blocks it: `sudo` is on its list");
    run("echo fine").code(0);
    place.reads_a().code(0);
    place
        .call("read_file", &json!({"path": "b.key"}), &[])
        .code(3)
        .warns("the hook `keys` blocks it: keys stay here");
}

#[test]
fn what_is_redacted_reaches_neither_the_model_nor_a_scratchpad_nor_the_log() {
    let place = Place::new().file("a.txt", "user admin\ntoken sk-12345\nend\n").config(
        "[tools]\ninline_bytes = 2000\n[[hooks]]\nname = \"tokens\"\npoint = \"POST_TOOL_RESPONSE\"\nredact = \"sk-[0-9]+\"\nwith = \"[token]\"\n\
         [[hooks]]\nname = \"users\"\npoint = \"POST_TOOL_RESPONSE\"\nredact = \"admin\"\n",
    );
    let out = place.reads_a().code(0);
    assert!(out.stdout.contains("user [redacted]") && out.stdout.contains("token [token]"), "{out:#?}");
    let long =
        place.call("run_command", &json!({"command": "cat a.txt; seq 1 2000; cat a.txt"}), &[]).code(0);
    assert!(long.stdout.contains("too long to show whole") && !long.stdout.contains("sk-12345"), "{long:#?}");
    // Kept whole in a scratchpad, and shown from there: redacted before it came in.
    let said = "run into scratchpad log: cat a.txt\nshow scratchpad log\n";
    let out = place.placet(["--output-format", "stream-json"]).stdin(said).go().code(0);
    assert!(out.stdout.contains("[token]") && !out.stdout.contains("sk-12345"), "{out:#?}");
    let log = std::fs::read_to_string(place.state_dir().join("audit/log.jsonl")).unwrap();
    assert!(log.contains("REDACT") && !log.contains("sk-12345"), "{log}");
    let database = std::fs::read(place.state_dir().join("placet.db")).unwrap();
    assert!(!database.windows(8).any(|w| w == b"sk-12345"), "the session store holds the token");
}

#[test]
fn a_result_may_be_withheld_or_wait_for_a_person() {
    for (effect, says) in [
        ("deny = \"alpha\"\nreason = \"too much\"", "result withheld: the hook `late` blocks it: too much"),
        ("ask = \"alpha\"", "denied: result withheld: the hook `late` asks a person"),
    ] {
        let place = Place::new().file("a.txt", "alpha\n").config(&format!(
            "[[hooks]]\nname = \"late\"\npoint = \"POST_TOOL_RESPONSE\"\ntool = \"read_file\"\n{effect}\n"
        ));
        let out = place.reads_a().code(3).warns(says);
        assert!(!out.stdout.contains("alpha"), "{out:#?}");
    }
}

#[test]
fn an_answer_is_shown_and_kept_only_as_the_hooks_leave_it() {
    let place = Place::new()
        .config("provider = \"offline\"\n[[hooks]]\npoint = \"PRE_OUTPUT\"\nredact = \"sk-[0-9]+\"\n");
    for format in ["text", "json", "stream-json"] {
        // The offline provider quotes what it does not understand.
        let out = place.run(["-p", "replace sk-777: x", "--output-format", format]).code(0);
        assert!(out.stdout.contains("replace [redacted]: x") && !out.stdout.contains("sk-777"), "{out:#?}");
    }
    let place = Place::new().config(
        "provider = \"offline\"\n[[hooks]]\nname = \"quiet\"\npoint = \"PRE_OUTPUT\"\ndeny = \"understand\"\nreason = \"say it better\"\n",
    );
    let out = place.run(["-p", "mumble"]).code(0);
    assert_eq!(out.stdout, "[placet: the answer is withheld: the hook `quiet` blocks it: say it better]\n");
    let id = place.run(["session", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_string();
    let kept = place.run(["session", "show", &id]).code(0);
    assert!(!kept.stdout.contains("I do not understand") && kept.stdout.contains("withheld"), "{kept:#?}");
}

#[test]
fn what_goes_to_the_provider_may_be_stopped_before_it_is_sent() {
    let place = Place::new().file("a.txt", "customer 4711\n").config(
        "provider = \"offline\"\n[[hooks]]\nname = \"customers\"\npoint = \"PRE_CONTEXT_INJECTION\"\ndeny = \"customer [0-9]+\"\n\
         [[hooks]]\nname = \"short\"\npoint = \"AGENT_INVOCATION\"\ndeny = \"^forbidden\"\n",
    );
    let out = place.run(["-p", "show a.txt"]).code(3);
    assert!(
        out.stderr.contains(
            "blocked: the hook `customers` blocks it at PRE_CONTEXT_INJECTION: its pattern matches"
        ),
        "{out:#?}"
    );
    assert!(out.stderr.contains("/rewind removes it"), "{out:#?}");
    place.run(["-p", "forbidden things"]).code(3).warns("blocked: the hook `short`");
    place.run(["-p", "help"]).code(0);
}

#[test]
fn the_key_of_a_provider_may_be_withheld() {
    let server = crate::support::mock_server::MockServer::start([
        crate::support::mock_server::Reply::anthropic(&[crate::support::mock_server::Say::Text("hi")]),
    ]);
    let place = Place::new().answered_by(&server);
    let config = std::fs::read_to_string(place.config_dir().join("config.toml")).unwrap();
    let hook = "[[hooks]]\nname = \"no-keys\"\npoint = \"SECRET_ACCESS\"\nargument = \"provider\"\ndeny = \"mock\"\n";
    let place = place.config(&format!("{config}{hook}"));
    place.run(["-p", "hello"]).code(3).warns("blocked: the hook `no-keys`");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn every_word_of_a_hook_is_in_the_log() {
    let place = with_program("echo '{\"decision\":\"PASS\"}'");
    place.reads_a().code(0);
    let all = place.run(["audit", "show", "--json"]).code(0);
    let hooks: Vec<(Value, Value, Value)> = all
        .lines()
        .iter()
        .filter(|e| e["kind"] == "hook")
        .map(|e| (e["tool"].clone(), e["decision"].clone(), e["why"].clone()))
        .collect();
    assert_eq!(hooks, [(json!("PRE_TOOL_CALL"), json!("ALLOW"), json!("no hook decided"))]);
}

#[test]
fn a_hook_that_cannot_be_read_leaves_placet_in_doubt() {
    for (text, says) in [
        (
            "point = \"PRE_TOOL\"\ndeny = \"x\"",
            "has the unknown point `PRE_TOOL`; the points are PRE_CONTEXT_INJECTION",
        ),
        ("point = \"PRE_TOOL_CALL\"", "must have exactly one of command, deny"),
        ("point = \"PRE_TOOL_CALL\"\ndeny = \"(\"", "has an invalid pattern"),
        ("point = \"PRE_TOOL_CALL\"\ndenny = \"x\"", "has the unknown key `denny`"),
        ("deny = \"x\"", "has a table without `point`"),
        (
            "point = \"PRE_OUTPUT\"\ntool = \"read_*\"\ndeny = \"x\"",
            "uses a field of a tool, but PRE_OUTPUT has no tool",
        ),
        (
            "point = \"PRE_OUTPUT\"\ndeny = \"x\"\nwhen = { taint = \"PUBLIC\" }",
            "uses the unknown field `taint`",
        ),
        ("point = \"PRE_TOOL_CALL\"\nredact = \"x\"", "which does not support redaction"),
    ] {
        let place = Place::new().file("a.txt", "x").config(&format!("mode = \"write\"\n[[hooks]]\n{text}\n"));
        let out = place.reads_a().code(3);
        assert!(out.stderr.contains(says), "{says}\n{out:#?}");
    }
}

#[test]
fn a_project_s_hooks_refuse_and_ask_without_trust_but_run_nothing() {
    let place = Place::new().file("a.txt", "alpha\n");
    let mark = place.beside("ran");
    place.write(
        ".placet/config.toml",
        format!(
            "[[hooks]]\nname = \"theirs\"\npoint = \"PRE_TOOL_CALL\"\ncommand = \"touch {}\"\n\
             [[hooks]]\nname = \"no-lists\"\npoint = \"PRE_TOOL_CALL\"\ntool = \"list_*\"\ndeny = \"\"\n\
             [[hooks]]\npoint = \"PRE_TOOL_CALL\"\nallow = \"\"\npriority = 9999\n",
            mark.display()
        ),
    );
    let out = place.reads_a().code(0);
    assert!(
        out.stderr
            .contains("is not trusted; ignored: hooks = [{ point = \"PRE_TOOL_CALL\", name = \"theirs\""),
        "{out:#?}"
    );
    assert!(!mark.exists());
    place.call("list_directory", &json!({}), &[]).code(3).warns("the hook `no-lists`");
    place.run(["config", "trust"]).code(0);
    place.reads_a();
    // Trusted, the one that allows all comes first.
    place.call("list_directory", &json!({}), &[]).code(0);
}

/// The hook with something else in its table.
pub(super) fn with(mut spec: HookSpec, change: impl FnOnce(&mut HookSettings)) -> HookSpec {
    change(&mut spec.settings);
    spec
}

fn spec(name: &str, priority: u64) -> HookSpec {
    HookSpec {
        name: name.into(),
        settings: HookSettings {
            point: "PRE_TOOL_CALL".into(),
            priority: Some(priority),
            ..HookSettings::default()
        },
        ..HookSpec::default()
    }
}

/// The hook that decides, and its word.
fn decided(specs: Vec<HookSpec>, context: HookContext, point: HookPoint) -> (Option<String>, &'static str) {
    let hooks = specs.into_iter().map(|s| Hook::parse(s).unwrap()).collect();
    let programs = HookEnvironment {
        supervisor: PathBuf::from(crate::support::program::placet()),
        withheld: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let ruling =
        runtime.block_on(HookSet::new(hooks, programs).decide(point, context, &CancellationToken::new()));
    (ruling.hook, ruling.action.name())
}

#[test]
fn the_highest_priority_is_asked_first_and_the_first_that_matches_decides() {
    let any = || Some(String::new());
    let hook = |name: &str, priority, word: &str| {
        let spec = spec(name, priority);
        match word {
            "deny" => with(spec, |s| s.deny = any()),
            "ask" => with(spec, |s| s.ask = any()),
            "miss" => with(spec, |s| s.deny = Some("nowhere".into())),
            _ => with(spec, |s| s.allow = any()),
        }
    };
    let foreign = |spec: HookSpec| HookSpec { source: HookSource::Project, ..spec };
    for (hooks, wanted) in [
        (vec![], (None, "ALLOW")),
        (vec![hook("a", 1, "deny"), hook("b", 2, "allow")], (Some("b"), "ALLOW")),
        (vec![hook("a", 2, "deny"), hook("b", 1, "allow")], (Some("a"), "BLOCK")),
        (vec![hook("a", 5, "ask"), hook("b", 5, "deny")], (Some("a"), "REQUIRE_APPROVAL")),
        (vec![hook("a", 9, "miss"), hook("b", 5, "deny")], (Some("b"), "BLOCK")),
        (vec![hook("a", 9, "allow"), foreign(hook("b", 1, "deny"))], (Some("b"), "BLOCK")),
        (vec![hook("a", 1, "deny"), foreign(hook("b", 9, "allow"))], (Some("a"), "BLOCK")),
        (vec![hook("a", 1, "deny"), foreign(hook("b", 9, "ask"))], (Some("a"), "BLOCK")),
    ] {
        let context = HookContext { tool: Some("t".into()), ..HookContext::default() };
        let (name, word) = decided(hooks, context, HookPoint::PreToolCall);
        assert_eq!((name.as_deref(), word), wanted);
    }
}

#[test]
fn a_hook_may_look_at_an_argument_at_the_tool_and_at_the_context() {
    let context = || HookContext {
        tool: Some("run_command".into()),
        input: json!({"command": "ls -l", "deep": {"er": 3}}),
        session_taint: "INTERNAL".into(),
        ..HookContext::default()
    };
    let base = || with(spec("h", 1), |s| s.deny = Some(String::new()));
    let when = |key: &str, value: &str| vec![(key.to_string(), value.to_string())];
    for (spec, word) in [
        (with(base(), |s| s.tool = Some("run_*".into())), "BLOCK"),
        (with(base(), |s| s.tool = Some("read_*".into())), "ALLOW"),
        (
            with(base(), |s| {
                s.argument = Some("command".into());
                s.deny = Some("^ls".into());
            }),
            "BLOCK",
        ),
        (
            with(base(), |s| {
                s.argument = Some("path".into());
                s.deny = Some("".into());
            }),
            "ALLOW",
        ),
        (
            with(base(), |s| {
                s.argument = Some("deep.er".into());
                s.deny = Some("^3$".into());
            }),
            "BLOCK",
        ),
        (with(base(), |s| s.when = when("session_taint", "INTERNAL")), "BLOCK"),
        (with(base(), |s| s.when = when("session_taint", "PUBLIC")), "ALLOW"),
        (with(base(), |s| s.when = when("write_down_violation", "true")), "ALLOW"),
    ] {
        assert_eq!(decided(vec![spec.clone()], context(), HookPoint::PreToolCall).1, word, "{spec:?}");
    }
    assert_eq!(decided(vec![base()], context(), HookPoint::McpToolCall).1, "ALLOW");
}

#[test]
fn redactions_add_up_and_what_blocks_afterwards_sees_what_they_left() {
    let redact = |pattern: &str| {
        with(spec(pattern, 9), |s| {
            s.point = "PRE_OUTPUT".into();
            s.redact = Some(pattern.into());
            s.with = Some("-".into());
        })
    };
    let context = HookContext { text: Some("one two".into()), ..HookContext::default() };
    let deny = with(spec("deny", 1), |s| {
        s.point = "PRE_OUTPUT".into();
        s.deny = Some("two".into());
    });
    let hooks = vec![redact("one"), redact("two"), deny];
    let parsed = hooks.into_iter().map(|s| Hook::parse(s).unwrap()).collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let hooks = HookSet::new(parsed, HookEnvironment::default());
    let ruling = runtime.block_on(hooks.decide(HookPoint::PreOutput, context, &CancellationToken::new()));
    assert!(matches!(ruling.action, HookAction::Redact(_)), "{ruling:?}");
    assert_eq!(ruling.redact("one two three"), "- - three");
}

#[test]
fn a_hook_with_two_effects_is_none() {
    let both = with(spec("both", 1), |s| {
        s.deny = Some("a".into());
        s.ask = Some("b".into());
    });
    assert_eq!(Hook::parse(both).err(), Some(HookError::Effect { hook: "both".into() }));
}

/// A conversation in this process, with these hooks.
fn talk(hooks: Vec<HookSpec>) -> Talk {
    let hooks = hooks.into_iter().map(|s| Hook::parse(s).unwrap()).collect();
    let programs = HookEnvironment {
        supervisor: PathBuf::from(crate::support::program::placet()),
        withheld: Vec::new(),
    };
    let gate = CallInterceptors { hooks: HookSet::new(hooks, programs), ..CallInterceptors::default() };
    Talk { gate: std::sync::Arc::new(gate), ..Talk::new(Wire::Anthropic) }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hook_that_wants_a_person_asks_them_and_their_yes_runs_the_call() {
    for (reply, ran) in [(ApprovalReply::Yes, 1), (ApprovalReply::No(String::new()), 0)] {
        let ask = with(spec("careful", 1), |s| {
            s.ask = Some(String::new());
            s.reason = Some("look first".into());
        });
        let talk = talk(vec![ask]);
        talk.server.push(talk.wire.reply(&[Say::Call("c", "probe", r#"{"name":"p"}"#)]));
        talk.server.push(talk.wire.reply(&[Say::Text("done")]));
        let mut asked = Vec::new();
        let mut agent = talk.begin();
        let ending = turn(&mut agent, "go", |event, _| {
            if let TurnEvent::Question(question) = event {
                asked.push((question.reason.clone(), question.always.clone(), question.flag.clone()));
                question.reply.send(reply.clone()).unwrap();
            }
        });
        assert_eq!(ending.await, TurnEnding::Done);
        let reason = "the hook `careful` asks for a person's approval: look first".to_string();
        assert_eq!((asked, talk.ran().len()), (vec![(reason, None, None)], ran));
        talk.is_lawful();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn text_is_held_back_until_hooks_have_seen_all_of_it() {
    let redact = with(spec("late", 1), |s| {
        s.point = "PRE_OUTPUT".into();
        s.redact = Some("se.ret".into());
    });
    let talk = talk(vec![redact]);
    talk.server.push(talk.wire.reply(&[Say::Text("the secret is out")]));
    let mut shown = Vec::new();
    let mut agent = talk.begin();
    let ending = turn(&mut agent, "go", |event, _| {
        if let TurnEvent::Text(text) = event {
            shown.push(text);
        }
    });
    assert_eq!(ending.await, TurnEnding::Done);
    assert_eq!(shown, ["the [redacted] is out"]);
    assert!(!talk.stored().last().unwrap().to_string().contains("secret"));
}
