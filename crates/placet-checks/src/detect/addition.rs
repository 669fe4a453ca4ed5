//! Proposals as the text that is added to a settings file. A check that is set already is not proposed again.

use super::look;
use super::proposal::{LARGEST, ProjectFiles, ProposedCheck};
use placet_text::text::{human_size, visible};
use std::collections::BTreeMap;
use std::path::Path;
use thiserror::Error;
use toml_edit::{Array, Table, value};

/// Why no check is proposed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum NothingProposed {
    #[error("no file of this directory suggests a check that is not set already")]
    NoFile,
    /// The programs of all that the files suggest.
    #[error("not installed: {}", .0.join(", "))]
    NotInstalled(Vec<String>),
    /// These files, with their sizes, may suggest one.
    #[error("{} not read: placet reads files of at most {} here", sizes(.0), human_size::of(LARGEST))]
    TooLarge(BTreeMap<String, u64>),
}

fn sizes(files: &BTreeMap<String, u64>) -> String {
    let each = |(name, size): (&String, &u64)| format!("{} ({})", visible::line(name), human_size::of(*size));
    let all: Vec<String> = files.iter().map(each).collect();
    let verb = if all.len() == 1 { "was" } else { "were" };
    format!("{} {verb}", all.join(", "))
}

/// What is added to a settings file, after all that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProposedAddition {
    pub text: String,
    /// Programs that are not installed: what needs them is not proposed.
    pub missing: Vec<String>,
}

impl ProposedAddition {
    /// What is not proposed, for a person.
    pub fn missing_words(&self) -> Option<String> {
        (!self.missing.is_empty())
            .then(|| format!("not proposed, because not installed: {}", self.missing.join(", ")))
    }
}

/// What is added to a settings file whose text is `before`. `known` are the names of the checks of all settings.
///
/// # Errors
///
/// Fails when the files in `dir` suggest no check that is new and can run here.
pub fn proposed_addition(
    dir: &Path,
    known: &[String],
    before: &str,
) -> Result<ProposedAddition, NothingProposed> {
    let files = ProjectFiles::of(dir);
    addition(dir, known, before, &|program| files.has_program(program))
}

pub(super) fn addition(
    dir: &Path,
    known: &[String],
    before: &str,
    is_installed: &dyn Fn(&str) -> bool,
) -> Result<ProposedAddition, NothingProposed> {
    let plain = before.strip_prefix('\u{feff}').unwrap_or(before);
    let table: toml::Table = plain.parse().unwrap_or_default();
    let in_file = |name: &str| table.get("checks").and_then(|checks| checks.get(name)).is_some();
    let (mut found, too_large) = look(dir);
    found.retain(|check| !known.contains(&check.name) && !in_file(&check.name));
    let can_run = |check: &ProposedCheck| check.programs.iter().any(|program| is_installed(program));
    let (found, missing): (Vec<ProposedCheck>, Vec<ProposedCheck>) = found.into_iter().partition(can_run);
    let mut missing: Vec<String> =
        missing.into_iter().filter_map(|check| check.programs.into_iter().next()).collect();
    missing.dedup();
    let sections: Vec<String> = found.iter().map(section).collect();
    match (sections.is_empty(), too_large.is_empty(), missing.is_empty()) {
        (false, ..) => {
            Ok(ProposedAddition { text: format!("{}{}", gap(before), sections.join("\n")), missing })
        }
        (true, false, _) => Err(NothingProposed::TooLarge(too_large)),
        (true, true, false) => Err(NothingProposed::NotInstalled(missing)),
        (true, true, true) => Err(NothingProposed::NoFile),
    }
}

/// What is between the text of the file and the addition: they are apart by an empty line.
fn gap(before: &str) -> &'static str {
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
