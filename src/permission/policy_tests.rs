use super::*;
use crate::permission::RuleError;
use std::path::Path;

fn policy(mode: Mode, rules: &[(&str, Verdict)]) -> Policy {
    let tools: Vec<String> =
        ["read_file", "edit_file", "run_command"].iter().map(|t| (*t).to_string()).collect();
    let rules = rules.iter().map(|(text, v)| Rule::parse(text, *v, "test", &tools).unwrap()).collect();
    Policy::new(ModeCell::new(mode), rules, vec![PathBuf::from("/w")])
}

fn read(path: &str) -> Reach {
    Reach::Read { path: path.into(), place: place(path) }
}

fn write(path: &str) -> Reach {
    Reach::Write { path: path.into(), place: place(path) }
}

fn place(path: &str) -> Place {
    match Path::new(path).strip_prefix("/w") {
        Ok(relative) if crate::permission::is_protected(relative) => Place::Protected,
        Ok(_) => Place::Inside,
        Err(_) => Place::Outside,
    }
}

fn run(command: &str) -> Reach {
    Reach::Run { command: command.into(), cwd: "/w".into(), confined: false }
}

fn answer(policy: &Policy, tool: &str, reach: Reach) -> &'static str {
    match policy.decide(&CallId::new("c"), tool, vec![reach]) {
        Decision::Allow(_) => "allow",
        Decision::Ask(_) => "ask",
        Decision::Deny(_) => "deny",
    }
}

#[test]
fn each_mode_answers_each_reach_as_the_table_says() {
    let table: [(&str, Reach, [&str; 5]); 9] = [
        ("read_file", read("/w/a"), ["deny", "allow", "allow", "allow", "allow"]),
        ("read_file", read("/etc/hosts"), ["deny", "ask", "ask", "ask", "allow"]),
        ("edit_file", write("/w/a"), ["deny", "deny", "ask", "allow", "allow"]),
        ("edit_file", write("/w/.git/config"), ["deny", "deny", "ask", "ask", "ask"]),
        ("edit_file", write("/etc/hosts"), ["deny", "deny", "ask", "ask", "allow"]),
        ("edit_file", write("/home/me/.bashrc"), ["deny", "deny", "ask", "ask", "ask"]),
        ("run_command", run("cargo test"), ["deny", "deny", "ask", "ask", "allow"]),
        ("run_command", run("rm -rf /"), ["deny", "deny", "ask", "ask", "ask"]),
        ("scratchpad", Reach::Session, ["deny", "allow", "allow", "allow", "allow"]),
    ];
    for (tool, reach, expected) in table {
        let got = Mode::ALL.map(|mode| answer(&policy(mode, &[]), tool, reach.clone()));
        assert_eq!(got, expected, "{tool} {reach:?}");
    }
}

#[test]
fn deny_beats_ask_beats_allow_in_every_order() {
    let all =
        [("read(secret)", Verdict::Deny), ("read(secret)", Verdict::Ask), ("read(secret)", Verdict::Allow)];
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
    let rules = [("run_command", Verdict::Allow), ("edit_file", Verdict::Allow)];
    assert_eq!(answer(&policy(Mode::Read, &rules), "run_command", run("ls")), "deny");
    assert_eq!(answer(&policy(Mode::Read, &rules), "edit_file", write("/w/a")), "deny");
    assert_eq!(answer(&policy(Mode::Write, &rules), "run_command", run("ls")), "allow");
}

#[test]
fn neither_a_rule_nor_a_grant_answers_for_destroyers_and_protected_files() {
    let mut policy = policy(Mode::Write, &[("run_command", Verdict::Allow), ("*", Verdict::Allow)]);
    policy.remember(Grant::Command { command: "git reset --hard".into(), cwd: "/w".into() });
    policy.remember(Grant::WriteInside);
    assert_eq!(answer(&policy, "run_command", run("git reset --hard")), "ask");
    assert_eq!(answer(&policy, "edit_file", write("/w/.envrc")), "ask");
}

