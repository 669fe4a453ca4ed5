//! Which operation of git is in progress in a checkout, by the files of its git directory.

use crate::git_file::GitFiles;
use crate::git_name::GitName;
use crate::object_id::ObjectId;
use crate::state::CheckoutName;

/// Which operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitOperation {
    Rebase,
    Am,
    Merge,
    CherryPick,
    Revert,
    Bisect,
}

/// How far an operation is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperationState {
    pub kind: GitOperation,
    /// The step at which it is, and all steps, where git counts them.
    pub steps: Option<(usize, usize)>,
    /// The branch that it returns to.
    pub branch: Option<GitName>,
    /// What is merged, picked or reverted.
    pub commits: Vec<ObjectId>,
}

impl OperationState {
    /// The operation that git has not finished there.
    pub(crate) fn of(files: &GitFiles, checkout: &CheckoutName) -> Option<OperationState> {
        let directory = checkout.directory();
        let file = |name: &str| files.named.get(&GitName::from(directory.join(name).as_path()));
        let text = |name: &str| file(name)?.bytes().map(|bytes| GitName::new(bytes.trim_ascii()));
        let number = |name: &str| std::str::from_utf8(text(name)?.as_bytes()).ok()?.parse::<usize>().ok();
        let has_below = |name: &str| {
            let below = directory.join(name);
            files.named.keys().any(|file| file.as_path().starts_with(&below))
        };
        let commits = |name: &str| {
            let text = text(name).unwrap_or_default();
            text.as_bytes().split(|byte| *byte == b'\n').filter_map(ObjectId::from_hex).collect::<Vec<_>>()
        };
        if has_below("rebase-merge") {
            let steps = number("rebase-merge/msgnum").zip(number("rebase-merge/end"));
            return Some(OperationState {
                kind: GitOperation::Rebase,
                steps,
                branch: text("rebase-merge/head-name"),
                commits: Vec::new(),
            });
        }
        if has_below("rebase-apply") {
            let kind =
                if file("rebase-apply/applying").is_some() { GitOperation::Am } else { GitOperation::Rebase };
            let steps = number("rebase-apply/next").zip(number("rebase-apply/last"));
            let branch = text("rebase-apply/head-name");
            return Some(OperationState { kind, steps, branch, commits: Vec::new() });
        }
        let signs = [
            ("MERGE_HEAD", GitOperation::Merge),
            ("CHERRY_PICK_HEAD", GitOperation::CherryPick),
            ("REVERT_HEAD", GitOperation::Revert),
            ("BISECT_LOG", GitOperation::Bisect),
            ("BISECT_START", GitOperation::Bisect),
        ];
        let found = signs.into_iter().find(|(name, _)| file(name).is_some());
        found.map(|(name, kind)| OperationState { kind, steps: None, branch: None, commits: commits(name) })
    }
}
