//! The verdicts about many command lines, as one snapshot: a change of a table, of the parser or of a check shows each
//! verdict that changes. `verdict_lines.txt` has one line each, with `\n` for a line end.

use super::*;
use placet_text::conversation::CallId;
use std::path::PathBuf;

/// The verdict, the reason and the offer of "always", then each command of the line with what decides about it, then
/// the files that the line reads and writes according to classification.
fn verdict(policy: &Policy, line: &str) -> String {
    let home = std::path::Path::new("/home/me");
    let cwd = home.join("p/w");
    let access = Access::Run { command: line.into(), cwd: cwd.clone(), confined: false };
    let explained = policy.explain("run_command", &access);
    let mut out = format!("{}: {}", explained.verdict, explained.reason);
    if let Some(typed) = explained.typed {
        out.push_str(&format!(" | type {typed}"));
    }
    let call = CallId::new("c");
    if let Decision::Ask(question) = policy.decide(&call, "run_command", vec![access.clone()])
        && let Some(pattern) = question.pattern
    {
        out.push_str(&format!(" | always {}", pattern.describe()));
    }
    for part in explained.segments {
        out.push_str(&format!(" | {} = {}", part.command, part.by));
    }
    let (reads, writes) = parsed_command::ParsedCommand::read("run_command", &access, Some(home))
        .map(|parsed| parsed.files())
        .unwrap_or_default();
    for (name, paths) in [("reads", reads), ("writes", writes)] {
        let shown = |path: &PathBuf| path.strip_prefix(&cwd).unwrap_or(path).display().to_string();
        let shown: Vec<String> = paths.iter().map(shown).collect();
        if !shown.is_empty() {
            out.push_str(&format!(" | {name} {}", shown.join(" ")));
        }
    }
    // The reason of nearly all of them.
    out.replace("outside the copy-on-write view the command would change files at once (ask mode)", "-")
        .replace("no rule or grant matches", "-")
        .replace('\n', "\\n")
}

fn unescaped(line: &str) -> String {
    line.replace("\\\\", "\0").replace("\\n", "\n").replace('\0', "\\")
}

#[test]
fn each_line_has_the_verdict_it_always_had() {
    let policy = Policy::new(ModeCell::new(Mode::Ask), Vec::new(), vec![PathBuf::from("/home/me/p/w")])
        .at_home(Some("/home/me".into()));
    let lines = include_str!("verdict_lines.txt").lines();
    let verdicts: Vec<String> =
        lines.map(|line| format!("{line}\n    {}\n", verdict(&policy, &unescaped(line)))).collect();
    assert!(verdicts.len() > 1000);
    insta::assert_snapshot!(verdicts.concat());
}
