//! What a change does to a repository.

use super::commit_patch::MOST_NAMED;
use super::config_keys::rank;
use super::repository_row::RepositoryRow;
use std::path::{Path, PathBuf};

/// What happens to a repository as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepositoryChangeKind {
    Created,
    Changed,
    Removed,
}

/// A repository of which a change set changes files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryChange {
    pub path: PathBuf,
    pub fate: RepositoryChangeKind,
    pub facts: Vec<RepositoryFact>,
    /// Facts that were left out because there are too many.
    pub more_facts: usize,
}

impl RepositoryChange {
    /// The facts about one file.
    pub(crate) fn facts_of(&self, file: &Path) -> impl Iterator<Item = &RepositoryFact> {
        self.facts.iter().filter(move |fact| fact.file() == file)
    }

    /// What runs later because of the change of `file`, the gravest first. A harmless setting must not hide the others, so
    /// each is named, or counted where there are many.
    pub(crate) fn runs(&self, file: &Path) -> Option<String> {
        let facts = self.facts_of(file);
        let mut runs: Vec<(usize, String)> =
            facts.filter_map(|fact| Some((fact.rank(), fact.runs()?))).collect();
        runs.sort();
        let more = runs.len().saturating_sub(MOST_NAMED);
        let named: Vec<String> = runs.into_iter().take(MOST_NAMED).map(|(_, text)| text).collect();
        let more = if more > 0 { format!("; and {more} more that run something") } else { String::new() };
        (!named.is_empty()).then(|| named.join("; ") + &more)
    }
}

/// What happens to a linked worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeFate {
    Added,
    Removed,
    /// Its directory had been removed before.
    Pruned,
    /// It is still there, and its repository names another directory.
    Unregistered,
}

/// One thing that a person must see by itself. Texts are as they are in the repository: hostile until rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepositoryFact {
    /// A setting that another value is given, or that is new or gone (no `value`).
    Setting {
        file: PathBuf,
        key: String,
        value: Option<String>,
        /// What git does because of it, if it runs something or looks elsewhere.
        consequence: Option<&'static str>,
    },
    /// A program that git runs at some of its commands.
    Hook { file: PathBuf, removed: bool },
    /// A file that leads git to other objects, attributes or settings.
    Redirect { file: PathBuf, why: &'static str },
    /// A file that git obeys and that cannot be read here.
    Unread { file: PathBuf, why: String },
    /// A linked worktree was registered, and the directory that it names does not exist.
    MissingWorktree { file: PathBuf, directory: PathBuf },
    /// A linked worktree was registered, or is not any more.
    Worktree { file: PathBuf, directory: PathBuf, fate: WorktreeFate },
}

impl RepositoryFact {
    /// The file that the fact is about.
    pub fn file(&self) -> &Path {
        match self {
            RepositoryFact::Setting { file, .. }
            | RepositoryFact::Hook { file, .. }
            | RepositoryFact::Redirect { file, .. }
            | RepositoryFact::Unread { file, .. }
            | RepositoryFact::MissingWorktree { file, .. }
            | RepositoryFact::Worktree { file, .. } => file,
        }
    }

    fn rank(&self) -> usize {
        match self {
            RepositoryFact::Setting { key, .. } => rank(key).saturating_add(1),
            _ => 0,
        }
    }

    /// What runs later because of it, for the reason of an approval.
    pub fn runs(&self) -> Option<String> {
        match self {
            RepositoryFact::Setting { key, value: Some(value), consequence: Some(why), .. } => {
                Some(format!("{key} = {value}: {why}"))
            }
            RepositoryFact::Hook { removed: false, .. } => {
                Some("git runs it at its next commit, checkout, merge or push".into())
            }
            RepositoryFact::Redirect { why, .. } => Some((*why).into()),
            RepositoryFact::Unread { why, .. } => {
                Some(format!("git reads it, and placet cannot read it here: {why}"))
            }
            _ => None,
        }
    }

