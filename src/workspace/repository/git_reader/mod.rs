//! Reads what a repository says in its two states, before a change set and after it, and names the difference as git
//! would: commits, branches, tags, stashes, the index.
//!
//! The author of the repository may be hostile, and the merged `.git` exists as no directory, so git itself is never
//! run and no library that follows what a repository names is used. Only regular files are opened, without links; every
//! read is bounded by [`budget`]; what a bound cuts off is reported in a row of its own. Objects are checked against
//! their names. The formats are those of gitformat-pack(5), gitformat-index(5) and gitrepository-layout(5).

mod ancestry;
mod bisect_marks;
mod budget;
mod cache_tree;
mod changed_stores;
mod checked_out;
mod commit;
mod commit_graph;
mod commit_patch;
mod commit_tree;
mod committed_links;
mod compare;
mod delta;
mod event;
mod event_words;
mod git_index;
mod git_sides;
mod head_trees;
mod index_changes;
mod index_end;
mod index_extensions;
mod lfs_objects;
mod looks;
mod loose_objects;
mod moved_worktrees;
mod object_id;
mod object_store;
mod on_top;
mod operation_facts;
mod operations;
mod pack;
mod packed_refs;
mod peeled_refs;
mod person_identity;
mod plain_path;
mod protected_contents;
mod reached_before;
mod ref_changes;
mod ref_table;
mod reflog_words;
mod refs;
mod removed_worktrees;
mod repository_files;
mod sparse_directories;
mod staged_losses;
mod stash_changes;
mod state_contents;
mod stored_content;
mod stored_event;
mod tree_diff;
mod unexplained_files;
mod unnoticed_changes;
mod unreached_objects;
mod work_tree_content;
mod work_trees;

pub(in crate::workspace) use budget::{ReadDeadline, consent_deadline, deadline};
pub(in crate::workspace) use checked_out::{WorkTreeFile, checked_out};
pub use commit_patch::CommitPatch;
pub(in crate::workspace) use compare::compare;
pub use event::{
    DroppedCommits, GitEvent, HeadPosition, IndexNotRead, RefKind, RefTarget, RepositoryEvents, StashPart,
    StoredContent, StoredKind,
};
pub(in crate::workspace) use git_sides::GitSides;
pub(in crate::workspace) use index_end::{IndexEnd, end_without_caches};
pub(in crate::workspace) use moved_worktrees::moved_worktrees;
pub(in crate::workspace) use on_top::{MovedRef, are_on_top, index_is_on_top};
pub use operation_facts::{NamedCommit, OperationFact};
pub(in crate::workspace) use protected_contents::{ProtectedContent, protected_contents};
pub(in crate::workspace) use repository_files::RepositoryFiles;
pub use tree_diff::TreeChanges;
pub(in crate::workspace) use work_trees::{is_bare, leads_to, work_trees};

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
