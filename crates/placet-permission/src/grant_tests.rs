//! Grants and permits: what a yes covers, for how long, and under which name it is recorded.

use super::*;

#[test]
fn a_grant_covers_what_it_says_and_no_more() {
    let mut policy = policy(Mode::Ask, &[]);
    policy.remember(Grant::Command { command: "make".into(), cwd: "/w".into() });
    policy.remember(Grant::ReadBelow("/opt/docs".into()));
    assert_eq!(answer(&policy, "run_command", run("make")), "allow");
    assert_eq!(answer(&policy, "run_command", run("make install")), "ask");
    assert_eq!(answer(&policy, "read_file", read("/opt/docs/a/b")), "allow");
    assert_eq!(answer(&policy, "read_file", read("/opt/docsx")), "ask");
    assert_eq!(answer(&policy, "edit_file", write("/opt/docs/a")), "ask");
}

#[test]
fn an_always_for_hosts_covers_exactly_these_hosts_until_the_session_ends() {
    let network = |host: &str| Access::Network { host: host.into() };
    let confined = || Access::Run { command: "npm ci".into(), cwd: "/w".into(), confined: true };
    let decide = |policy: &Policy, reach: Vec<Access>| policy.decide(&CallId::new("c"), "run_command", reach);
    let mut policy = policy(Mode::Ask, &[]);
    let both = || vec![confined(), network("npm.example"), network("localhost:4873")];
    let Decision::Ask(question) = decide(&policy, both()) else { panic!("asks") };
    let always = question.always.unwrap();
    assert_eq!(always.describe(), "commands connecting to npm.example and localhost:4873");
    policy.remember(always);
    for reach in [both(), vec![confined(), network("npm.example")]] {
        assert!(matches!(decide(&policy, reach), Decision::Allow(_)));
    }
    for host in ["npm.example:8443", "x.npm.example", "*", "localhost:80"] {
        assert!(matches!(decide(&policy, vec![confined(), network(host)]), Decision::Ask(_)), "{host}");
    }
    assert_eq!(answer(&policy, "fetch_url", Access::Fetch { host: "npm.example".into() }), "ask");
    // Ports are granted in the same way, and no answer covers a port and a host.
    let publish = |port: u16| Access::Publish { port };
    let Decision::Ask(question) = decide(&policy, vec![confined(), publish(8123), publish(80)]) else {
        panic!("asks")
    };
    let always = question.always.unwrap();
    assert_eq!(always.describe(), "commands publishing port 8123 and 80");
    policy.remember(always);
    assert!(matches!(decide(&policy, vec![confined(), publish(80)]), Decision::Allow(_)));
    assert!(matches!(decide(&policy, vec![confined(), publish(81)]), Decision::Ask(_)));
    let Decision::Ask(question) = decide(&policy, vec![publish(81), network("a.example")]) else {
        panic!("asks")
    };
    assert_eq!(question.always, None);
    // A command that would ask for itself, too, has no answer that covers both.
    let Decision::Ask(question) = decide(&policy, vec![run("make"), network("a.example")]) else {
        panic!("asks")
    };
    assert_eq!(question.always, None);
}

