//! The help of every command.

use crate::support::output::{Project, snapshot};

const GROUP: &str = "help";

/// Names of snapshots and their command lines.
const COMMANDS: [(&str, &str); 85] = [
    ("session", "session"),
    ("session_list", "session list"),
    ("session_show", "session show"),
    ("session_export", "session export"),
    ("session_import", "session import"),
    ("session_prune", "session prune"),
    ("session_rename", "session rename"),
    ("session_pin", "session pin"),
    ("session_unpin", "session unpin"),
    ("session_delete", "session delete"),
    ("session_search", "session search"),
    ("tool", "tool"),
    ("tool_list", "tool list"),
    ("tool_show", "tool show"),
    ("tool_call", "tool call"),
    ("config", "config"),
    ("config_show", "config show"),
    ("config_path", "config path"),
    ("config_init", "config init"),
    ("config_trust", "config trust"),
    ("changes", "changes"),
    ("apply", "apply"),
    ("checks", "checks"),
    ("checks_list", "checks list"),
    ("checks_run", "checks run"),
    ("checks_output", "checks output"),
    ("checks_detect", "checks detect"),
    ("discard", "discard"),
    ("undo", "undo"),
    ("try", "try"),
    ("try_list", "try list"),
    ("try_rename", "try rename"),
    ("try_drop", "try drop"),
    ("try_prune", "try prune"),
    ("compare", "compare"),
    ("redo", "redo"),
    ("blame", "blame"),
    ("review", "review"),
    ("setup", "setup"),
    ("import", "import"),
    ("tour", "tour"),
    ("journal", "journal"),
    ("journal_list", "journal list"),
    ("journal_show", "journal show"),
    ("journal_prune", "journal prune"),
    ("journal_repair", "journal repair"),
    ("run", "run"),
    ("runs", "runs"),
    ("runs_page", "runs page"),
    ("runs_stop", "runs stop"),
    ("sandbox", "sandbox"),
    ("sandbox_run", "sandbox run"),
    ("permission", "permission"),
    ("permission_check", "permission check"),
    ("permission_list", "permission list"),
    ("audit", "audit"),
    ("audit_verify", "audit verify"),
    ("audit_show", "audit show"),
    ("audit_export", "audit export"),
    ("provider", "provider"),
    ("provider_list", "provider list"),
    ("provider_add", "provider add"),
    ("provider_test", "provider test"),
    ("provider_remove", "provider remove"),
    ("provider_models", "provider models"),
    ("metrics", "metrics"),
    ("metrics_serve", "metrics serve"),
    ("metrics_push", "metrics push"),
    ("mcp", "mcp"),
    ("mcp_serve", "mcp serve"),
    ("mcp_list", "mcp list"),
    ("mcp_test", "mcp test"),
    ("mcp_add", "mcp add"),
    ("mcp_remove", "mcp remove"),
    ("mcp_login", "mcp login"),
    ("mcp_logout", "mcp logout"),
    ("usage", "usage"),
    ("theme", "theme"),
    ("theme_list", "theme list"),
    ("theme_preview", "theme preview"),
    ("doctor", "doctor"),
    ("completions", "completions"),
    ("man", "man"),
    ("long", ""),
    ("short", "-h"),
];

#[test]
fn the_help_of_every_command() {
    let project = Project::new();
    let shared = options(&project.out("doctor --help").stdout);
    for (name, line) in COMMANDS {
        let line = format!("{line} --help");
        let text = project.run(line.trim_start());
        let whole = ["long", "short", "doctor"].contains(&name);
        snapshot(GROUP, name, &if whole { text } else { without(&text, &shared) });
    }
}

#[test]
fn every_command_is_in_the_list() {
    use clap::CommandFactory;
    fn walk(command: &clap::Command, path: &str, all: &mut Vec<String>) {
        for sub in command.get_subcommands() {
            let path = format!("{path} {}", sub.get_name()).trim_start().to_string();
            walk(sub, &path, all);
            all.push(path);
        }
    }
    let mut all = Vec::new();
    walk(&placet::cli::Args::command(), "", &mut all);
    for path in all {
        assert!(COMMANDS.iter().any(|(_, line)| *line == path), "{path}");
    }
}

/// The options that `doctor` has are those that every subcommand takes. They are in its snapshot alone: one changed
/// word would otherwise change sixty snapshots.
fn without(text: &str, shared: &[String]) -> String {
    let (mut out, mut left_out, mut any) = (String::new(), false, false);
    for line in text.lines() {
        if line.trim_start().starts_with('-') {
            left_out = shared.contains(&flag(line));
        } else if !line.starts_with("   ") {
            left_out = false;
        }
        if !left_out {
            // How far the descriptions are indented depends on the longest option, which may be one that is left out.
            out.push_str(line);
            out.push('\n');
        } else if !any {
            out.push_str("  [the options that every command takes]\n");
            any = true;
        }
    }
    out
}

fn options(help: &str) -> Vec<String> {
    help.lines().filter(|line| line.trim_start().starts_with('-')).map(flag).collect()
}

fn flag(line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().take(2).collect();
    words.iter().find(|word| word.starts_with("--")).unwrap_or(&words[0]).to_string()
}