#[test]
fn an_allowed_command_pattern_covers_no_second_command() {
    let policy = policy(Mode::Write, &[("run_command(cargo *)", Verdict::Allow)]);
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
            &self::policy(Mode::Unrestricted, &[("run(curl *)", Verdict::Deny)]),
            "run_command",
            run("cd x && curl y")
        ),
        "deny"
    );
}

#[test]
fn a_grant_covers_what_it_says_and_no_more() {
    let mut policy = policy(Mode::Ask, &[]);
    policy.remember(Grant::Command { command: "make".into(), cwd: "/w".into() });
    policy.remember(Grant::ReadBelow("/opt/docs".into()));
    assert_eq!(answer(&policy, "run_command", run("make")), "allow");
    assert_eq!(answer(&policy, "run_command", run("make install")), "ask");
    assert_eq!(answer(&policy, "read_file", read("/opt/docs/a/b")), "allow");
    assert_eq!(answer(&policy, "read_file", read("/opt/docsx")), "ask");
    assert_eq!(answer(&policy, "edit_file", write("/w/a")), "ask");
}

#[test]
fn what_a_permit_covers_is_what_was_decided() {
    let policy = policy(Mode::Read, &[]);
    let Decision::Allow(permit) = policy.decide(&CallId::new("c"), "read_file", vec![read("/w/a")]) else {
        panic!("reading inside is allowed")
    };
    assert!(permit.covers(&read("/w/a")));
    assert!(!permit.covers(&read("/w/b")));
    assert!(!permit.covers(&write("/w/a")));
}

#[test]
fn destroyers_are_found_behind_wrappers_and_inside_quotes() {
    for line in [
        "rm -rf \"$HOME\"",
        "rm -rf /",
        "rm -fr ~/*",
        "rm -r -f ..",
        "rm --recursive x",
        "sudo rm -rf x",
        "/bin/rm -rf x",
        "env A=b rm -rf x",
        "timeout 5 rm -rf x",
        "sh -c 'rm -rf x'",
        "bash -c \"cd x && rm -rf .\"",
        "echo $(rm -rf x)",
        "ls | xargs rm -f",
        "find / -delete",
        "find . -exec rm {} +",
        "git reset --hard",
        "git -c a=b clean -fdx",
        "git checkout -- .",
        "git checkout .",
        "git push --force",
        "git push -f origin x",
        "git branch -D main",
        "git stash drop",
        "git restore .",
        "dd if=/dev/zero of=/dev/sda",
        "mkfs.ext4 /dev/sda",
        "chmod -R 777 .",
        "\\rm -rf x",
        "true; rm -rf x",
        "true & rm -rf x",
        "`rm -rf x`",
    ] {
        assert!(danger_of(line).is_some(), "{line}");
    }
    for line in [
        "ls -la",
        "cargo test",
        "git status",
        "git log --oneline",
        "git diff",
        "grep -r rm .",
        "rm one.txt",
        "git checkout main",
        "git push",
        "find . -name x",
        "chmod +x run.sh",
    ] {
        assert_eq!(danger_of(line), None, "{line}");
    }
}

#[test]
fn a_rule_that_cannot_be_read_says_what_is_wrong() {
    let known = vec!["read_file".to_string()];
    assert!(matches!(Rule::parse("read_file(a", Verdict::Deny, "flag", &known), Err(RuleError::Shape(_))));
    assert!(matches!(Rule::parse("raed_file", Verdict::Deny, "flag", &known), Err(RuleError::Head { .. })));
    assert!(matches!(
        Rule::parse("read_file([)", Verdict::Deny, "flag", &known),
        Err(RuleError::Glob { .. })
    ));
    let rule = Rule::parse("read(.env)", Verdict::Deny, "flag", &known).unwrap();
    assert!(rule.matches("search_contents", &read("/w/sub/.env"), &[PathBuf::from("/w")]));
    assert!(!rule.matches("search_contents", &read("/w/.envrc"), &[PathBuf::from("/w")]));
    assert_eq!(rule.hides(), Some(".env"));
}
