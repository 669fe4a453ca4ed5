//! Git repositories among the files of a workspace: which directories are one, and what a change in one means.
//!
//! A repository is known by what it is, not by the name `.git`: git takes any directory that a `.git` file names, and
//! any that it is started in. Nothing here runs git or trusts what it reads.

mod command_words;
mod commit_patch;
mod config;
mod config_keys;
mod configured_files;
mod content_readers;
mod current_branch;
mod detect;
mod facts;
mod git_dirs;
mod git_event;
mod lexical;
mod linkable_names;
mod repository_change;
mod repository_file;
mod repository_row;
mod setting_places;
mod work_tree;

pub use commit_patch::CommitPatch;
pub(crate) use commit_patch::MOST_NAMED;
pub(crate) use config::settings;
pub(crate) use configured_files::{ConfiguredFiles, ConfiguredUse, FileForm};
pub(crate) use content_readers::{ContentReadError, ContentReaders, ReadOutcome, outside_content};
pub use current_branch::{HeadPosition, head_of};
pub use detect::RepositorySet;
pub(crate) use detect::{DirectoryFate, is_below_git, is_linked_worktree};
pub use facts::{RepositoryChange, RepositoryChangeKind, RepositoryFact, WorktreeFate};
pub(crate) use facts::{facts_of, flat};
pub(crate) use git_dirs::GitDirs;
pub use git_event::{GitEvent, GitEventKind, RepositoryEvents, TreeChanges};
pub(crate) use linkable_names::LinkableNames;
pub(crate) use placet_permission::is_repository;
pub(crate) use repository_file::RepositoryFile;
pub use repository_row::RepositoryRow;
pub(crate) use work_tree::WorkTree;
