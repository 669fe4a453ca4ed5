//! Rows about what git stores besides the commits of branches.

use super::commit_patch::CommitPatch;
use super::event_words::{quoted, short, tree_words};
use super::tree_diff::TreeChanges;
use crate::text::{count, visible};
use std::path::PathBuf;

/// What is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredKind {
    /// An entry of `git stash list` that is new or gone, against the commit on which it was made.
    Stash { part: StashPart, is_removed: bool },
    /// A commit of notes, with the ref that it is on.
    Notes(PathBuf),
    /// An object that a file of git names. A commit there is a commit like any other.
    Named { file: PathBuf, what: &'static str },
    /// A file of git itself, by its path in the repository, that no other row explains.
    StateFile(PathBuf),
    /// New objects of git LFS, and how many of them have no content in the row.
    LfsObjects { number: usize, more: usize },
    /// Only a reflog, or nothing, leads to it.
    UnreachedCommit,
    /// The numbers of objects by their kinds, and how many of them have no content in the row.
    UnreachedObjects { counts: [(&'static str, usize); 5], more: usize },
}

/// Which part of a stash entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StashPart {
    /// The files of the work tree.
    Entry,
    /// The same of an entry that is gone: the work tree has these files.
    InWorkTree,
    /// The same: the work tree has its changes, and others in these files.
    LinesInWorkTree,
    /// What was staged then, where that is something else.
    Staged,
    Untracked,
}

/// An object by its short name, with what is in it. The subject is as it is in the repository; of notes, it names the objects
/// that they are on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredContent {
    pub id: String,
    pub subject: String,
    pub changes: TreeChanges,
    /// Why the content is not in the patch, with its size.
    pub not_shown: Option<String>,
    pub patch: CommitPatch,
}

impl StoredContent {
    /// Counts of lines, and what is not shown as text.
    fn words_of_several(&self) -> String {
        let not_text = match (self.changes.uncounted, &self.not_shown) {
            (0, _) => None,
            (1, Some(why)) => Some(why.clone()),
            (number, _) => Some(format!("{number} not shown as text")),
        };
        let lines = (self.changes.added > 0).then(|| format!("+{} -0", self.changes.added));
        let words: Vec<String> = lines.into_iter().chain(not_text).collect();
        if words.is_empty() { "empty".into() } else { words.join(", ") }
    }

    /// Counts of lines; `None` where nothing is in it.
    pub(super) fn words(&self) -> Option<String> {
        let TreeChanges { files, added, removed, uncounted, .. } = self.changes;
        match (files, uncounted) {
            (0, _) if !self.changes.at_least => None,
            (1, 0) => Some(format!("+{added} -{removed}")),
            (1, 1) if self.not_shown.is_some() => self.not_shown.clone(),
            _ => Some(tree_words(&self.changes)),
        }
    }
}

/// What a ref leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefTarget {
    pub is_annotated: bool,
    /// `commit`, `tree`, `blob`; `tag` where the object behind the tag cannot be read.
    pub kind: &'static str,
}

const UNREACHED: &str = "reached by no branch or tag";
/// Where refs or the index cannot be read.
const UNKNOWN: &str = "not known what leads to it";

fn not_shown(more: usize) -> String {
    if more > 0 { format!(", {more} of them not shown") } else { String::new() }
}

/// What a ref leads to that is no commit: `, annotated: 1 file +4 -0`.
pub(super) fn target_words(content: Option<&(RefTarget, StoredContent)>) -> String {
    let Some((RefTarget { is_annotated, kind }, content)) = content else { return String::new() };
    let annotated = if *is_annotated { ", annotated" } else { "" };
    let what = if *kind == "commit" { String::new() } else { format!(", a {kind}") };
    let lines = content.words().map(|words| format!(": {words}"));
    format!("{annotated}{what}{}", lines.unwrap_or_default())
}

/// The same for a ref that moved. Where it leads to a commit, the content is what the ref lost or got.
pub(super) fn moved_words(content: Option<&(RefTarget, StoredContent)>) -> String {
    match content {
        Some((RefTarget { is_annotated: false, kind: "commit" }, content)) => {
            format!(": {}", tree_words(&content.changes))
        }
        content => target_words(content),
    }
}

