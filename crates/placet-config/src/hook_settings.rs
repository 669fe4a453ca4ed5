//! A hook in a file: a table of texts. This module does not know its meaning.

use super::toml_value::{found, found_value};
use std::fmt;
use toml_edit::{Item, TableLike, Value};

/// One `[[hooks]]` table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookSettings {
    pub name: Option<String>,
    pub point: String,
    pub tool: Option<String>,
    pub argument: Option<String>,
    pub when: Vec<(String, String)>,
    pub deny: Option<String>,
    pub ask: Option<String>,
    pub allow: Option<String>,
    pub redact: Option<String>,
    pub with: Option<String>,
    pub denylist: Vec<String>,
    pub command: Option<String>,
    pub format: Option<String>,
    pub matcher: Option<String>,
    pub priority: Option<u64>,
    pub timeout_ms: Option<u64>,
    pub reason: Option<String>,
    /// The line of the file on which it begins, if there is a file.
    pub line: Option<usize>,
}

const KNOWN: &str = "name, point, tool, argument, when, deny, ask, allow, redact, with, denylist, command, format, matcher, priority, timeout_ms, reason";

/// The error of an item, and its byte offset.
type HookItemError = (String, Option<usize>);

/// Hooks, each with its byte offset.
type LocatedHooks = Vec<(HookSettings, Option<usize>)>;

impl HookSettings {
    /// True if the hook can only refuse or ask.
    pub(super) fn only_tightens(&self) -> bool {
        self.command.is_none() && self.allow.is_none() && self.redact.is_none()
    }

    pub(super) fn read(item: &Item) -> Result<LocatedHooks, HookItemError> {
        let start = |span: Option<std::ops::Range<usize>>| span.map(|s| s.start);
        if let Some(tables) = item.as_array_of_tables() {
            return tables.iter().map(|t| Ok((of_table(t, start(t.span()))?, start(t.span())))).collect();
        }
        let wanted = || format!("must be a list of tables (`[[hooks]]`), not {}", found(item));
        let list = item.as_array().ok_or_else(|| (wanted(), start(item.span())))?;
        let one = |value: &Value| {
            let at = start(value.span());
            let table = value.as_inline_table();
            let table =
                table.ok_or_else(|| (format!("contains {}, which is not a hook", found_value(value)), at))?;
            Ok((of_table(table, at)?, at))
        };
        list.iter().map(one).collect()
    }

    /// Parses a list as it would be written in a file after `hooks =`.
    pub(super) fn read_text(text: &str) -> Option<Vec<HookSettings>> {
        let document = toml_edit::Document::parse(format!("hooks = {text}")).ok()?;
        let read = HookSettings::read(document.as_table().get("hooks")?).ok()?;
        Some(read.into_iter().map(|(hook, _)| hook).collect())
    }
}

fn of_table(table: &dyn TableLike, at: Option<usize>) -> Result<HookSettings, HookItemError> {
    let mut hook = HookSettings::default();
    for (name, item) in table.iter() {
        let wrong = |wanted: &str| (format!("has a `{name}` that is not {wanted}"), at);
        let text = || item.as_str().map(String::from).ok_or_else(|| wrong("a string"));
        let number = || {
            let number = item.as_integer().and_then(|n| u64::try_from(n).ok());
            number.ok_or_else(|| wrong("a whole number, 0 or more"))
        };
        match name {
            "name" => hook.name = Some(text()?),
            "point" => hook.point = text()?,
            "tool" => hook.tool = Some(text()?),
            "argument" => hook.argument = Some(text()?),
            "deny" => hook.deny = Some(text()?),
            "ask" => hook.ask = Some(text()?),
            "allow" => hook.allow = Some(text()?),
            "redact" => hook.redact = Some(text()?),
            "with" => hook.with = Some(text()?),
            "command" => hook.command = Some(text()?),
            "format" => hook.format = Some(text()?),
            "matcher" => hook.matcher = Some(text()?),
            "reason" => hook.reason = Some(text()?.split_whitespace().collect::<Vec<_>>().join(" ")),
            "priority" => hook.priority = Some(number()?),
            "timeout_ms" => hook.timeout_ms = Some(number()?),
            "denylist" => {
                let list = item.as_array().map(|a| a.iter().map(|v| v.as_str().map(String::from)));
                let list: Option<Vec<String>> = list.and_then(Iterator::collect);
                hook.denylist = list.ok_or_else(|| wrong("a list of strings"))?;
            }
            "when" => {
                let table = item.as_table_like().ok_or_else(|| wrong("a table of strings"))?;
                for (key, value) in table.iter() {
                    let value = value.as_str().ok_or_else(|| wrong("a table of strings"))?;
                    hook.when.push((key.into(), value.into()));
                }
            }
            name => return Err((format!("has the unknown key `{name}`; known are {KNOWN}"), at)),
        }
    }
    if hook.point.is_empty() { Err(("has a table without `point`".into(), at)) } else { Ok(hook) }
}

impl fmt::Display for HookSettings {
    /// As it would be written in a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| Value::from(text).to_string().trim().to_string();
        write!(f, "{{ point = {}", quoted(&self.point))?;
        for (key, value) in [
            ("name", &self.name),
            ("tool", &self.tool),
            ("argument", &self.argument),
            ("deny", &self.deny),
            ("ask", &self.ask),
            ("allow", &self.allow),
            ("redact", &self.redact),
            ("with", &self.with),
            ("command", &self.command),
            ("format", &self.format),
            ("matcher", &self.matcher),
            ("reason", &self.reason),
        ] {
            if let Some(value) = value {
                write!(f, ", {key} = {}", quoted(value))?;
            }
        }
        if !self.denylist.is_empty() {
            let list: Vec<String> = self.denylist.iter().map(|t| quoted(t)).collect();
            write!(f, ", denylist = [{}]", list.join(", "))?;
        }
        if !self.when.is_empty() {
            let pairs: Vec<String> = self.when.iter().map(|(k, v)| format!("{k} = {}", quoted(v))).collect();
            write!(f, ", when = {{ {} }}", pairs.join(", "))?;
        }
        for (key, value) in [("priority", self.priority), ("timeout_ms", self.timeout_ms)] {
            if let Some(value) = value {
                write!(f, ", {key} = {value}")?;
            }
        }
        f.write_str(" }")
    }
}
