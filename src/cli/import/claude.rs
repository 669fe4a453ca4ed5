//! Claude Code: `~/.claude/settings.json` and `~/.claude.json`, or `.claude/settings.json` and
//! `.claude/settings.local.json` of a project.

use super::command_files::{self, CommandForm};
use super::hooks;
use super::proposal::{ImportProposal, pairs, texts};
use super::rules::{self, RulePaths};
use super::servers::{ForeignServer, client_id};
use super::skip_reason::SkipReason;
use crate::permission::RuleVerdict;
use serde_json::Value;
use std::path::{Path, PathBuf};

const VERDICTS: [(&str, RuleVerdict); 3] =
    [("deny", RuleVerdict::Deny), ("ask", RuleVerdict::Ask), ("allow", RuleVerdict::Allow)];
/// Names of models that mean the newest of their kind.
const ALIASES: [&str; 8] = ["default", "best", "opus", "sonnet", "haiku", "opusplan", "sonnet[1m]", "fable"];
/// What is read of a server, and its description, which has no effect.
const SERVER_KEYS: [&str; 16] = [
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "url",
    "httpUrl",
    "headers",
    "headersHelper",
    "oauth",
    "disabled",
    "timeout",
    "trust",
    "includeTools",
    "excludeTools",
    "description",
];
/// Answers to Claude Code's own question about the servers of a project.
const ANSWERS: [&str; 3] = ["enableAllProjectMcpServers", "enabledMcpjsonServers", "disabledMcpjsonServers"];

pub(super) fn propose(out: &mut ImportProposal, config: &Path) {
    if out.is_project() {
        let root = out.root.clone();
        for name in ["settings.json", "settings.local.json"] {
            let path = root.join(".claude").join(name);
            if let Some(value) = out.file(&path) {
                settings(&value, &path, out);
            }
        }
        let state = out.home.join(".claude.json");
        if let Some(value) = out.file(&state) {
            let of_project = value.get("projects").and_then(|all| all.get(root.to_string_lossy().as_ref()));
            servers(of_project.and_then(|project| project.get("mcpServers")), &state, out);
        }
        if root.join(".mcp.json").exists() {
            out.skip("the file", &root.join(".mcp.json"), SkipReason::ReadAlready);
        }
        return;
    }
    let dir = std::env::var_os("CLAUDE_CONFIG_DIR").map_or_else(|| out.home.join(".claude"), PathBuf::from);
    let path = dir.join("settings.json");
    if let Some(value) = out.file(&path) {
        settings(&value, &path, out);
    }
    let state = match std::env::var_os("CLAUDE_CONFIG_DIR") {
        Some(_) => dir.join(".claude.json"),
        None => out.home.join(".claude.json"),
    };
    if let Some(value) = out.file(&state) {
        servers(value.get("mcpServers"), &state, out);
    }
    command_files::propose(&dir.join("commands"), CommandForm::Markdown, out);
    out.link(config.join("AGENTS.md"), dir.join("CLAUDE.md"));
    out.link(out.home.join(".agents/skills"), dir.join("skills"));
}

fn settings(value: &Value, file: &Path, out: &mut ImportProposal) {
    let known = ["permissions", "hooks", "model", "env", "apiKeyHelper", "disableAllHooks", "mcpServers"];
    out.skip_rest(value, &[&known[..], &ANSWERS].concat(), "", file);
    for key in ANSWERS.into_iter().filter(|key| value.get(key).is_some()) {
        out.skip(key, file, SkipReason::Trust);
    }
    if let Some(permissions) = value.get("permissions") {
        self::permissions(permissions, file, out);
    }
    let are_off = value.get("disableAllHooks").and_then(Value::as_bool) == Some(true);
    match value.get("hooks") {
        Some(_) if are_off => out.skip("hooks", file, SkipReason::HooksOff),
        Some(events) => hooks::propose(events, "hooks.", file, out),
        None => {}
    }
    servers(value.get("mcpServers"), file, out);
    if let Some(name) = value.get("model").and_then(Value::as_str) {
        model(name, "model", file, out);
    }
    if let Some(command) = value.get("apiKeyHelper").and_then(Value::as_str) {
        if out.is_project() {
            out.skip("apiKeyHelper", file, SkipReason::ProjectProvider);
        } else if super::plain_text::has_secret(command) {
            out.skip("apiKeyHelper", file, SkipReason::Secret);
        } else {
            out.set(&["providers", "anthropic", "api_key_command"], command);
        }
    }
    for (name, content) in pairs(value.get("env")) {
        let what = format!("env.{name}");
        match name.as_str() {
            "ANTHROPIC_MODEL" => model(&content, &what, file, out),
            "ANTHROPIC_BASE_URL" if out.is_project() => out.skip(&what, file, SkipReason::ProjectProvider),
            "ANTHROPIC_BASE_URL" if super::plain_text::is_plain_value(&name, &content) => {
                out.set(&["providers", "anthropic", "base_url"], &content);
            }
            _ if super::plain_text::is_plain_value(&name, &content) => {
                out.skip(&what, file, SkipReason::Variable)
            }
            _ => out.skip(&what, file, SkipReason::Secret),
        }
    }
}

