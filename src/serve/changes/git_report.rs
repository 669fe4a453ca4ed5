//! What happened to a repository, for a program: the same events as the rows below it, as values.

use crate::workspace::{
    DroppedCommits, GitEvent, HeadPosition, RefTarget, RepositoryEvents, StashPart, StoredContent,
    StoredKind, TreeChanges,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::path::Path;

/// One event of a repository. Names and texts are as they are in the repository; `text` is made for a person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ReportedGitEvent {
    /// The directory of the repository.
    repository: String,
    /// `commit`, `ref_created`, `head`, `stash`, `note`, `index`, ...
    event: &'static str,
    /// The row as a person reads it.
    text: String,
    /// It is shown first: something is lost, hidden or not read.
    needs_care: bool,
    /// The full name of the ref, or the operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The commit, by its short name.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    /// Where the ref or `HEAD` was, and is.
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<String>,
    /// Files and lines of a commit, or of what else git stores: a stash entry, a note, the message of a tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    added: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    removed: Option<usize>,
    /// Commits that a ref had and has no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped_commits: Option<usize>,
    /// Whether any other ref has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    commits_are_lost: Option<bool>,
}

/// The events of one repository.
pub fn git_reports(repository: &RepositoryEvents) -> Vec<ReportedGitEvent> {
    repository.events.iter().map(|event| report(&repository.path, event)).collect()
}

fn report(repository: &Path, event: &GitEvent) -> ReportedGitEvent {
    let path = |path: &Path| Some(path.to_string_lossy().into_owned());
    let plain = ReportedGitEvent {
        repository: repository.to_string_lossy().into_owned(),
        event: kind(event),
        text: event.line(),
        needs_care: event.needs_care(),
        ..ReportedGitEvent::default()
    };
    let head = |at: &HeadPosition| match at {
        HeadPosition::Branch(name) => name.to_string_lossy().into_owned(),
        HeadPosition::Detached(id) => id.clone(),
    };
    match event {
        GitEvent::Commit { id, subject, on, changes, .. } => {
            let (commit, subject) = (Some(id.clone()), Some(subject.clone()));
            ReportedGitEvent { name: path(on), commit, subject, ..plain }.counting(changes)
        }
        GitEvent::RefCreated { name, at, content, .. } => {
            ReportedGitEvent { name: path(name), to: Some(at.clone()), ..plain }.storing(content.as_ref())
        }
        GitEvent::RefDeleted { name, at, dropped, content, .. } => {
            let deleted = ReportedGitEvent { name: path(name), from: Some(at.clone()), ..plain };
            deleted.dropping(dropped).storing(content.as_ref())
        }
        GitEvent::RefMoved { name, from, to, dropped, content, .. } => {
            let plain = ReportedGitEvent { name: path(name), from: Some(from.clone()), ..plain };
            let moved = ReportedGitEvent { to: Some(to.clone()), ..plain }.dropping(dropped);
            moved.storing(content.as_ref())
        }
        GitEvent::Stored { kind, content } => {
            let name = match kind {
                StoredKind::Notes(on) => path(on),
                StoredKind::Named { file, .. } | StoredKind::StateFile(file) => path(file),
                _ => None,
            };
            let known = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
            let (commit, subject) = (known(&content.id), known(&content.subject));
            ReportedGitEvent { name, commit, subject, ..plain }.counting(&content.changes)
        }
        GitEvent::Head { from, to, dropped, .. } => {
            ReportedGitEvent { from: from.as_ref().map(head), to: Some(head(to)), ..plain }.dropping(dropped)
        }
        GitEvent::BranchRenamed { from, to } => ReportedGitEvent { from: path(from), to: path(to), ..plain },
        GitEvent::BrokenRef { name, .. } | GitEvent::ReflogEntriesRemoved { name, .. } => {
            ReportedGitEvent { name: path(name), ..plain }
        }
        GitEvent::Operation { name, .. } => ReportedGitEvent { name: Some((*name).into()), ..plain },
        _ => plain,
    }
}

