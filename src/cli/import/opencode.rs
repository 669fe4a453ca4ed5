//! opencode: `opencode.json` or `opencode.jsonc` in `~/.config/opencode`, or in a project and its `.opencode`.

use super::command_files::{self, CommandForm};
use super::plain_text::{check_address, has_secret};
use super::proposal::{ImportProposal, ImportedCommand, pairs, texts};
use super::rules::{self, RulePaths};
use super::servers::{ForeignServer, client_id, server_rule};
use super::skip_reason::SkipReason;
use crate::permission::RuleVerdict;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What is read of a server.
const SERVER_KEYS: [&str; 9] =
    ["type", "command", "environment", "cwd", "url", "headers", "oauth", "enabled", "timeout"];
const NAMES: [&str; 3] = ["config.json", "opencode.json", "opencode.jsonc"];

pub(super) fn propose(out: &mut ImportProposal, config: &Path) {
    let base = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|dir| dir.is_absolute());
    let own = base.unwrap_or_else(|| out.home.join(".config")).join("opencode");
    let root = out.root.clone();
    let dirs = if out.is_project() { vec![root.clone(), root.join(".opencode")] } else { vec![own.clone()] };
    for dir in dirs {
        for name in NAMES {
            // A project's `config.json` is a file of something else.
            if dir == root && name == "config.json" {
                continue;
            }
            let path = dir.join(name);
            if let Some(value) = out.file(&path) {
                settings(&value, &path, out);
            }
        }
        if dir != root {
            for name in ["command", "commands"] {
                command_files::propose(&dir.join(name), CommandForm::Markdown, out);
            }
        }
    }
    if !out.is_project() {
        out.link(config.join("AGENTS.md"), own.join("AGENTS.md"));
        out.link(out.home.join(".agents/skills"), own.join("skills"));
    }
}

fn settings(value: &Value, file: &Path, out: &mut ImportProposal) {
    let known = ["model", "provider", "permission", "mcp", "command", "tools"];
    out.skip_rest(value, &known, "", file);
    for (name, entry) in value.get("provider").and_then(Value::as_object).into_iter().flatten() {
        provider(name, entry, file, out);
    }
    if let Some(model) = value.get("model").and_then(Value::as_str) {
        match model.split_once('/') {
            _ if out.is_project() => out.skip("model", file, SkipReason::ProjectProvider),
            Some((provider, model)) if is_known(provider, out) => {
                let name = own_name(provider);
                out.set(&["provider"], name);
                out.set(&["providers", name, "model"], model);
            }
            Some((provider, _)) => out.skip("model", file, SkipReason::Provider(provider.into())),
            None => out.skip("model", file, SkipReason::ModelAlias(model.into())),
        }
    }
    // First, because rules name their tools.
    servers(value.get("mcp"), file, out);
    permissions(value.get("permission"), file, out);
    for (tool, is_on) in value.get("tools").and_then(Value::as_object).into_iter().flatten() {
        if is_on.as_bool() == Some(false) {
            let what = format!("tools.{tool}");
            match whole_tool(tool, RuleVerdict::Deny, out) {
                Ok(rule) => out.rule(RuleVerdict::Deny, &rule, &what, file),
                Err(why) => out.skip(&what, file, why),
            }
        }
    }
    for (name, command) in value.get("command").and_then(Value::as_object).into_iter().flatten() {
        self::command(name, command, file, out);
    }
}

/// The name that placet has for a provider of opencode.
fn own_name(provider: &str) -> &str {
    match provider {
        "google" => "gemini",
        other => other,
    }
}

fn is_known(provider: &str, out: &ImportProposal) -> bool {
    let name = own_name(provider);
    out.settings.iter().any(|(path, _)| {
        path.first().is_some_and(|key| key == "providers") && path.get(1).is_some_and(|known| known == name)
    }) || crate::provider::ProviderPreset::all().iter().any(|preset| preset.name == name)
}

