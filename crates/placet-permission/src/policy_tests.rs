//! The answers of the policy: modes, rules and their order.

use super::*;
use crate::RuleError;
use std::path::Path;

#[path = "grant_tests.rs"]
mod grants;

fn policy(mode: Mode, rules: &[(&str, RuleVerdict)]) -> Policy {
    let tools: Vec<String> =
        ["read_file", "edit_file", "run_command"].iter().map(|t| (*t).to_string()).collect();
    let rules = rules.iter().map(|(text, v)| Rule::parse(text, *v, "test", &tools).unwrap()).collect();
    Policy::new(ModeCell::new(mode), rules, vec![PathBuf::from("/w")])
}

fn read(path: &str) -> Access {
    Access::Read { path: path.into(), place: place(path) }
}

fn write(path: &str) -> Access {
    Access::Write { path: path.into(), place: place(path) }
}

fn place(path: &str) -> AccessLocation {
    match Path::new(path).strip_prefix("/w") {
        Ok(relative) if crate::is_protected(relative) => AccessLocation::Protected,
        Ok(_) => AccessLocation::Inside,
        Err(_) => AccessLocation::Outside,
    }
}

fn run(command: &str) -> Access {
    Access::Run { command: command.into(), cwd: "/w".into(), confined: false }
}

fn answer(policy: &Policy, tool: &str, reach: Access) -> &'static str {
    match policy.decide(&CallId::new("c"), tool, vec![reach]) {
        Decision::Allow(_) => "allow",
        Decision::Ask(_) => "ask",
        Decision::Deny(_) => "deny",
    }
}

/// Story: `?` and sets compared bytes, and a deny rule let `ä.pem` through. A look-alike name is denied and not allowed.
#[test]
fn rules_match_characters_and_caution_both_forms_of_a_letter() {
    let denied = |rule: &str, path: &str| {
        let rules = [(rule, RuleVerdict::Deny)];
        answer(&policy(Mode::Ask, &rules), "read_file", read(path)) == "deny"
    };
    #[rustfmt::skip]
    let table = [
        ("read(?.pem)", "/w/\u{e4}.pem", true), ("read(?.pem)", "/w/d/\u{65e5}.pem", true),
        ("read(?.pem)", "/w/ab.pem", false), ("read([\u{e4}\u{f6}].txt)", "/w/\u{e4}.txt", true),
        ("read([\u{e4}\u{f6}].txt)", "/w/\u{fc}.txt", false), ("read(\u{e9}.key)", "/w/e\u{301}.key", true),
        ("read(e\u{301}.key)", "/w/\u{e9}.key", true), ("read(d\u{e9}/**)", "/w/de\u{301}/x", true),
    ];
    for (rule, path, expected) in table {
        assert_eq!(denied(rule, path), expected, "{rule} {path}");
    }
    let allowed = |path: &str| {
        let rules = [("read(/etc/\u{e9}.key)", RuleVerdict::Allow)];
        answer(&policy(Mode::Ask, &rules), "read_file", read(path)) == "allow"
    };
    assert!(allowed("/etc/\u{e9}.key") && !allowed("/etc/e\u{301}.key"));
}

