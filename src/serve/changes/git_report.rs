//! What happened to a repository, for a program: the same events as the rows below it, as values.

use crate::workspace::{GitEvent, RepositoryEvents};
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
    let has_dropped = event.dropped_commits > 0;
    ReportedGitEvent {
        repository: repository.to_string_lossy().into_owned(),
        event: event.kind.word(),
        text: event.text.clone(),
        needs_care: event.needs_care,
        name: event.name.clone(),
        commit: event.commit.clone(),
        subject: event.subject.clone(),
        from: event.from.clone(),
        to: event.to.clone(),
        files: event.changes.map(|changes| changes.files),
        added: event.changes.map(|changes| changes.added),
        removed: event.changes.map(|changes| changes.removed),
        dropped_commits: has_dropped.then_some(event.dropped_commits),
        commits_are_lost: has_dropped.then_some(true),
    }
}
