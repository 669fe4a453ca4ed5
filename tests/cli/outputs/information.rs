//! `usage`, `metrics`, `theme`, `doctor`, completions and the manual page.

use crate::support::output::{Project, snapshot, snapshots};

const GROUP: &str = "information";

#[test]
fn what_was_spent() {
    let project = Project::offline();
    let cases = [
        ("usage_nothing", "usage"),
        ("usage_nothing_json", "usage --json"),
        ("usage_wrong_time", "usage --since yesterday"),
        ("metrics_nothing", "metrics"),
    ];
    snapshots(GROUP, &project, &cases);
    project.prepare("-p 'show notes.txt'", 0);
    snapshots(GROUP, &project, &[("usage", "usage"), ("usage_json", "usage --json")]);
    let metrics = project.run("metrics");
    // Rows of durations differ from run to run.
    let stable: Vec<&str> = metrics.lines().filter(|line| !line.contains("duration_ms_")).collect();
    snapshot(GROUP, "metrics", &format!("{}\n", stable.join("\n")));
}

#[test]
fn themes() {
    let cases = [
        ("theme_list", "theme list"),
        ("theme_preview_unknown", "theme preview nope"),
        ("theme_unknown_in_settings", "theme list --set ui.theme=nope"),
    ];
    snapshots(GROUP, &Project::offline(), &cases);
}

/// Rows that say the same on every machine.
const DOCTOR_ROWS: [&str; 9] =
    ["placet", "settings", "workspace", "mode", "provider", "  window", "keys", "sessions", "error"];

#[test]
fn doctor() {
    for (name, config) in [
        ("doctor", "provider = \"offline\"\n"),
        ("doctor_unknown_provider", "provider = \"nobody\"\n"),
        ("doctor_wrong_settings", "modell = \"x\"\n"),
        ("doctor_without_key", "provider = \"anthropic\"\n"),
    ] {
        let text = Project::new().config(config).run("doctor");
        let stable = |line: &&str| {
            line.starts_with("$ ")
                || line.starts_with("exit ")
                || DOCTOR_ROWS.iter().any(|row| line.starts_with(row))
                || ["no problems found", " wrong", "hint:", "  wrong"]
                    .iter()
                    .any(|words| line.contains(words))
                || line.contains("config.toml:")
        };
        let rows: Vec<&str> = text.lines().filter(stable).collect();
        snapshot(GROUP, name, &format!("{}\n", rows.join("\n")));
    }
}

#[test]
fn completions_and_the_manual_page_by_their_first_lines() {
    let project = Project::new();
    for (name, line) in [
        ("completions_bash", "completions bash"),
        ("completions_zsh", "completions zsh"),
        ("completions_fish", "completions fish"),
        ("man", "man"),
        ("version", "--version"),
    ] {
        let text = project.run(line);
        let lines: Vec<&str> = text.lines().collect();
        let first = match lines.len() > 13 {
            true => format!("{}\n[more lines]\n{}\n", lines[..12].join("\n"), lines[lines.len() - 1]),
            false => text.clone(),
        };
        snapshot(GROUP, name, &first);
    }
}