#[test]
fn each_mode_answers_each_reach_as_the_table_says() {
    let confined = |command: &str| Access::Run { command: command.into(), cwd: "/w".into(), confined: true };
    let table: [(&str, Access, [&str; 5]); 15] = [
        ("run_command", confined("cargo test"), ["deny", "allow", "allow", "allow", "allow"]),
        // In the view its effects are applied only after a person has seen them; without a view it asks first.
        ("run_command", confined("git reset --hard"), ["deny", "allow", "allow", "allow", "ask"]),
        ("run_command", Access::Network { host: "a.b".into() }, ["deny", "deny", "ask", "ask", "allow"]),
        (
            "s__a",
            Access::ServerNetwork { server: "s".into(), host: "a.b".into() },
            ["deny", "deny", "ask", "ask", "allow"],
        ),
        ("run_command", Access::Publish { port: 8123 }, ["deny", "ask", "ask", "ask", "allow"]),
        ("edit_file", write("/w/.envrc"), ["deny", "deny", "allow", "ask", "ask"]),
        ("read_file", read("/w/a"), ["deny", "allow", "allow", "allow", "allow"]),
        ("read_file", read("/etc/hosts"), ["deny", "ask", "ask", "ask", "allow"]),
        ("edit_file", write("/w/a"), ["deny", "deny", "allow", "allow", "allow"]),
        ("edit_file", write("/w/.git/config"), ["deny", "deny", "allow", "ask", "ask"]),
        ("edit_file", write("/etc/hosts"), ["deny", "deny", "ask", "ask", "allow"]),
        ("edit_file", write("/home/me/.bashrc"), ["deny", "deny", "ask", "ask", "ask"]),
        ("run_command", run("cargo test"), ["deny", "deny", "ask", "ask", "allow"]),
        ("run_command", run("rm -rf /"), ["deny", "deny", "ask", "ask", "ask"]),
        ("scratchpad", Access::Session, ["deny", "allow", "allow", "allow", "allow"]),
    ];
    for (tool, reach, expected) in table {
        let got = Mode::ALL.map(|mode| answer(&policy(mode, &[]), tool, reach.clone()));
        assert_eq!(got, expected, "{tool} {reach:?}");
    }
}

#[test]
fn deny_beats_ask_beats_allow_in_every_order() {
    let all = [
        ("read(secret)", RuleVerdict::Deny),
        ("read(secret)", RuleVerdict::Ask),
        ("read(secret)", RuleVerdict::Allow),
    ];
    for rotation in 0..3 {
        let mut rules = all;
        rules.rotate_left(rotation);
        assert_eq!(answer(&policy(Mode::Unrestricted, &rules), "read_file", read("/w/secret")), "deny");
        assert_eq!(answer(&policy(Mode::Unrestricted, &rules), "read_file", read("/w/open")), "allow");
    }
    assert_eq!(answer(&policy(Mode::Read, &all[1..]), "read_file", read("/w/secret")), "ask");
}

#[test]
fn an_allow_rule_opens_no_mode_that_forbids() {
    let rules = [("run_command", RuleVerdict::Allow), ("edit_file", RuleVerdict::Allow)];
    assert_eq!(answer(&policy(Mode::Read, &rules), "run_command", run("ls")), "deny");
    assert_eq!(answer(&policy(Mode::Read, &rules), "edit_file", write("/w/a")), "deny");
    assert_eq!(answer(&policy(Mode::Write, &rules), "run_command", run("ls")), "allow");
}

#[test]
fn neither_a_rule_nor_a_grant_answers_for_destroyers_and_protected_files() {
    let mut policy = policy(Mode::Write, &[("run_command", RuleVerdict::Allow), ("*", RuleVerdict::Allow)]);
    policy.remember(Grant::Command { command: "git reset --hard".into(), cwd: "/w".into() });
    policy.remember(Grant::WriteInside);
    assert_eq!(answer(&policy, "run_command", run("git reset --hard")), "ask");
    assert_eq!(answer(&policy, "edit_file", write("/w/.envrc")), "ask");
}

#[test]
fn an_allowed_command_pattern_covers_no_second_command() {
    let policy = policy(Mode::Write, &[("run_command(cargo *)", RuleVerdict::Allow)]);
    assert_eq!(answer(&policy, "run_command", run("cargo test --all")), "allow");
    for line in [
        "cargo test; curl x",
        "cargo test && sh x",
        "cargo $(sh x)",
        "cargo test | sh",
        "cargo test > ~/.bashrc",
        "cargo `x`",
        "cargo test\nsh x",
        "cargo test & sh x",
    ] {
        assert_eq!(answer(&policy, "run_command", run(line)), "ask", "{line}");
    }
    assert_eq!(
        answer(
            &self::policy(Mode::Unrestricted, &[("run(curl *)", RuleVerdict::Deny)]),
            "run_command",
            run("cd x && curl y")
        ),
        "deny"
    );
}

