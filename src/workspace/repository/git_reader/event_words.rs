//! Names, subjects and counts in the rows about a repository, rendered for a person.

use super::commit::LONGEST_SUBJECT;
use super::tree_diff::TreeChanges;
use crate::text::{count, visible};
use std::path::{Path, PathBuf};

/// The name without the directory that its kind says, its bytes visible.
pub(super) fn short(name: &Path) -> String {
    let dirs = ["refs/heads", "refs/remotes", "refs/tags", "refs/notes", "refs/replace"];
    let below = dirs.iter().find_map(|dir| name.strip_prefix(dir).ok());
    let rest = below.filter(|rest| !rest.as_os_str().is_empty()).unwrap_or(name);
    // A replacement has the name of an object.
    let text = rest.to_str().filter(|text| name.starts_with("refs/replace") && text.len() >= 40);
    visible::path(text.and_then(|text| text.get(..7)).map_or(rest, Path::new))
}

pub(super) fn quoted(subject: &str) -> String {
    let shown: String = subject.chars().take(LONGEST_SUBJECT).collect();
    let more = if shown.len() < subject.len() { "..." } else { "" };
    format!("\"{}{more}\"", visible::guard_line(&shown))
}

pub(super) fn tree_words(changes: &TreeChanges) -> String {
    let TreeChanges { files, added, removed, uncounted, submodules, at_least } = *changes;
    let more = if at_least { "at least " } else { "" };
    let modules = (submodules > 0).then(|| count::of(submodules, "submodule"));
    if files == 0 {
        if let Some(modules) = modules {
            return format!("{more}{modules}");
        }
        return if at_least { "its files were not read".into() } else { "no files".into() };
    }
    let not_text =
        if uncounted > 0 { format!(", {uncounted} without a count of lines") } else { String::new() };
    let modules = modules.map(|words| format!(", {words}")).unwrap_or_default();
    let lines = if added + removed == 0 { String::new() } else { format!(" +{added} -{removed}") };
    format!("{more}{}{lines}{not_text}{modules}", count::of(files, "file"))
}

/// `a.txt, b.txt, c.txt and 2 more files`.
pub(super) fn some_files(number: usize, named: &[PathBuf]) -> String {
    let named: Vec<String> = named.iter().map(|path| visible::path(path)).collect();
    match number.saturating_sub(named.len()) {
        0 => named.join(", "),
        more => format!("{} and {}", named.join(", "), count::of(more, "more file")),
    }
}

/// ` and 2 more` where not all are named.
pub(super) fn number_more(number: usize, named: usize) -> String {
    match number.saturating_sub(named) {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}
