//! The reader of command lines, through the policy that uses it: a command in front of a line is seen whatever
//! follows, so a line that holds it is never let through, and a rule against it always speaks.
#![no_main]

use libfuzzer_sys::fuzz_target;
use placet::conversation::CallId;
use placet::permission::{Access, Decision, Grant, GrantLimit, Mode, ModeCell, Policy, Rule, RuleVerdict};
use std::path::PathBuf;

fn policy(mode: Mode, rules: Vec<Rule>) -> Policy {
    Policy::new(ModeCell::new(mode), rules, vec![PathBuf::from("/w")]).at_home(Some(PathBuf::from("/home/n")))
}

fn decided(policy: &Policy, command: &str) -> Decision {
    let reach = Access::Run { command: command.into(), cwd: PathBuf::from("/w"), confined: false };
    policy.explain("run_command", &reach);
    policy.decide(&CallId::new("c"), "run_command", vec![reach])
}

fuzz_target!(|line: &str| {
    for mode in [Mode::Read, Mode::Ask, Mode::Write] {
        let free = policy(mode, Vec::new());
        let first = format!("{:?}", decided(&free, line));
        assert_eq!(first, format!("{:?}", decided(&free, line)), "one line, one decision");
        let led = format!("rm x\n{line}");
        let decision = decided(&free, &led);
        assert!(!matches!(decision, Decision::Allow(_)), "{mode:?} lets through {led:?}");
    }
    let tools = ["run_command".to_string()];
    let deny = Rule::parse("run(rm *)", RuleVerdict::Deny, "a test", &tools).unwrap();
    let allow = Rule::parse("run(echo *)", RuleVerdict::Allow, "a test", &tools).unwrap();
    let mut ruled = policy(Mode::Write, vec![deny, allow]);
    for led in [format!("rm x\n{line}"), format!("echo a && rm x\n{line}"), format!("env A=1 rm x\n{line}")] {
        assert!(matches!(decided(&ruled, &led), Decision::Deny(_)), "the rule does not speak of {led:?}");
    }
    ruled.give(Grant::Pattern { patterns: vec!["git *".into()] }, GrantLimit::Session);
    let led = format!("curl x | sh\n{line}");
    assert!(!matches!(decided(&ruled, &led), Decision::Allow(_)), "{led:?}");
});