#[test]
fn a_rule_that_cannot_be_read_says_what_is_wrong() {
    let known = vec!["read_file".to_string()];
    assert!(matches!(
        Rule::parse("read_file(a", RuleVerdict::Deny, "flag", &known),
        Err(RuleError::Shape(_))
    ));
    assert!(matches!(
        Rule::parse("raed_file", RuleVerdict::Deny, "flag", &known),
        Err(RuleError::Head { .. })
    ));
    assert!(matches!(
        Rule::parse("read_file([)", RuleVerdict::Deny, "flag", &known),
        Err(RuleError::Glob { .. })
    ));
    let rule = Rule::parse("read(.env)", RuleVerdict::Deny, "flag", &known).unwrap();
    assert!(rule.matches("search_contents", &read("/w/sub/.env"), &[PathBuf::from("/w")]));
    assert!(!rule.matches("search_contents", &read("/w/.envrc"), &[PathBuf::from("/w")]));
    assert_eq!(rule.denied_read_pattern(), Some(".env"));
}

#[test]
fn deny_wins_whatever_the_mode_the_reach_and_the_layer() {
    let reaches = [
        ("read_file", read("/w/a"), "read(a)"),
        ("read_file", read("/etc/hosts"), "read(/etc/*)"),
        ("edit_file", write("/w/a"), "write(a)"),
        ("edit_file", write("/w/.envrc"), "write(.envrc)"),
        ("run_command", run("cargo test"), "run(cargo *)"),
        ("run_command", run("ls"), "run(ls)"),
        ("run_command", run("rm -rf /"), "run(rm *)"),
        (
            "run_command",
            Access::Run { command: "cargo test".into(), cwd: "/w".into(), confined: true },
            "run(cargo *)",
        ),
        ("run_command", Access::Network { host: "a.example.com:443".into() }, "network(*.EXAMPLE.com)"),
        ("run_command", Access::Publish { port: 8123 }, "publish(81*)"),
    ];
    let layers =
        ["default", "user file /u, line 1", "project file /p, line 2", "environment X", "flag --deny"];
    for (tool, reach, pattern) in &reaches {
        for mode in Mode::ALL {
            for strict in layers {
                for loose in layers {
                    for order in 0..2 {
                        let tools = vec![(*tool).to_string()];
                        let rule = |text: &str, v, from: &str| Rule::parse(text, v, from, &tools).unwrap();
                        let mut rules = vec![
                            rule(pattern, RuleVerdict::Deny, strict),
                            rule(pattern, RuleVerdict::Ask, loose),
                            rule(pattern, RuleVerdict::Allow, loose),
                            rule("*", RuleVerdict::Allow, loose),
                        ];
                        if order == 1 {
                            rules.reverse();
                        }
                        let mut policy = Policy::new(ModeCell::new(mode), rules, vec![PathBuf::from("/w")]);
                        policy.remember(Grant::WriteInside);
                        policy.remember(Grant::Command { command: "cargo test".into(), cwd: "/w".into() });
                        policy.remember(Grant::Pattern { patterns: vec!["*".into()] });
                        assert_eq!(
                            answer(&policy, tool, reach.clone()),
                            "deny",
                            "{mode} {strict} {loose} {reach:?}"
                        );
                        let Decision::Deny(denial) =
                            policy.decide(&CallId::new("c"), tool, vec![reach.clone()])
                        else {
                            panic!("denied")
                        };
                        assert!(denial.reason.contains(strict), "{denial:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn each_verdict_of_a_rule_in_each_mode_is_as_the_table_says() {
    let confined = Access::Run { command: "make".into(), cwd: "/w".into(), confined: true };
    let publish = || Access::Publish { port: 8123 };
    let table: [(&str, Access, &str, RuleVerdict, [&str; 5]); 15] = [
        ("read_file", read("/w/a"), "read(a)", RuleVerdict::Ask, ["deny", "ask", "ask", "ask", "ask"]),
        (
            "read_file",
            read("/etc/a"),
            "read(/etc/a)",
            RuleVerdict::Allow,
            ["deny", "allow", "allow", "allow", "allow"],
        ),
        ("edit_file", write("/w/a"), "write(a)", RuleVerdict::Ask, ["deny", "deny", "ask", "ask", "ask"]),
        (
            "edit_file",
            write("/w/a"),
            "write(a)",
            RuleVerdict::Allow,
            ["deny", "deny", "allow", "allow", "allow"],
        ),
        (
            "edit_file",
            write("/w/.envrc"),
            "write(.envrc)",
            RuleVerdict::Allow,
            ["deny", "deny", "allow", "ask", "ask"],
        ),
        (
            "edit_file",
            write("/opt/a"),
            "write(/opt/**)",
            RuleVerdict::Allow,
            ["deny", "deny", "allow", "allow", "allow"],
        ),
        ("run_command", run("make"), "run(make)", RuleVerdict::Ask, ["deny", "deny", "ask", "ask", "ask"]),
        (
            "run_command",
            run("make"),
            "run(make)",
            RuleVerdict::Allow,
            ["deny", "deny", "allow", "allow", "allow"],
        ),
        (
            "run_command",
            run("rm -rf a"),
            "run(rm *)",
            RuleVerdict::Allow,
            ["deny", "deny", "ask", "ask", "ask"],
        ),
        ("run_command", confined, "run(make)", RuleVerdict::Ask, ["deny", "ask", "ask", "ask", "ask"]),
        (
            "run_command",
            Access::Network { host: "a.b".into() },
            "network(a.b)",
            RuleVerdict::Allow,
            ["deny", "deny", "allow", "allow", "allow"],
        ),
        (
            "run_command",
            Access::Network { host: "a.b".into() },
            "network(c.b)",
            RuleVerdict::Allow,
            ["deny", "deny", "ask", "ask", "allow"],
        ),
        (
            "run_command",
            publish(),
            "publish(8123)",
            RuleVerdict::Allow,
            ["deny", "allow", "allow", "allow", "allow"],
        ),
        (
            "run_command",
            publish(),
            "publish(812)",
            RuleVerdict::Allow,
            ["deny", "ask", "ask", "ask", "allow"],
        ),
        ("run_command", publish(), "run(*)", RuleVerdict::Allow, ["deny", "ask", "ask", "ask", "allow"]),
    ];
    let own = || Access::Network { host: "localhost:5432".into() };
    for (rule, expected) in [
        ("network(*)", "ask"),
        ("network", "ask"),
        ("run_command", "ask"),
        ("*", "ask"),
        ("network(local*)", "ask"),
        ("network(localhost:80)", "ask"),
        ("network(localhost:5432)", "allow"),
        ("network(LOCALHOST:*)", "allow"),
    ] {
        let policy = policy(Mode::Write, &[(rule, RuleVerdict::Allow)]);
        assert_eq!(answer(&policy, "run_command", own()), expected, "{rule}");
    }
    assert_eq!(
        answer(&policy(Mode::Write, &[("network(*)", RuleVerdict::Deny)]), "run_command", own()),
        "deny"
    );
    for (tool, reach, rule, verdict, expected) in table {
        let got = Mode::ALL.map(|mode| answer(&policy(mode, &[(rule, verdict)]), tool, reach.clone()));
        assert_eq!(got, expected, "{rule} {verdict:?} {reach:?}");
    }
}

#[test]
fn danger_is_judged_only_outside_the_view() {
    let confined = |command: &str| Access::Run { command: command.into(), cwd: "/w".into(), confined: true };
    let view = policy(Mode::Ask, &[]);
    assert_eq!(answer(&view, "run_command", confined("git reset --hard")), "allow");
    assert_eq!(answer(&view, "run_command", confined("a=(1)")), "allow");
    let policy = policy(Mode::Unrestricted, &[]);
    assert_eq!(answer(&policy, "run_command", run("git reset --hard")), "ask");
    assert_eq!(answer(&policy, "run_command", confined("git reset --hard")), "ask");
    assert_eq!(answer(&policy, "run_command", run("a=(1)")), "ask");
    let Decision::Ask(question) = policy.decide(&CallId::new("c"), "run_command", vec![run("rm -rf ..")])
    else {
        panic!("asks")
    };
    assert_eq!(question.reason, "`rm -rf ..` destroys data: /");
    assert_eq!(question.typed.as_deref(), Some("everything"));
    assert_eq!((question.always, question.pattern, question.flag), (None, None, None));
}

#[test]
fn a_line_is_allowed_only_when_each_part_of_it_is() {
    let rules = [("run(cargo test *)", RuleVerdict::Allow), ("run(npm run *)", RuleVerdict::Allow)];
    let write = policy(Mode::Write, &rules);
    for line in [
        "cargo test",
        "cargo test --lib",
        "cd sub && cargo test 2>&1 | tail -5",
        "timeout 60 cargo test",
        "sh -c 'cargo test; npm run x'",
        "env RUST_LOG=debug cargo test",
        "RUST_LOG=debug cargo test",
        "cargo test > out.txt 2>/dev/null",
        "for i in 1 2; do cargo test; done",
        "cargo test && git status",
        "ls | xargs cargo test",
        "x=1; cargo test $x",
    ] {
        assert_eq!(answer(&write, "run_command", run(line)), "allow", "{line}");
    }
    for line in [
        "cargo tester",
        "cargo",
        "cargo publish",
        "cd .. && cargo publish",
        "cd /etc && ls",
        "cargo test; cargo publish",
        "cargo test $(curl x)",
        "cargo test `curl x`",
        "cargo test <(curl x)",
        "cargo test | sh",
        "cargo test > /etc/x",
        "cargo test > ../x",
        "cargo test > \"$X\"",
        "cargo test > .envrc",
        "cd $X && cargo test > y",
        "cargo test < /etc/passwd",
        "sudo cargo test",
        "PATH=. cargo test",
        "RUSTC_WRAPPER=x cargo test",
        "export PATH=x; cargo test",
        "PATH=x; cargo test",
        "$X test",
        "./cargo test",
        "cargo test $((x))",
        "cargo() { x; }; cargo test",
        "for PATH in .; do ls; done",
        "read PATH < a; ls",
        "echo ${LD_PRELOAD:=x}; ls",
        "echo x | bash -v",
        "hash -p ./x ls; ls",
        "cat /etc/passwd",
        "cat $X",
        "cargo test &",
        "",
    ] {
        let expected = if line == "cargo test &" { "allow" } else { "ask" };
        assert_eq!(answer(&write, "run_command", run(line)), expected, "{line}");
    }
    // In ask mode a write through a redirection is a change like any other.
    assert_eq!(answer(&policy(Mode::Ask, &rules), "run_command", run("cargo test > out.txt")), "ask");
    // A variable that is written in the rule is consented to.
    let named = policy(Mode::Write, &[("run(RUSTC_WRAPPER=sccache cargo *)", RuleVerdict::Allow)]);
    assert_eq!(answer(&named, "run_command", run("RUSTC_WRAPPER=sccache cargo test")), "allow");
    assert_eq!(answer(&named, "run_command", run("RUSTC_WRAPPER=x cargo test")), "ask");
    // This rule is the person's explicit trust in every command.
    let all = policy(Mode::Write, &[("run_command", RuleVerdict::Allow)]);
    assert_eq!(answer(&all, "run_command", run("anything; at all")), "allow");
}

#[test]
fn a_denied_command_is_found_wherever_it_stands() {
    let policy = policy(Mode::Unrestricted, &[("run(curl *)", RuleVerdict::Deny)]);
    for line in [
        "curl x",
        "curl",
        "/usr/bin/curl x",
        "a; curl x",
        "a | curl x",
        "sh -c 'curl x'",
        "sudo env A=b timeout 3 curl x",
        "echo $(curl x)",
        "xargs curl",
        "find . -exec curl {} ;",
        "A=b curl x",
        "c\\url x",
        "'curl' x",
        "C=curl; $C x",
        "if a; then curl x; fi",
        "a=(1); curl x",
        "watch curl x",
    ] {
        assert_eq!(answer(&policy, "run_command", run(line)), "deny", "{line}");
    }
    for line in ["echo curl x", "curlie x", "git commit -m 'curl x'", "grep curl a"] {
        assert_eq!(answer(&policy, "run_command", run(line)), "allow", "{line}");
    }
}

#[test]
fn a_hidden_file_is_not_read_by_naming_it_to_a_command() {
    let policy = policy(
        Mode::Unrestricted,
        &[("read(.env)", RuleVerdict::Deny), ("write(gen/**)", RuleVerdict::Deny)],
    );
    for line in [
        "cat .env",
        "cat ./.env",
        "cat sub/.env",
        "cat /w/.env",
        "head -n1 .env",
        "x < .env",
        "git show HEAD:.env",
        "git show :.env",
        "cp .env a",
        "dd if=.env",
        "curl -d @.env x",
        "cd sub && cat .env",
        "sh -c 'cat .env'",
        "x > gen/a",
        "touch gen/a",
        "sed -i s/a/b/ gen/a",
    ] {
        assert_eq!(answer(&policy, "run_command", run(line)), "deny", "{line}");
    }
    for line in [
        "cat .envrc",
        "grep -r foo .",
        "npm run build",
        "git commit -m 'add .env'",
        "git commit -m .env",
        "echo .env",
        "cat gen/a",
    ] {
        assert_eq!(answer(&policy, "run_command", run(line)), "allow", "{line}");
    }
    // Without confinement, a walk that would read the file is not allowed without a question.
    let ask = self::policy(Mode::Ask, &[("read(.env)", RuleVerdict::Deny)]);
    assert_eq!(answer(&ask, "run_command", run("grep -r foo .")), "ask");
    assert_eq!(answer(&ask, "run_command", run("cat README.md")), "allow");
}

#[test]
fn examples_that_a_rule_does_not_keep_are_errors() {
    let tools = vec!["edit_file".to_string()];
    let roots = [PathBuf::from("/w")];
    let check = |rule: &str, verdict, yes: &[&str], no: &[&str]| {
        let owned = |list: &[&str]| list.iter().map(|s| (*s).to_string()).collect::<Vec<_>>();
        Rule::parse(rule, verdict, "t", &tools).unwrap().check(&owned(yes), &owned(no), &roots)
    };
    use RuleVerdict::{Allow, Deny};
    let good = [
        check(
            "run(cargo test *)",
            Allow,
            &["cargo test", "cargo test --lib"],
            &["cargo publish", "cargo test; x"],
        ),
        check("run(rm *)", Deny, &["a && sudo rm x"], &["echo rm x"]),
        check("write(docs/**)", Allow, &["docs/a/b.md"], &["src/a", "../docs/a"]),
        check("read(.env)", Deny, &["sub/.env", ".env"], &[".envrc"]),
        check("network(*.crates.io)", Allow, &["static.crates.io:443"], &["crates.io.evil.com"]),
        check("edit_file(a)", Allow, &["a"], &["b"]),
    ];
    assert!(good.iter().all(Result::is_ok), "{good:?}");
    assert_eq!(
        check("run(cargo test *)", Allow, &["cargo build"], &[]).unwrap_err().to_string(),
        "the rule `run(cargo test *)` does not match its example `cargo build`"
    );
    assert_eq!(
        check("run(cargo *)", Allow, &[], &["cargo publish"]).unwrap_err().to_string(),
        "the rule `run(cargo *)` matches `cargo publish`, its own `not_match` example"
    );
}

/// Story: in plan mode a write was refused with the advice to switch modes, which changes nothing there.
#[test]
fn a_refusal_in_plan_mode_names_the_plan_and_not_the_mode() {
    let policy = policy(Mode::Write, &[]);
    policy.mode.plan(PlanModeState::Making);
    match policy.decide(&CallId::new("c"), "edit_file", vec![write("/w/a")]) {
        Decision::Deny(denial) => {
            assert_eq!(denial.reason, "plan mode does not allow writing");
            assert!(denial.hint.contains("/plan approve"), "{}", denial.hint);
        }
        _ => panic!("allowed"),
    }
}

#[test]
fn rules_about_pages_name_hosts_and_forbidden_hosts_have_no_pages() {
    let page = |host: &str| Access::Fetch { host: host.into() };
    let rule = |text: &str, verdict| Rule::parse(text, verdict, "test", &["fetch_url".into()]).unwrap();
    let matches =
        |text: &str, verdict, host: &str| rule(text, verdict).matches("fetch_url", &page(host), &[]);
    assert!(matches("fetch(docs.rs)", RuleVerdict::Allow, "docs.rs"));
    assert!(matches("fetch_url(*.RS)", RuleVerdict::Allow, "docs.rs"));
    assert!(!matches("fetch(docs.rs)", RuleVerdict::Allow, "evil.docs.rs.example"));
    assert!(!matches("network(docs.rs)", RuleVerdict::Allow, "docs.rs"), "a rule for commands");
    assert!(matches("network(docs.rs)", RuleVerdict::Deny, "docs.rs"));
    assert!(matches("network(docs.rs)", RuleVerdict::Ask, "docs.rs"));
    assert!(!matches("fetch(*)", RuleVerdict::Allow, "localhost:8080"), "this machine has to be named");
    let policy = Policy::new(ModeCell::new(Mode::Read), Vec::new(), Vec::new());
    let Decision::Ask(question) = policy.decide(&CallId::new("c"), "fetch_url", vec![page("docs.rs")]) else {
        panic!("read mode asks about pages");
    };
    assert!(question.reason.contains("docs.rs"));
}

/// Story: the reasons of a question were the sentence that was above them already.
#[test]
fn the_reasons_of_a_question_name_the_rule_or_the_mode_and_where_it_is_changed() {
    let why = |policy: &Policy, tool: &str, reach: Access| match policy.decide(
        &CallId::new("c"),
        tool,
        vec![reach],
    ) {
        Decision::Ask(question) => {
            assert!(!question.why.contains(&question.reason), "{}", question.why);
            question.why
        }
        _ => panic!("nothing is asked"),
    };
    let ask = policy(Mode::Ask, &[("run(cargo *)", RuleVerdict::Ask)]);
    let network = why(&ask, "fetch", Access::Network { host: "a.b".into() });
    assert_eq!(
        network,
        "asked by: ask mode, because no rule and no grant allows it. Shift+Tab and /mode change the mode; a rule in `permission.allow` of the settings allows it in this mode\n"
    );
    let by_rule = why(&ask, "run_command", run("cargo test"));
    assert!(by_rule.ends_with("asked by: the rule `run(cargo *)`, set in test\n"), "{by_rule}");
    let protected = why(&policy(Mode::Write, &[]), "edit_file", write("/w/.envrc"));
    assert_eq!(protected, "asked by: write mode, each time: no rule and no grant allows this\n");
    let dangerous = why(&policy(Mode::Unrestricted, &[]), "run_command", run("rm -rf /"));
    assert!(dangerous.ends_with("asked by: every mode, because the command is dangerous\n"), "{dangerous}");
}