    /// For a list: `.git/config: core.fsmonitor = /tmp/x: git status and most other git commands run it`.
    pub fn row(&self, name: &dyn Fn(&Path) -> String, text: &dyn Fn(&str) -> String) -> RepositoryRow {
        let words = self.words(name, text);
        let row = match self {
            // The row names the directory of the worktree instead.
            RepositoryFact::MissingWorktree { .. } | RepositoryFact::Worktree { .. } => words,
            _ => format!("{}: {words}", name(self.file())),
        };
        let row = if self.needs_care() { RepositoryRow::care(row) } else { RepositoryRow::plain(row) };
        // What runs later waits for an answer; a worktree without its directory is only said.
        RepositoryRow { needs_approval: row.needs_care && self.runs().is_some(), ..row }
    }

    /// The same without the file, for a row that names the file already.
    pub(crate) fn words(&self, name: &dyn Fn(&Path) -> String, text: &dyn Fn(&str) -> String) -> String {
        match self {
            RepositoryFact::Setting { key, value, consequence, .. } => {
                let (key, value) = (text(key), value.as_deref().map(text));
                match (value, consequence) {
                    (Some(value), Some(why)) => format!("{key} = {value}: {why}"),
                    (Some(value), None) => format!("{key} = {value}"),
                    (None, _) => format!("{key} removed"),
                }
            }
            RepositoryFact::Hook { removed: true, .. } => "hook removed".into(),
            RepositoryFact::MissingWorktree { directory, .. } => {
                format!("worktree {} registered, its directory was not created", name(directory))
            }
            RepositoryFact::Worktree { directory, fate, .. } => {
                let fate = match fate {
                    WorktreeFate::Added => "added",
                    WorktreeFate::Removed => "removed",
                    WorktreeFate::Pruned => "pruned: its directory was not there",
                    WorktreeFate::Unregistered => {
                        "no longer registered: git worktree prune removes its HEAD and its index"
                    }
                };
                format!("worktree {} {fate}", name(directory))
            }
            RepositoryFact::Hook { .. } | RepositoryFact::Redirect { .. } | RepositoryFact::Unread { .. } => {
                text(&self.runs().unwrap_or_default())
            }
        }
    }

    /// The person must see the fact before anything else.
    fn needs_care(&self) -> bool {
        match self {
            RepositoryFact::Setting { value, consequence, .. } => value.is_some() && consequence.is_some(),
            RepositoryFact::Hook { removed, .. } => !removed,
            RepositoryFact::Worktree { .. } => false,
            RepositoryFact::Redirect { .. }
            | RepositoryFact::Unread { .. }
            | RepositoryFact::MissingWorktree { .. } => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_the_file_and_what_the_fact_says_without_it() {
        let file = PathBuf::from("a: b/.git/config");
        let setting = |value: Option<&str>, consequence| RepositoryFact::Setting {
            file: file.clone(),
            key: "a: b/.git/config: x".into(),
            value: value.map(String::from),
            consequence,
        };
        let name = |path: &Path| path.display().to_string();
        let rows = [
            (setting(Some("1"), None), "a: b/.git/config: x = 1", false),
            (setting(Some("1"), Some("git runs it")), "a: b/.git/config: x = 1: git runs it", true),
            (setting(None, Some("git runs it")), "a: b/.git/config: x removed", false),
            (RepositoryFact::Hook { file: file.clone(), removed: true }, "hook removed", false),
            (RepositoryFact::Redirect { file: file.clone(), why: "leads away" }, "leads away", true),
        ];
        for (fact, words, needs_care) in rows {
            let row = fact.row(&name, &str::to_string);
            assert_eq!(fact.words(&name, &str::to_string), words);
            assert_eq!((row.text, row.needs_care), (format!("a: b/.git/config: {words}"), needs_care));
        }
        let (directory, fate) = (PathBuf::from("wt"), WorktreeFate::Added);
        let added = RepositoryFact::Worktree { file, directory, fate };
        assert_eq!(added.row(&name, &str::to_string).text, "worktree wt added");
    }
}
