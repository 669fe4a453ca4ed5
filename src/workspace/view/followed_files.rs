//! The files of a repository that pending changes can take over from what it is now, and what is in the way of that.

use std::path::Path;

/// Files that git writes for every commit or reset; to replace them loses nothing.
const REWRITTEN: [&str; 2] = ["COMMIT_EDITMSG", "ORIG_HEAD"];

/// Why the pending changes of a repository cannot count as changes of what it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FollowBlock {
    /// A branch that moved is not in the history of the pending one: a rebase would help.
    NotOnTop,
    Other,
}

/// A branch, a tag or a branch of a remote. Entries of the stash are numbered: each is the base of the one after it.
pub(super) fn is_followed_ref(rel: &Path) -> bool {
    ["refs/heads", "refs/tags", "refs/remotes"].iter().any(|dir| rel.starts_with(dir))
}

/// A file that changes with every commit and says nothing about the state of the repository.
pub(super) fn is_joined(rel: &Path) -> bool {
    is_log(rel) || is_rewritten(rel)
}

pub(super) fn is_rewritten(rel: &Path) -> bool {
    REWRITTEN.iter().any(|name| rel == Path::new(name))
}

pub(super) fn is_log(rel: &Path) -> bool {
    rel.starts_with("logs") && rel != Path::new("logs/refs/stash")
}
