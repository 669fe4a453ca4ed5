//! A row below a repository in a list of changes.

use super::commit_patch::CommitPatch;

/// What happened in a repository, in one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepositoryRow {
    /// Rendered for a person. With `needs_care` it names the repository: such rows are moved to the top of a list.
    pub text: String,
    pub needs_care: bool,
    /// It is applied only with an answer of its own, and marked with `! `.
    pub needs_approval: bool,
    /// Rendered, and behind the numbers of the row.
    pub note: String,
    /// Of a commit, and of what else git stores, what is in it.
    pub patch: Option<CommitPatch>,
}

impl RepositoryRow {
    pub(super) fn plain(text: String) -> RepositoryRow {
        RepositoryRow { text, needs_care: false, needs_approval: false, note: String::new(), patch: None }
    }

    pub(crate) fn care(text: String) -> RepositoryRow {
        RepositoryRow { text, needs_care: true, needs_approval: false, note: String::new(), patch: None }
    }

    /// As a line by itself: `! x/.git: branch old deleted`.
    pub fn line(&self) -> String {
        let mark = if self.needs_approval { "! " } else { "" };
        format!("{mark}{}", self.text)
    }
}
