//! Gemini CLI: `settings.json`, policies and commands in `~/.gemini` or in `.gemini` of a project.

use super::claude;
use super::command_files::{self, CommandForm};
use super::proposal::{ImportProposal, texts};
use super::rules;
use super::servers::server_rule;
use super::skip_reason::SkipReason;
use crate::permission::RuleVerdict;
use serde_json::Value;
use std::path::Path;

pub(super) fn propose(out: &mut ImportProposal, config: &Path) {
    let dir = if out.is_project() { out.root.join(".gemini") } else { out.home.join(".gemini") };
    let path = dir.join("settings.json");
    if let Some(value) = out.file(&path) {
        settings(&value, &path, out);
    }
    for path in command_files::entries(&dir.join("policies"), "toml", out) {
        if let Some(value) = out.file(&path) {
            policies(&value, &path, out);
        }
    }
    command_files::propose(&dir.join("commands"), CommandForm::GeminiToml, out);
    if !out.is_project() {
        out.link(config.join("AGENTS.md"), dir.join("GEMINI.md"));
        out.link(out.home.join(".agents/skills"), dir.join("skills"));
    }
}

fn settings(value: &Value, file: &Path, out: &mut ImportProposal) {
    let known = [
        "mcpServers",
        "model",
        "tools",
        "general",
        "hooks",
        "hooksConfig",
        "security",
        "coreTools",
        "allowedTools",
        "excludeTools",
        "mcp",
        "context",
        "contextFileName",
    ];
    out.skip_rest(value, &known, "", file);
    claude::servers(value.get("mcpServers"), file, out);
    let model = value.get("model");
    if let Some(name) = model.and_then(|model| model.as_str().or_else(|| model.get("name")?.as_str())) {
        match out.is_project() {
            true => out.skip("model", file, SkipReason::ProjectProvider),
            false if !name.starts_with("gemini") && !name.starts_with("gemma") => {
                out.skip("model", file, SkipReason::ModelAlias(name.into()));
            }
            false => out.set(&["providers", "gemini", "model"], name),
        }
    }
    if let Some(table) = model.filter(|model| model.is_object()) {
        out.skip_rest(table, &["name"], "model.", file);
    }
    let tools = value.get("tools");
    if let Some(tools) = tools {
        out.skip_rest(tools, &["allowed", "exclude", "confirmationRequired"], "tools.", file);
    }
    // The first names are those of files that are older.
    for (old, new, verdict) in [
        ("allowedTools", "allowed", RuleVerdict::Allow),
        ("", "confirmationRequired", RuleVerdict::Ask),
        ("excludeTools", "exclude", RuleVerdict::Deny),
    ] {
        let list = tools.and_then(|tools| tools.get(new)).or_else(|| value.get(old));
        for text in texts(list) {
            let what = format!("tools.{new}: {text}");
            match tool_rule(&text, verdict) {
                Ok(rule) => out.rule(verdict, &rule, &what, file),
                Err(why) => out.skip(&what, file, why),
            }
        }
    }
    let general = value.get("general");
    match general.and_then(|general| general.get("defaultApprovalMode")).and_then(Value::as_str) {
        None => {}
        Some("default") => out.set(&["mode"], "ask"),
        Some("auto_edit") if !out.is_project() => out.set(&["mode"], "write"),
        Some("plan") => out.set(&["mode"], "read"),
        Some("yolo") => out.skip("general.defaultApprovalMode", file, SkipReason::Unrestricted),
        Some(_) => out.skip("general.defaultApprovalMode", file, SkipReason::NoSetting),
    }
    if let Some(general) = general {
        out.skip_rest(general, &["defaultApprovalMode"], "general.", file);
    }
    // `gemini hooks migrate` writes every event, most of them without a hook.
    let is_empty = |hooks: &Value| hooks.as_array().is_some_and(Vec::is_empty);
    for (event, hooks) in value.get("hooks").and_then(Value::as_object).into_iter().flatten() {
        if !is_empty(hooks) {
            out.skip(&format!("hooks.{event}"), file, SkipReason::HookFormat);
        }
    }
    let mcp = value.get("mcp");
    for name in texts(mcp.and_then(|mcp| mcp.get("excluded"))) {
        out.rule(RuleVerdict::Deny, &server_rule(&name, "*"), "mcp.excluded", file);
    }
    if mcp.is_some_and(|mcp| mcp.get("allowed").is_some()) {
        out.skip("mcp.allowed", file, SkipReason::NoSetting);
    }
    for key in ["security", "coreTools", "context", "contextFileName", "hooksConfig"] {
        if value.get(key).is_some() {
            out.skip(key, file, SkipReason::NoSetting);
        }
    }
}

