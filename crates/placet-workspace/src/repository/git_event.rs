//! What happened to a repository, one event for each row: facts for programs, and the row for a person.

use super::commit_patch::CommitPatch;
use super::repository_change::RepositoryChangeKind;
use super::repository_row::RepositoryRow;
use placet_text::text::visible;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What kind of event it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GitEventKind {
    Commit,
    MoreCommits,
    RefCreated,
    RefDeleted,
    RefMoved,
    RefSymbolic,
    MoreRefs,
    BranchRenamed,
    Head,
    Index,
    StagedLost,
    FilesHidden,
    Stash,
    StashRemoved,
    OperationBegun,
    OperationEnded,
    /// The person changed the same meanwhile.
    Conflict,
    /// git or placet refuses to read it.
    NotRead,
    LfsContents,
    /// Names that are not applied.
    NotApplied,
}

impl GitEventKind {
    /// For programs.
    pub fn word(self) -> &'static str {
        match self {
            GitEventKind::Commit => "commit",
            GitEventKind::MoreCommits => "more_commits",
            GitEventKind::RefCreated => "ref_created",
            GitEventKind::RefDeleted => "ref_deleted",
            GitEventKind::RefMoved => "ref_moved",
            GitEventKind::RefSymbolic => "ref_symbolic",
            GitEventKind::MoreRefs => "more_refs",
            GitEventKind::BranchRenamed => "branch_renamed",
            GitEventKind::Head => "head",
            GitEventKind::Index => "index",
            GitEventKind::StagedLost => "staged_lost",
            GitEventKind::FilesHidden => "files_hidden",
            GitEventKind::Stash => "stash",
            GitEventKind::StashRemoved => "stash_removed",
            GitEventKind::OperationBegun => "operation_begun",
            GitEventKind::OperationEnded => "operation_ended",
            GitEventKind::Conflict => "conflict",
            GitEventKind::NotRead => "not_read",
            GitEventKind::LfsContents => "lfs_contents",
            GitEventKind::NotApplied => "not_applied",
        }
    }
}

/// Files and lines of a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeChanges {
    pub files: usize,
    pub added: usize,
    pub removed: usize,
    /// Files whose lines are not counted, because they are no text.
    pub uncounted: usize,
}

/// One event. Names are as they are in the repository: hostile until rendered. `text` is rendered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitEvent {
    pub kind: GitEventKind,
    pub text: String,
    /// A person must see it first.
    pub needs_care: bool,
    /// The full name of the ref, or the operation.
    pub name: Option<String>,
    /// By its short name.
    pub commit: Option<String>,
    pub subject: Option<String>,
    pub from: Option<String>,
    pub to: Option<String>,
    pub changes: Option<TreeChanges>,
    /// Commits that a ref had and has no more.
    pub dropped_commits: usize,
    /// Behind the row, and rendered: the only file of a commit, and files that run later.
    #[serde(default)]
    pub note: String,
    /// The journal has the commits themselves.
    #[serde(skip)]
    pub patch: Option<CommitPatch>,
}

impl GitEvent {
    pub(crate) fn new(kind: GitEventKind, text: String) -> GitEvent {
        GitEvent {
            kind,
            text,
            needs_care: false,
            name: None,
            commit: None,
            subject: None,
            from: None,
            to: None,
            changes: None,
            dropped_commits: 0,
            note: String::new(),
            patch: None,
        }
    }

    #[must_use]
    pub(crate) fn care(self) -> GitEvent {
        GitEvent { needs_care: true, ..self }
    }

    pub(crate) fn words_behind(&self) -> String {
        self.patch.as_ref().map_or_else(|| self.note.clone(), CommitPatch::note)
    }

    /// As it is in the journal: without what git can read again.
    pub(crate) fn without_patch(self) -> GitEvent {
        GitEvent { note: self.words_behind(), patch: None, ..self }
    }

    /// What its patch is a patch of.
    pub fn content_name(&self) -> String {
        match (&self.kind, &self.commit) {
            (GitEventKind::Stash | GitEventKind::StashRemoved, Some(id)) => format!("stash entry {id}"),
            (_, Some(id)) => format!("commit {id}"),
            (GitEventKind::RefCreated | GitEventKind::RefMoved, None) => {
                self.name.clone().unwrap_or_default()
            }
            _ => "index".into(),
        }
    }
}

/// What happened to one repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryEvents {
    pub path: PathBuf,
    pub fate: RepositoryChangeKind,
    pub events: Vec<GitEvent>,
}

impl RepositoryEvents {
    /// The rows for below the row of `outermost`, the repository that this one is or lies in.
    pub fn rows(&self, outermost: &Path, name: &dyn Fn(&Path) -> String) -> Vec<RepositoryRow> {
        let own = name(&self.path);
        let part = self.part_of(outermost).unwrap_or_else(|| own.clone());
        let row = |event: &GitEvent| {
            let row = match event.needs_care {
                true => RepositoryRow::care(format!("{own}: {}", event.text)),
                false if self.path == outermost => RepositoryRow::plain(event.text.clone()),
                false => RepositoryRow::plain(format!("{part}: {}", event.text)),
            };
            RepositoryRow { patch: event.patch.clone(), note: event.words_behind(), ..row }
        };
        self.events.iter().map(row).collect()
    }

    /// What it is to `outermost`, in the words of git: `submodule lib`.
    fn part_of(&self, outermost: &Path) -> Option<String> {
        let rel = self.path.strip_prefix(outermost).ok()?;
        Some(format!("submodule {}", visible::path(rel.strip_prefix("modules").ok()?)))
    }
}