fn model(name: &str, what: &str, file: &Path, out: &mut ImportProposal) {
    if out.is_project() {
        out.skip(what, file, SkipReason::ProjectProvider);
    } else if ALIASES.contains(&name) || !name.starts_with("claude") {
        out.skip(what, file, SkipReason::ModelAlias(name.into()));
    } else {
        out.set(&["providers", "anthropic", "model"], name);
    }
}

fn permissions(value: &Value, file: &Path, out: &mut ImportProposal) {
    out.skip_rest(
        value,
        &["allow", "ask", "deny", "defaultMode", "additionalDirectories", "disableBypassPermissionsMode"],
        "permissions.",
        file,
    );
    let home = out.home.clone();
    let base = if out.is_project() { None } else { file.parent() };
    let paths = RulePaths { home: &home, base };
    for (key, verdict) in VERDICTS {
        for text in texts(value.get(key)) {
            let what = format!("permissions.{key}: {text}");
            match rules::of_claude(&text, verdict, &paths) {
                Ok(rule) => out.rule(verdict, &rule, &what, file),
                Err(why) => out.skip(&what, file, why),
            }
        }
    }
    match value.get("defaultMode").and_then(Value::as_str) {
        None => {}
        Some("default") => out.set(&["mode"], "ask"),
        Some("acceptEdits") if !out.is_project() => out.set(&["mode"], "write"),
        Some("plan") => out.set(&["mode"], "read"),
        Some("bypassPermissions") => out.skip("permissions.defaultMode", file, SkipReason::Unrestricted),
        Some(_) if out.is_project() => out.skip("permissions.defaultMode", file, SkipReason::ProjectTrust),
        Some(_) => out.skip("permissions.defaultMode", file, SkipReason::NoSetting),
    }
    for dir in texts(value.get("additionalDirectories")) {
        out.skip(&format!("permissions.additionalDirectories: {dir}"), file, SkipReason::AddDir);
    }
    if value.get("disableBypassPermissionsMode").and_then(Value::as_str) == Some("disable") {
        out.skip("permissions.disableBypassPermissionsMode", file, SkipReason::NoSetting);
    }
}

/// `mcpServers`, in the form that Gemini CLI has too.
pub(super) fn servers(value: Option<&Value>, file: &Path, out: &mut ImportProposal) {
    for (name, server) in value.and_then(Value::as_object).into_iter().flatten() {
        let what = format!("mcpServers.{name}");
        out.skip_rest(server, &SERVER_KEYS, &format!("{what}."), file);
        let text = |key: &str| server.get(key).and_then(Value::as_str).map(String::from);
        // Gemini CLI prefers an address over a command.
        let url = text("httpUrl").or_else(|| text("url"));
        let milliseconds = server.get("timeout").and_then(Value::as_u64);
        let foreign = ForeignServer {
            command: text("command").filter(|_| url.is_none()),
            arguments: texts(server.get("args")),
            environment: pairs(server.get("env")),
            directory: text("cwd"),
            headers: pairs(server.get("headers")),
            headers_command: text("headersHelper"),
            is_disabled: server.get("disabled").and_then(Value::as_bool) == Some(true),
            timeout_seconds: milliseconds.map(|ms| ms.div_ceil(1000)),
            is_trusted: server.get("trust").and_then(Value::as_bool) == Some(true),
            only_tools: tools(server.get("includeTools")),
            without_tools: tools(server.get("excludeTools")),
            client_id: client_id(server, "clientId", &what, file, out),
            url,
            ..ForeignServer::default()
        };
        foreign.propose(name, &what, file, out);
    }
}

/// `gemini mcp add --include-tools a,b` writes one text for both.
fn tools(list: Option<&Value>) -> Vec<String> {
    let names = texts(list);
    names.iter().flat_map(|name| name.split(',')).map(|name| name.trim().to_string()).collect()
}