impl ReportedGitEvent {
    fn counting(self, changes: &TreeChanges) -> ReportedGitEvent {
        let TreeChanges { files, added, removed, .. } = *changes;
        ReportedGitEvent { files: Some(files), added: Some(added), removed: Some(removed), ..self }
    }

    fn storing(self, content: Option<&(RefTarget, StoredContent)>) -> ReportedGitEvent {
        match content {
            Some((_, content)) => self.counting(&content.changes),
            None => self,
        }
    }

    fn dropping(self, dropped: &DroppedCommits) -> ReportedGitEvent {
        let any = dropped.number > 0 || dropped.at_least;
        ReportedGitEvent {
            dropped_commits: any.then_some(dropped.number),
            commits_are_lost: any.then_some(dropped.are_lost),
            ..self
        }
    }
}

fn kind(event: &GitEvent) -> &'static str {
    match event {
        GitEvent::Commit { .. } => "commit",
        GitEvent::MoreCommits { .. } => "more_commits",
        GitEvent::BrokenRef { .. } => "ref_not_read",
        GitEvent::OtherName { .. } => "ref_symbolic",
        GitEvent::MoreRefs(_) => "more_refs",
        GitEvent::Head { .. } => "head",
        GitEvent::RefCreated { .. } => "ref_created",
        GitEvent::RefDeleted { .. } => "ref_deleted",
        GitEvent::RefMoved { .. } => "ref_moved",
        GitEvent::BranchRenamed { .. } => "branch_renamed",
        GitEvent::Stored { kind, .. } => match kind {
            StoredKind::Stash { is_removed: true, .. } => "stash_removed",
            StoredKind::Stash {
                part: StashPart::Entry | StashPart::InWorkTree | StashPart::LinesInWorkTree,
                ..
            } => "stash",
            StoredKind::Stash { part: StashPart::Staged, .. } => "stash_staged",
            StoredKind::Stash { part: StashPart::Untracked, .. } => "stash_untracked",
            StoredKind::StateFile(_) => "git_file",
            StoredKind::Notes(_) => "note",
            StoredKind::Named { .. } => "object_named",
            StoredKind::LfsObjects { .. } => "lfs_objects",
            StoredKind::UnreachedCommit => "commit_unreached",
            StoredKind::UnreachedObjects { .. } => "objects_unreached",
        },
        GitEvent::MoreStored { .. } => "more_stored",
        GitEvent::UnreachedNotRead => "unreached_not_read",
        GitEvent::Operation { in_progress: true, .. } => "operation_begun",
        GitEvent::Operation { in_progress: false, .. } => "operation_ended",
        GitEvent::StepsLeftOut { .. } => "steps_left_out",
        GitEvent::StepSkipped(_) => "step_skipped",
        GitEvent::BisectMarked(_) => "bisect_marked",
        GitEvent::Index { .. } => "index",
        GitEvent::HiddenFiles { .. } => "files_hidden",
        GitEvent::StagedLost { .. } => "staged_lost",
        GitEvent::LockLeft(_) => "lock_left",
        GitEvent::IndexNotRead(_) => "index_not_read",
        GitEvent::ConflictsForgotten { .. } => "conflicts_forgotten",
        GitEvent::IndexExtension(_) => "index_extension",
        GitEvent::WorktreeRemoved { .. } => "worktree_removed",
        GitEvent::WronglyPeeled { .. } => "refs_wrongly_peeled",
        GitEvent::RefsPacked => "refs_packed",
        GitEvent::Repacked { .. } => "repacked",
        GitEvent::ReflogEntriesRemoved { .. } => "reflog_entries_removed",
        GitEvent::RefsNotRead(_) => "refs_not_read",
        GitEvent::ObjectsElsewhere(_) => "objects_elsewhere",
        GitEvent::NotAllRead(_) => "not_all_read",
        GitEvent::OnlyFiles { .. } => "files_changed",
    }
}
