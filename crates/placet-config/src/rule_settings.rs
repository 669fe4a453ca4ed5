//! A rule in a file: only its text, or a table with examples and a reason.
//!
//! This module does not know the meaning of a rule; the parser of rules checks the examples.

use super::toml_value::{found, found_value};
use std::fmt;
use toml_edit::{Item, TableLike, Value};

/// `"run(make *)"`, or `{ rule = "run(make *)", match = ["make x"], not_match = ["rm x"], reason = "..." }`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSettings {
    pub rule: String,
    /// What the rule must match.
    pub matching: Vec<String>,
    /// What it must not match.
    pub other: Vec<String>,
    /// The reason of the rule; at most `MOST_REASON` characters on one line.
    pub reason: Option<String>,
    /// The line of the file, if there is a file.
    pub line: Option<usize>,
}

/// A reason is shown next to a question, and a long text would push the question off the screen.
const MOST_REASON: usize = 200;

/// The error of an item, and its byte offset.
type RuleItemError = (String, Option<usize>);

impl RuleSettings {
    pub fn plain(rule: &str) -> RuleSettings {
        RuleSettings { rule: rule.into(), ..RuleSettings::default() }
    }

    /// The rules of an item, with the byte offset of each; or an error with its offset.
    pub(super) fn read(item: &Item) -> Result<Vec<(RuleSettings, Option<usize>)>, RuleItemError> {
        let start = |span: Option<std::ops::Range<usize>>| span.map(|s| s.start);
        if let Some(tables) = item.as_array_of_tables() {
            return tables.iter().map(|t| Ok((of_table(t, start(t.span()))?, start(t.span())))).collect();
        }
        let wanted = || format!("must be a list of rules, not {}", found(item));
        let list = item.as_array().ok_or_else(|| (wanted(), start(item.span())))?;
        let one = |value: &Value| {
            let at = start(value.span());
            match value {
                Value::String(text) => Ok((RuleSettings::plain(text.value()), at)),
                Value::InlineTable(table) => Ok((of_table(table, at)?, at)),
                other => Err((format!("contains {}, which is not a rule", found_value(other)), at)),
            }
        };
        list.iter().map(one).collect()
    }
}

fn of_table(table: &dyn TableLike, at: Option<usize>) -> Result<RuleSettings, RuleItemError> {
    let mut rule = RuleSettings::default();
    for (name, item) in table.iter() {
        let wrong = |wanted: &str| (format!("has a `{name}` that is not {wanted}"), at);
        let text = || item.as_str().map(String::from).ok_or_else(|| wrong("a string"));
        let texts = || {
            let list: Option<Vec<String>> =
                item.as_array().and_then(|a| a.iter().map(|v| v.as_str().map(String::from)).collect());
            list.ok_or_else(|| wrong("a list of strings"))
        };
        match name {
            "rule" => rule.rule = text()?,
            "reason" => {
                let line = text()?.split_whitespace().collect::<Vec<_>>().join(" ");
                rule.reason = Some(line.chars().take(MOST_REASON).collect());
            }
            "match" => rule.matching = texts()?,
            "not_match" => rule.other = texts()?,
            name => {
                return Err((
                    format!("has the unknown key `{name}`; known are rule, match, not_match, reason"),
                    at,
                ));
            }
        }
    }
    if rule.rule.is_empty() { Err(("has a table without `rule`".into(), at)) } else { Ok(rule) }
}

impl fmt::Display for RuleSettings {
    /// As it would be written in a file.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let quoted = |text: &str| Value::from(text).to_string().trim().to_string();
        let list = |texts: &[String]| texts.iter().map(|t| quoted(t)).collect::<Vec<_>>().join(", ");
        if self.matching.is_empty() && self.other.is_empty() && self.reason.is_none() {
            return f.write_str(&quoted(&self.rule));
        }
        write!(f, "{{ rule = {}", quoted(&self.rule))?;
        if !self.matching.is_empty() {
            write!(f, ", match = [{}]", list(&self.matching))?;
        }
        if !self.other.is_empty() {
            write!(f, ", not_match = [{}]", list(&self.other))?;
        }
        if let Some(reason) = &self.reason {
            write!(f, ", reason = {}", quoted(reason))?;
        }
        f.write_str(" }")
    }
}