#[test]
fn an_always_for_a_server_covers_its_tool_and_its_hosts_and_no_other_server() {
    let tool = |server: &str| Access::ServerTool {
        server: server.into(),
        tool: "look".into(),
        confined: false,
        vouched: false,
        changed: false,
    };
    let network =
        |server: &str, host: &str| Access::ServerNetwork { server: server.into(), host: host.into() };
    let decide = |policy: &Policy, reach: Vec<Access>| policy.decide(&CallId::new("c"), "s__look", reach);
    let mut policy = policy(Mode::Ask, &[]);
    let all = || vec![tool("s"), network("s", "pypi.org"), network("s", "files.pythonhosted.org")];
    let Decision::Ask(question) = decide(&policy, all()) else { panic!("asks") };
    let always = question.always.unwrap();
    assert_eq!(
        always.describe(),
        "mcp(s.look), with any arguments; the server s connecting to pypi.org; the server s connecting to \
         files.pythonhosted.org"
    );
    policy.remember(always);
    assert!(matches!(decide(&policy, all()), Decision::Allow(_)));
    for reach in [tool("other"), network("other", "pypi.org"), network("s", "example.org")] {
        assert!(matches!(decide(&policy, vec![reach.clone()]), Decision::Ask(_)), "{reach:?}");
    }
    assert_eq!(answer(&policy, "run_command", Access::Network { host: "pypi.org".into() }), "ask");
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
fn a_pattern_grant_covers_commands_of_its_kind_in_the_workspace() {
    let mut policy = policy(Mode::Ask, &[]);
    let line = "cd app && npm test 2>&1 | tail -5";
    let Decision::Ask(question) = policy.decide(&CallId::new("c"), "run_command", vec![run(line)]) else {
        panic!("asks")
    };
    assert_eq!(question.pattern, Some(Grant::Pattern { patterns: vec!["npm test *".into()] }));
    assert_eq!(question.pattern.as_ref().map(Grant::describe).as_deref(), Some("run(npm test *)"));
    policy.remember(question.pattern.unwrap());
    for line in [line, "cd app && npm test 2>&1 | tail -20", "npm test -- --watch", "timeout 9 npm test"] {
        assert_eq!(answer(&policy, "run_command", run(line)), "allow", "{line}");
    }
    for line in
        ["cd app && npm publish", "cd /x && npm test", "cd $X && npm test", "npm test; x", "A=b npm test"]
    {
        assert_eq!(answer(&policy, "run_command", run(line)), "ask", "{line}");
    }
}

#[test]
fn what_is_offered_for_always_says_what_would_be_stored() {
    let policy = policy(Mode::Write, &[]);
    let offers = |line: &str| match policy.decide(&CallId::new("c"), "run_command", vec![run(line)]) {
        Decision::Ask(q) => (q.always.is_some(), q.pattern.map(|p| p.describe())),
        _ => panic!("{line}"),
    };
    assert_eq!(offers("cargo test"), (true, Some("run(cargo test *)".into())));
    assert_eq!(
        offers("cargo build && npm test > o"),
        (true, Some("run(cargo build *), run(npm test *)".into()))
    );
    assert_eq!(offers("cargo test --target-dir /tmp/x1"), (false, Some("run(cargo test *)".into())));
    assert_eq!(offers("x /tmp/abc"), (false, None));
    assert_eq!(offers("kill 12345"), (false, None));
    assert_eq!(offers("curl x"), (true, None));
    assert_eq!(offers("python x.py"), (true, None));
    assert_eq!(offers("cargo test > /etc/x"), (true, None));
}

#[test]
fn a_grant_ends_when_it_says_and_can_be_taken_back() {
    let mut policy = policy(Mode::Ask, &[]);
    let start: Timestamp = "2026-01-01T10:00:00Z".parse().unwrap();
    let later = |minutes: i64| start + jiff::SignedDuration::from_mins(minutes);
    policy.at(start);
    let pattern = |p: &str| Grant::Pattern { patterns: vec![p.into()] };
    let twice = policy.give(pattern("twice"), GrantLimit::Uses(2));
    let short = policy.give(pattern("short"), GrantLimit::Until(later(10)));
    let session = policy.give(pattern("session"), GrantLimit::Session);
    assert_eq!(policy.give(pattern("session"), GrantLimit::Session), session);
    // A question about the decision uses nothing up.
    for _ in 0..3 {
        assert_eq!(policy.explain("run_command", &run("twice")).verdict, "allow");
    }
    let answers = |policy: &Policy, line: &str| answer(policy, "run_command", run(line));
    assert_eq!(
        [answers(&policy, "twice"), answers(&policy, "twice"), answers(&policy, "twice")],
        ["allow", "allow", "ask"]
    );
    assert_eq!(answers(&policy, "short; session"), "allow");
    policy.at(later(10));
    assert_eq!(answers(&policy, "short"), "ask");
    assert_eq!(answers(&policy, "session"), "allow");
    let hits: Vec<(GrantId, u32)> = policy.grants().iter().map(|g| (g.id, g.hits())).collect();
    assert_eq!(hits, [(twice, 2), (short, 1), (session, 2)]);
    assert_eq!(policy.live().map(|g| g.id).collect::<Vec<_>>(), [session]);
    assert!(policy.revoke(session) && !policy.revoke(session));
    assert_eq!(answers(&policy, "session"), "ask");
}

#[test]
fn a_permit_names_what_consented_and_a_reason_is_told() {
    let tools = vec!["run_command".to_string()];
    let rule = |text: &str, verdict, line| {
        Rule::parse(text, verdict, &format!("user file /u, line {line}"), &tools).unwrap()
    };
    let rules = vec![
        rule("run(make *)", RuleVerdict::Allow, 3),
        rule("run(npm publish *)", RuleVerdict::Deny, 4).because(Some("releases are made by CI".into())),
        rule("run(npm *)", RuleVerdict::Ask, 5).because(Some("it reaches the network".into())),
    ];
    let policy = Policy::new(ModeCell::new(Mode::Write), rules, vec![PathBuf::from("/w")]);
    let Decision::Allow(permit) = policy.decide(&CallId::new("c"), "run_command", vec![run("make a && ls")])
    else {
        panic!("allowed")
    };
    let by_rule = PermitReason::Rule { rule: "run(make *)".into(), origin: "user file /u, line 3".into() };
    assert_eq!(permit.why(), &PermitReason::Several(vec![by_rule, PermitReason::ReadOnly]));
    assert_eq!(policy.rules_and_hits().map(|(_, hits)| hits).collect::<Vec<_>>(), [1, 0, 0]);
    let told = |line: &str| policy.explain("run_command", &run(line)).reason;
    assert_eq!(
        told("npm publish"),
        "the rule `run(npm publish *)` (user file /u, line 4) denies it: releases are made by CI"
    );
    assert_eq!(told("npm ci"), "the rule `run(npm *)` (user file /u, line 5) asks: it reaches the network");
    let explained = policy.explain("run_command", &run("cd sub && timeout 5 make x; y > z")).to_string();
    insta::assert_snapshot!(explained, @r"
    ask: outside the copy-on-write view the command would change files at once (write mode)
      cd sub
        = needs no permission
      timeout 5 make x
        allow run(make *) (user file /u, line 3)
        = the rule `run(make *)` (user file /u, line 3) allows it
        make x
          allow run(make *) (user file /u, line 3)
          = the rule `run(make *)` (user file /u, line 3) allows it
      y > z
        runs in /w/sub or /w
        = no rule or grant matches
    ");
}