fn provider(name: &str, entry: &Value, file: &Path, out: &mut ImportProposal) {
    let what = format!("provider.{name}");
    if out.is_project() {
        return out.skip(&what, file, SkipReason::ProjectProvider);
    }
    let own = own_name(name);
    let option =
        |key: &str| entry.get("options").and_then(|options| options.get(key)).and_then(Value::as_str);
    if let Some(url) = option("baseURL").map(with_variables) {
        if let Err(why) = check_address(&url) {
            return out.skip(&what, file, why);
        }
        let dialect = match entry.get("npm").and_then(Value::as_str) {
            Some("@ai-sdk/anthropic") => "anthropic",
            Some("@ai-sdk/google") => "gemini",
            Some("@ai-sdk/openai") => "openai-responses",
            _ => "openai-chat",
        };
        out.set(&["providers", own, "base_url"], &url);
        if !crate::provider::ProviderPreset::all().iter().any(|preset| preset.name == own) {
            out.set(&["providers", own, "dialect"], dialect);
        }
    }
    match option("apiKey").map(|key| (key, inside(key, "env"), inside(key, "file"))) {
        None => {}
        Some((_, Some(variable), _)) => out.set(&["providers", own, "key_env"], variable),
        Some((_, _, Some(path))) => {
            let path = crate::text::shell_word::quoted(path);
            out.set(&["providers", own, "api_key_command"], &format!("cat {path}"));
        }
        Some(_) => out.skip(&format!("{what}.options.apiKey"), file, SkipReason::Secret),
    }
    if entry.get("models").is_some() {
        out.skip(&format!("{what}.models"), file, SkipReason::NoSetting);
    }
}

/// The word in `{env:NAME}` or `{file:PATH}`.
fn inside<'t>(text: &'t str, kind: &str) -> Option<&'t str> {
    text.trim().strip_prefix('{')?.strip_suffix('}')?.strip_prefix(kind)?.strip_prefix(':').map(str::trim)
}

/// `{env:NAME}` as `${NAME}`.
fn with_variables(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{env:") {
        out.push_str(before);
        match after.split_once('}') {
            Some((name, after)) => {
                out.push_str(&format!("${{{}}}", name.trim()));
                rest = after;
            }
            None => {
                out.push_str("{env:");
                rest = after;
            }
        }
    }
    out + rest
}

fn verdict_of(text: &str) -> Option<RuleVerdict> {
    match text {
        "allow" => Some(RuleVerdict::Allow),
        "ask" => Some(RuleVerdict::Ask),
        "deny" => Some(RuleVerdict::Deny),
        _ => None,
    }
}

fn permissions(value: Option<&Value>, file: &Path, out: &mut ImportProposal) {
    match value {
        None => {}
        Some(Value::String(_)) => out.skip("permission", file, SkipReason::ModeDecides),
        Some(value) => {
            let home = out.home.clone();
            for (tool, entry) in value.as_object().into_iter().flatten() {
                permission(tool, entry, &RulePaths { home: &home, base: None }, file, out);
            }
        }
    }
}

fn permission(tool: &str, entry: &Value, paths: &RulePaths<'_>, file: &Path, out: &mut ImportProposal) {
    let what = format!("permission.{tool}");
    if let Some(text) = entry.as_str() {
        let Some(verdict) = verdict_of(text) else { return out.skip(&what, file, SkipReason::Type) };
        return match whole_tool(tool, verdict, out) {
            Ok(rule) => out.rule(verdict, &rule, &what, file),
            Err(why) => out.skip(&what, file, why),
        };
    }
    let Some(patterns) = entry.as_object() else { return out.skip(&what, file, SkipReason::Type) };
    let others = patterns.len() > 1;
    for (pattern, text) in patterns {
        let what = format!("{what}: {pattern}");
        let Some(verdict) = text.as_str().and_then(verdict_of) else {
            out.skip(&what, file, SkipReason::Type);
            continue;
        };
        let rule = match (tool, pattern.as_str()) {
            // There the last pattern that matches decides; here a denial decides. A rule for the rest is no rule here.
            (_, "*") if verdict == RuleVerdict::Deny && others => Err(SkipReason::DeniesTheRest),
            (_, "*") if verdict == RuleVerdict::Ask => Err(SkipReason::ModeDecides),
            (tool, "*") => whole_tool(tool, verdict, out),
            ("bash", pattern) => Ok(rules::command_rule(pattern)),
            ("read", pattern) => rules::path_rule("read", Some(pattern), verdict, &absolute(paths)),
            ("edit", pattern) => rules::path_rule("write", Some(pattern), verdict, &absolute(paths)),
            _ => Err(SkipReason::NoRule),
        };
        match rule {
            Ok(rule) => out.rule(verdict, &rule, &what, file),
            Err(why) => out.skip(&what, file, why),
        }
    }
}

