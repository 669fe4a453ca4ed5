//! codex: `~/.codex/config.toml`, `~/.codex/hooks.json`, `~/.codex/rules/*.rules` and `~/.codex/prompts`, or the same in
//! a project's `.codex`.

use super::command_files::{self, CommandForm};
use super::hooks;
use super::plain_text::check_address;
use super::proposal::{ImportProposal, pairs, texts};
use super::rules;
use super::servers::{ForeignServer, client_id, server_rule};
use super::skip_reason::SkipReason;
use crate::permission::RuleVerdict;
use crate::text::regular_file;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The largest file of rules.
const RULES: u64 = 1 << 20;
/// What is read of a server.
const SERVER_KEYS: [&str; 18] = [
    "command",
    "args",
    "env",
    "env_vars",
    "cwd",
    "url",
    "http_headers",
    "env_http_headers",
    "bearer_token_env_var",
    "oauth",
    "enabled",
    "tool_timeout_sec",
    "startup_timeout_sec",
    "startup_timeout_ms",
    "enabled_tools",
    "disabled_tools",
    "default_tools_approval_mode",
    "tools",
];

pub(super) fn propose(out: &mut ImportProposal, config: &Path) {
    let own = std::env::var_os("CODEX_HOME").map_or_else(|| out.home.join(".codex"), PathBuf::from);
    let dir = if out.is_project() { out.root.join(".codex") } else { own };
    let path = dir.join("config.toml");
    if let Some(value) = out.file(&path) {
        settings(&value, &path, out);
    }
    let path = dir.join("hooks.json");
    if let Some(value) = out.file(&path) {
        hooks::propose(value.get("hooks").unwrap_or(&value), "", &path, out);
    }
    rule_files(&dir.join("rules"), out);
    if !out.is_project() {
        command_files::propose(&dir.join("prompts"), CommandForm::Markdown, out);
        out.link(config.join("AGENTS.md"), dir.join("AGENTS.md"));
        // codex puts its own skills into a directory that begins with a dot.
        let skills = dir.join("skills");
        let entries = std::fs::read_dir(&skills).into_iter().flatten().flatten();
        if entries.into_iter().any(|entry| !entry.file_name().to_string_lossy().starts_with('.')) {
            out.link(out.home.join(".agents/skills"), skills);
        }
    }
}

fn settings(value: &Value, file: &Path, out: &mut ImportProposal) {
    let known = [
        "model",
        "model_provider",
        "model_providers",
        "sandbox_mode",
        "approval_policy",
        "mcp_servers",
        "hooks",
        "projects",
        "sandbox_workspace_write",
        "shell_environment_policy",
    ];
    out.skip_rest(value, &known, "", file);
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    if out.is_project() {
        for key in ["model", "model_provider", "model_providers"] {
            if value.get(key).is_some() {
                out.skip(key, file, SkipReason::ProjectProvider);
            }
        }
    } else {
        let provider = text("model_provider").unwrap_or("openai");
        for (name, entry) in value.get("model_providers").and_then(Value::as_object).into_iter().flatten() {
            self::provider(name, entry, file, out);
        }
        let is_known = out.settings.iter().any(|(path, _)| path.get(1).is_some_and(|name| name == provider))
            || crate::provider::ProviderPreset::all().iter().any(|preset| preset.name == provider);
        if !is_known {
            out.skip("model_provider", file, SkipReason::Provider(provider.into()));
        } else {
            if text("model_provider").is_some() {
                out.set(&["provider"], provider);
            }
            if let Some(model) = text("model") {
                out.set(&["providers", provider, "model"], model);
            }
        }
    }
    match text("sandbox_mode") {
        None => {}
        Some("read-only") => out.set(&["mode"], "read"),
        Some("workspace-write") => out.set(&["mode"], "ask"),
        Some("danger-full-access") => out.skip("sandbox_mode", file, SkipReason::Unrestricted),
        Some(_) => out.skip("sandbox_mode", file, SkipReason::NoSetting),
    }
    if value.get("approval_policy").is_some() {
        out.skip("approval_policy", file, SkipReason::ModeDecides);
    }
    let workspace = value.get("sandbox_workspace_write");
    for dir in texts(workspace.and_then(|workspace| workspace.get("writable_roots"))) {
        out.skip(&format!("sandbox_workspace_write.writable_roots: {dir}"), file, SkipReason::AddDir);
    }
    if workspace.and_then(|workspace| workspace.get("network_access")).and_then(Value::as_bool) == Some(true)
    {
        out.skip("sandbox_workspace_write.network_access", file, SkipReason::Network);
    }
    if value.get("shell_environment_policy").is_some() {
        out.skip("shell_environment_policy", file, SkipReason::Variable);
    }
    if value.get("projects").is_some() {
        out.skip("projects", file, SkipReason::Trust);
    }
    if let Some(events) = value.get("hooks") {
        hooks::propose(events, "hooks.", file, out);
    }
    servers(value.get("mcp_servers"), file, out);
}

fn provider(name: &str, entry: &Value, file: &Path, out: &mut ImportProposal) {
    let what = format!("model_providers.{name}");
    let known = ["name", "base_url", "env_key", "wire_api", "env_key_instructions"];
    out.skip_rest(entry, &known, &format!("{what}."), file);
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    if let Some(url) = text("base_url") {
        if let Err(why) = check_address(url) {
            return out.skip(&what, file, why);
        }
        out.set(&["providers", name, "base_url"], url);
    }
    let wire = match text("wire_api") {
        Some("responses") => "openai-responses",
        _ => "openai-chat",
    };
    if name != "openai" {
        out.set(&["providers", name, "dialect"], wire);
    }
    if let Some(variable) = text("env_key") {
        out.set(&["providers", name, "key_env"], variable);
    }
}

