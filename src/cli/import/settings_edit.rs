//! The proposal in the text of a settings file: every other byte of the file remains.

use super::proposal::ImportProposal;
use super::skip_reason::SkipReason;
use crate::config::{HookSettings, TomlText};
use crate::permission::RuleVerdict;
use std::path::Path;
use toml_edit::{Table, TomlError, value};

/// The new text. What is set there already is left alone and listed.
pub(super) fn edited(before: &str, file: &Path, out: &mut ImportProposal) -> Result<String, TomlError> {
    let mut text = TomlText::parse(before)?;
    let mut taken = Vec::new();
    out.settings.retain(|(path, content)| {
        let path: Vec<&str> = path.iter().map(String::as_str).collect();
        if text.get(&path) == Some(content) {
            return false;
        }
        let is_free = !text.contains(&path);
        if !is_free || !text.set(&path, content, "") {
            taken.push((path.join("."), SkipReason::AlreadySet(path.join("."))));
            return false;
        }
        true
    });
    out.rules.retain(|(verdict, rule)| {
        let path = ["permission", verdict.name()];
        !text.texts(&path, "rule").contains(rule) && text.push(&path, ("rule", rule))
    });
    out.servers.retain(|(name, table)| {
        let path = ["mcp", "servers", name.as_str()];
        if !text.contains(&path) && text.insert_table(&path, table.clone()) {
            return true;
        }
        taken.push((format!("the server {name}"), SkipReason::ServerExists));
        false
    });
    out.hooks.retain(|hook| {
        let table = hook_table(hook);
        !text.has_table(&["hooks"], &table) && text.push_table(&["hooks"], table)
    });
    for (what, why) in taken {
        out.skip(&what, file, why);
    }
    let text = text.text();
    // The blank line between two tables is none at the start of a new file.
    Ok(if before.is_empty() { text.trim_start_matches('\n').to_string() } else { text })
}

fn hook_table(hook: &HookSettings) -> Table {
    let mut table = Table::new();
    table.insert("point", value(hook.point.as_str()));
    for (key, content) in [("format", &hook.format), ("matcher", &hook.matcher), ("command", &hook.command)] {
        if let Some(content) = content {
            table.insert(key, value(content.as_str()));
        }
    }
    if let Some(ms) = hook.timeout_ms {
        table.insert("timeout_ms", value(i64::try_from(ms).unwrap_or(60_000)));
    }
    table
}

/// The verdicts in the order in which they are written.
pub(super) fn strictest_first(rules: &mut [(RuleVerdict, String)]) {
    rules.sort_by_key(|(verdict, _)| std::cmp::Reverse(*verdict));
}