/// A path that begins with a slash is a path of the machine.
fn absolute<'p>(paths: &RulePaths<'p>) -> RulePaths<'p> {
    RulePaths { home: paths.home, base: Some(Path::new("")) }
}

fn whole_tool(tool: &str, verdict: RuleVerdict, out: &ImportProposal) -> Result<String, SkipReason> {
    let head = match tool {
        "bash" if verdict == RuleVerdict::Ask => return Err(SkipReason::ModeDecides),
        "bash" => return Ok("run".into()),
        "webfetch" => return Ok("fetch".into()),
        "websearch" => return Ok("search_web".into()),
        "edit" | "write" | "patch" => "write",
        "read" => "read",
        "glob" => "find_files",
        "grep" => "search_contents",
        "list" => "list_directory",
        "task" => "agent",
        "skill" => "skill",
        "todowrite" | "todoread" => "todo",
        "*" if verdict != RuleVerdict::Deny => return Err(SkipReason::ModeDecides),
        "external_directory" | "doom_loop" => return Err(SkipReason::NoSetting),
        tool => return server_tool(tool, out).ok_or(SkipReason::NoTool),
    };
    if verdict == RuleVerdict::Allow { Err(SkipReason::not_needed(head)) } else { Ok(head.into()) }
}

/// A tool of a server is `SERVER_TOOL`, and both names may have more of these signs.
fn server_tool(text: &str, out: &ImportProposal) -> Option<String> {
    let of =
        |server: &str| text.strip_prefix(server)?.strip_prefix('_').map(|tool| server_rule(server, tool));
    let mut names: Vec<&str> = out.servers.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_by_key(|name| std::cmp::Reverse(name.len()));
    let known = names.into_iter().find_map(of);
    known.or_else(|| text.split_once('_').map(|(server, tool)| server_rule(server, tool)))
}

fn servers(value: Option<&Value>, file: &Path, out: &mut ImportProposal) {
    for (name, server) in value.and_then(Value::as_object).into_iter().flatten() {
        let what = format!("mcp.{name}");
        out.skip_rest(server, &SERVER_KEYS, &format!("{what}."), file);
        let words: Vec<String> =
            texts(server.get("command")).iter().map(|text| with_variables(text)).collect();
        let (command, arguments) = match words.split_first() {
            Some((command, arguments)) => (Some(command.clone()), arguments.to_vec()),
            None => (None, Vec::new()),
        };
        let replaced = |list: Vec<(String, String)>| {
            list.into_iter().map(|(name, content)| (name, with_variables(&content))).collect()
        };
        let foreign = ForeignServer {
            command,
            arguments,
            environment: replaced(pairs(server.get("environment"))),
            directory: server.get("cwd").and_then(Value::as_str).map(String::from),
            url: server.get("url").and_then(Value::as_str).map(with_variables),
            headers: replaced(pairs(server.get("headers"))),
            is_disabled: server.get("enabled").and_then(Value::as_bool) == Some(false),
            timeout_seconds: server.get("timeout").and_then(Value::as_u64).map(|ms| ms.div_ceil(1000)),
            client_id: client_id(server, "clientId", &what, file, out),
            ..ForeignServer::default()
        };
        foreign.propose(name, &what, file, out);
    }
}

/// A command in the settings becomes a file.
fn command(name: &str, entry: &Value, file: &Path, out: &mut ImportProposal) {
    let what = format!("command.{name}");
    let text = |key: &str| entry.get(key).and_then(Value::as_str);
    let Some(template) = text("template").filter(|text| !text.trim().is_empty()) else {
        return out.skip(&what, file, SkipReason::NoText);
    };
    if has_secret(template) {
        return out.skip(&what, file, SkipReason::Secret);
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() || name.len() > 64 || !name.chars().all(plain) {
        return out.skip(&what, file, SkipReason::CommandName);
    }
    let head = command_files::front_matter(text("description"));
    out.commands.push(ImportedCommand {
        path: format!("{name}.md").into(),
        text: format!("{head}{template}\n"),
        from: file.into(),
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_written_as_placet_reads_them() {
        assert_eq!(with_variables("Bearer {env:A} {env: B }"), "Bearer ${A} ${B}");
        assert_eq!(with_variables("{env:A"), "{env:A");
        assert_eq!((inside("{env:K}", "env"), inside("sk", "env")), (Some("K"), None));
        assert_eq!(inside("{file:~/k}", "file"), Some("~/k"));
    }
}