fn servers(value: Option<&Value>, file: &Path, out: &mut ImportProposal) {
    for (name, server) in value.and_then(Value::as_object).into_iter().flatten() {
        let what = format!("mcp_servers.{name}");
        out.skip_rest(server, &SERVER_KEYS, &format!("{what}."), file);
        let text = |key: &str| server.get(key).and_then(Value::as_str).map(String::from);
        let mut headers = pairs(server.get("http_headers"));
        if let Some(variable) = text("bearer_token_env_var") {
            headers.push(("Authorization".into(), format!("Bearer ${{{variable}}}")));
        }
        let of_variables = pairs(server.get("env_http_headers")).into_iter();
        headers.extend(of_variables.map(|(header, variable)| (header, format!("${{{variable}}}"))));
        let variables = server.get("env_vars").and_then(Value::as_array).into_iter().flatten();
        let variables = variables
            .filter_map(|entry| entry.as_str().or_else(|| entry.get("name")?.as_str()).map(String::from));
        let seconds =
            |key: &str| server.get(key).and_then(Value::as_f64).map(|s| s.clamp(0.0, 3600.0).ceil() as u64);
        let foreign = ForeignServer {
            command: text("command"),
            arguments: texts(server.get("args")),
            environment: pairs(server.get("env")),
            variables: variables.collect(),
            directory: text("cwd"),
            url: text("url"),
            headers,
            is_disabled: server.get("enabled").and_then(Value::as_bool) == Some(false),
            timeout_seconds: seconds("tool_timeout_sec").max(seconds("startup_timeout_sec")),
            only_tools: texts(server.get("enabled_tools")),
            without_tools: texts(server.get("disabled_tools")),
            client_id: client_id(server, "client_id", &what, file, out),
            is_trusted: text("default_tools_approval_mode").as_deref() == Some("approve"),
            ..ForeignServer::default()
        };
        foreign.propose(name, &what, file, out);
        approvals(name, server.get("tools"), &what, file, out);
    }
}

/// What codex writes when a person answers that a tool never asks again.
fn approvals(server: &str, tools: Option<&Value>, what: &str, file: &Path, out: &mut ImportProposal) {
    for (tool, table) in tools.and_then(Value::as_object).into_iter().flatten() {
        let what = format!("{what}.tools.{tool}");
        let rule = server_rule(server, tool);
        match table.get("approval_mode").and_then(Value::as_str) {
            Some("approve") if out.is_project() => out.skip(&what, file, SkipReason::ProjectTrust),
            Some("approve") => out.rule(RuleVerdict::Allow, &rule, &what, file),
            Some("prompt") => out.rule(RuleVerdict::Ask, &rule, &what, file),
            _ => out.skip(&what, file, SkipReason::NoSetting),
        }
    }
}

/// The files into which codex writes what a person allowed for ever.
fn rule_files(dir: &Path, out: &mut ImportProposal) {
    for path in command_files::entries(dir, "rules", out) {
        let text = match regular_file::read_to_string(&path, RULES) {
            Ok(text) => text,
            Err(e) => {
                out.skip("the file", &path, SkipReason::Unreadable(e.to_string()));
                continue;
            }
        };
        out.read.push(path.clone());
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match prefix_rule(line) {
                None => out.skip(line, &path, SkipReason::RuleShape),
                Some((words, verdict)) => {
                    out.rule(verdict, &rules::prefix_rule(&words.join(" ")), line, &path);
                }
            }
        }
    }
}

/// `prefix_rule(pattern=["git", "push"], decision="allow")`, on one line, as codex writes it.
fn prefix_rule(line: &str) -> Option<(Vec<String>, RuleVerdict)> {
    let inner = line.strip_prefix("prefix_rule(")?.strip_suffix(')')?;
    let list = inner.get(inner.find('[')?..=inner.find(']')?)?;
    let words: Vec<String> = serde_json::from_str(list).ok()?;
    let decision = inner.split_once("decision").map_or("allow", |(_, rest)| {
        rest.trim_start_matches([' ', '=']).trim_start_matches('"').split('"').next().unwrap_or_default()
    });
    let verdict = match decision {
        "allow" => RuleVerdict::Allow,
        "prompt" => RuleVerdict::Ask,
        "forbidden" => RuleVerdict::Deny,
        _ => return None,
    };
    (!words.is_empty()).then_some((words, verdict))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_rule_file_is_a_command_and_a_verdict() {
        let of = |line: &str| prefix_rule(line).map(|(words, verdict)| (words.join(" "), verdict));
        assert_eq!(
            of(r#"prefix_rule(pattern=["git", "push"], decision="allow")"#),
            Some(("git push".into(), RuleVerdict::Allow))
        );
        assert_eq!(
            of(r#"prefix_rule(pattern = ["rm"], decision = "forbidden", justification = "x")"#),
            Some(("rm".into(), RuleVerdict::Deny))
        );
        assert_eq!(of(r#"prefix_rule(pattern=[["a","b"]], decision="allow")"#), None);
        assert_eq!(of("import os"), None);
    }
}
