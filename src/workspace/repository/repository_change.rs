//! What a change does to a repository.

use super::config_keys::rank;
use super::repository_row::RepositoryRow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The most reasons in the one line of a file.
pub(in crate::workspace) const MOST_NAMED: usize = 6;

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
    /// Stored objects that are lost, of this repository and of those in it.
    pub lost_objects: BTreeMap<PathBuf, usize>,
}

impl RepositoryChange {
    /// The facts about one file.
    pub(in crate::workspace) fn facts_of(&self, file: &Path) -> impl Iterator<Item = &RepositoryFact> {
        self.facts.iter().filter(move |fact| fact.file() == file)
    }

    /// What runs later because of the change of `file`, the gravest first. A harmless setting must not hide the others, so
    /// each is named, or counted where there are many.
    pub(in crate::workspace) fn runs(&self, file: &Path) -> Option<String> {
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
        let file = name(self.file());
        match self {
            RepositoryFact::Setting { key, value, consequence, .. } => {
                let (key, value) = (text(key), value.as_deref().map(text));
                match (value, consequence) {
                    (Some(value), Some(why)) => {
                        RepositoryRow::care(format!("{file}: {key} = {value}: {why}"))
                    }
                    (Some(value), None) => RepositoryRow::plain(format!("{file}: {key} = {value}")),
                    (None, _) => RepositoryRow::plain(format!("{file}: {key} removed")),
                }
            }
            RepositoryFact::Hook { removed: true, .. } => {
                RepositoryRow::plain(format!("{file}: hook removed"))
            }
            RepositoryFact::MissingWorktree { directory, .. } => {
                let directory = name(directory);
                RepositoryRow::care(format!("worktree {directory} registered, its directory was not created"))
            }
            RepositoryFact::Worktree { directory, fate, .. } => {
                let fate = match fate {
                    WorktreeFate::Added => "added",
                    WorktreeFate::Removed => "removed",
                    WorktreeFate::Pruned => "pruned: its directory was not there",
                };
                RepositoryRow::plain(format!("worktree {} {fate}", name(directory)))
            }
            other => RepositoryRow::care(format!("{file}: {}", text(&other.runs().unwrap_or_default()))),
        }
    }
}
