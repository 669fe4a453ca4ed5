//! Proposals as the text that is added to a settings file. A check that is set already is not proposed again.

use super::proposal::ProposedCheck;
use super::propose;
use crate::text::visible;
use std::path::Path;
use toml_edit::{Array, Table, value};

/// What is added to a settings file whose text is `before`; `None` where the files in `dir` suggest no check that is new.
/// `known` are the names of the checks of all settings.
pub fn proposed_addition(dir: &Path, known: &[String], before: &str) -> Option<String> {
    let plain = before.strip_prefix('\u{feff}').unwrap_or(before);
    let table: toml::Table = plain.parse().unwrap_or_default();
    let in_file = |name: &str| table.get("checks").and_then(|checks| checks.get(name)).is_some();
    let mut found = propose(dir);
    found.retain(|check| !known.contains(&check.name) && !in_file(&check.name));
    let sections: Vec<String> = found.iter().map(section).collect();
    (!sections.is_empty()).then(|| sections.join("\n"))
}

/// What is between the text of the file and the addition: they are apart by an empty line.
pub fn gap_before_addition(before: &str) -> &'static str {
    match before {
        "" => "",
        text if text.ends_with("\n\n") => "",
        text if text.ends_with('\n') => "\n",
        _ => "\n\n",
    }
}

/// One proposal as it is written in a settings file, with the file that suggests it.
fn section(check: &ProposedCheck) -> String {
    let mut table = Table::new();
    table.insert("command", value(check.command.as_str()));
    if !check.paths.is_empty() {
        table.insert("paths", value(Array::from_iter(check.paths.iter().map(String::as_str))));
    }
    if check.output != "text" {
        table.insert("output", value(check.output));
    }
    let from = visible::line(&check.from);
    format!("# from {from}\n[checks.{}]\n{table}", check.name)
}