impl StoredKind {
    pub(super) fn line(&self, content: &StoredContent) -> String {
        let StoredContent { id, subject, changes, .. } = content;
        let is_known = content.patch.is_unreached || content.patch.is_logged;
        let reached = if is_known { UNREACHED } else { UNKNOWN };
        let words = || content.words().unwrap_or_else(|| "no files".into());
        match self {
            StoredKind::Stash { part, is_removed } => {
                let verb = if *is_removed { "removed" } else { "added" };
                let removed = if *is_removed { ", removed" } else { "" };
                match part {
                    StashPart::Entry => {
                        format!("stash entry {id} {} {verb}: {}", quoted(subject), tree_words(changes))
                    }
                    StashPart::InWorkTree => {
                        format!("stash entry {id} {} {verb}: its files are in the work tree", quoted(subject))
                    }
                    StashPart::LinesInWorkTree => {
                        format!("stash entry {id} {} {verb}: its lines are in the work tree", quoted(subject))
                    }
                    StashPart::Staged => {
                        format!("stash entry {id}, what was staged{removed}: {}", tree_words(changes))
                    }
                    StashPart::Untracked => {
                        format!("stash entry {id}, untracked files{removed}: {}", tree_words(changes))
                    }
                }
            }
            StoredKind::StateFile(file) if subject.is_empty() => {
                format!("{}: {}", visible::path(file), words())
            }
            StoredKind::StateFile(file) => {
                format!("{} {}: {}", visible::path(file), quoted(subject), words())
            }
            StoredKind::Notes(on) => {
                let on = short(on);
                let subject = visible::guard_line(subject);
                format!("note on {subject} in {on}: {}", words())
            }
            StoredKind::Named { file, what } => {
                format!("{} leads to {what} {id}: {}", visible::path(file), words())
            }
            StoredKind::LfsObjects { number, more } => {
                let objects = count::of(*number, "LFS object");
                format!("{objects}: {}{}", content.words_of_several(), not_shown(*more))
            }
            StoredKind::UnreachedCommit => {
                format!("commit {id} {}, {reached}: {}", quoted(subject), tree_words(changes))
            }
            StoredKind::UnreachedObjects { counts, more } => {
                let counts = counts.iter().filter(|(_, number)| *number > 0);
                let counts: Vec<String> = counts.map(|(kind, number)| count::of(*number, kind)).collect();
                format!(
                    "{}, {reached}: {}{}",
                    counts.join(", "),
                    content.words_of_several(),
                    not_shown(*more)
                )
            }
        }
    }

    pub(super) fn more_line(&self, number: usize) -> String {
        match self {
            StoredKind::StateFile(_) => {
                return format!(
                    "at least {} of git, whose content is not shown",
                    count::of(number, "more file")
                );
            }
            StoredKind::Stash { is_removed: true, .. } => {
                let entries = count::of(number, "stash entry");
                return format!("at least {entries} removed, whose content is not shown");
            }
            _ => {}
        }
        let what = match self {
            StoredKind::Notes(_) => "commit of notes",
            StoredKind::UnreachedCommit => "unreached commit",
            _ => "stash entry",
        };
        let of = match (self, number) {
            (StoredKind::Notes(_), 2..) => format!("{number} commits of notes"),
            _ => count::of(number, what),
        };
        format!("at least {of} older than these, whose content is not shown")
    }

    /// How the files of its patch are named.
    pub(super) fn name(&self, id: &str) -> String {
        match self {
            StoredKind::Stash { part, is_removed } => {
                let part = match part {
                    StashPart::Entry | StashPart::InWorkTree | StashPart::LinesInWorkTree => "",
                    StashPart::Staged => ", staged",
                    StashPart::Untracked => ", untracked",
                };
                let removed = if *is_removed { ", removed" } else { "" };
                format!("stash entry {id}{part}{removed}")
            }
            StoredKind::StateFile(_) => "files of git".into(),
            StoredKind::Notes(on) => format!("notes {}", short(on)),
            StoredKind::Named { file, .. } => visible::path(file),
            StoredKind::LfsObjects { .. } => "LFS objects".into(),
            StoredKind::UnreachedCommit => format!("commit {id}, {UNREACHED}"),
            StoredKind::UnreachedObjects { .. } => format!("objects {UNREACHED}"),
        }
    }
}