/// `run_shell_command(git)` is a command with its first words.
fn tool_rule(text: &str, verdict: RuleVerdict) -> Result<String, SkipReason> {
    let (tool, inner) = rules::split(text)?;
    match (tool, inner) {
        ("run_shell_command" | "ShellTool", None) => Ok("run".into()),
        ("run_shell_command" | "ShellTool", Some(prefix)) => Ok(rules::prefix_rule(prefix)),
        (_, Some(_)) => Err(SkipReason::NoRule),
        (tool, None) => whole_tool(tool, verdict),
    }
}

fn whole_tool(tool: &str, verdict: RuleVerdict) -> Result<String, SkipReason> {
    let head = match tool {
        "write_file" | "replace" | "WriteFileTool" | "EditTool" => "write",
        "read_file" | "read_many_files" | "ReadFileTool" => "read",
        "web_fetch" | "WebFetchTool" => return Ok("fetch".into()),
        "google_web_search" | "WebSearchTool" => return Ok("search_web".into()),
        "glob" | "GlobTool" => "find_files",
        "search_file_content" | "grep_search" | "GrepTool" => "search_contents",
        "list_directory" | "LSTool" => "list_directory",
        "activate_skill" => "skill",
        "write_todos" => "todo",
        "*" if verdict != RuleVerdict::Deny => return Err(SkipReason::ModeDecides),
        "*" => "*",
        _ => return Err(SkipReason::NoTool),
    };
    if verdict == RuleVerdict::Allow { Err(SkipReason::not_needed(head)) } else { Ok(head.into()) }
}

/// The rules of a policy file. Gemini CLI writes such a file when a person allows a call for all future sessions.
fn policies(value: &Value, file: &Path, out: &mut ImportProposal) {
    for rule in value.get("rule").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| rule.get(key).and_then(Value::as_str);
        let tools = texts(rule.get("toolName"));
        let what =
            format!("rule for {}", if tools.is_empty() { "all tools".into() } else { tools.join(", ") });
        let verdict = match text("decision") {
            Some("allow") => RuleVerdict::Allow,
            Some("deny") => RuleVerdict::Deny,
            Some("ask_user") => RuleVerdict::Ask,
            _ => {
                out.skip(&what, file, SkipReason::RuleShape);
                continue;
            }
        };
        if rule.get("argsPattern").is_some() || rule.get("commandRegex").is_some() {
            out.skip(&what, file, SkipReason::ArgumentsPattern);
            continue;
        }
        if let Some(limit) = limit(rule) {
            out.skip(&what, file, SkipReason::RuleLimit(limit));
            continue;
        }
        let tools = if tools.is_empty() { vec!["*".to_string()] } else { tools };
        let prefixes = texts(rule.get("commandPrefix"));
        for tool in &tools {
            let found: Vec<Result<String, SkipReason>> = match (text("mcpName"), prefixes.is_empty()) {
                (Some(server), _) => vec![Ok(server_rule(server, tool))],
                (None, true) => vec![match tool.strip_prefix("mcp_").map(|name| name.split_once('_')) {
                    Some(Some((server, tool))) => Ok(server_rule(server, tool)),
                    Some(None) => Ok(server_rule("*", "*")),
                    None => tool_rule(tool, verdict),
                }],
                (None, false) => prefixes.iter().map(|prefix| Ok(rules::prefix_rule(prefix))).collect(),
            };
            for rule in found {
                match rule {
                    Ok(rule) => out.rule(verdict, &rule, &what, file),
                    Err(why) => out.skip(&what, file, why),
                }
            }
        }
    }
}

/// What makes a rule be about fewer calls than its tool and its command say.
fn limit(rule: &Value) -> Option<&'static str> {
    if let Some(limit) = ["subagent", "toolAnnotations"].into_iter().find(|key| rule.get(key).is_some()) {
        return Some(limit);
    }
    if rule.get("interactive").and_then(Value::as_bool) == Some(false) {
        return Some("interactive");
    }
    let modes = texts(rule.get("modes"));
    (!modes.is_empty() && !modes.iter().any(|mode| mode == "default")).then_some("modes")
}
