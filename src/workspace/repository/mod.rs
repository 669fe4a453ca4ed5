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
mod git_files;
mod lexical;
mod linkable_names;
mod repository_change;
mod repository_row;
mod setting_places;

pub(in crate::workspace) use crate::permission::is_repository;
pub use commit_patch::CommitPatch;
pub(in crate::workspace) use commit_patch::MOST_NAMED;
pub(in crate::workspace) use config::settings;
pub(in crate::workspace) use configured_files::{ConfiguredFiles, ConfiguredUse, FileForm};
pub(in crate::workspace) use content_readers::{
    ContentReadError, ContentReaders, ReadOutcome, outside_content,
};
pub use current_branch::{HeadPosition, head_of};
pub use detect::RepositorySet;
pub use facts::{RepositoryChange, RepositoryChangeKind, RepositoryFact, WorktreeFate};
pub(in crate::workspace) use facts::{facts_of, flat};
pub(in crate::workspace) use git_dirs::GitDirs;
pub use git_event::{GitEvent, GitEventKind, RepositoryEvents, TreeChanges};
pub use git_files::GitFileKind;
pub(in crate::workspace) use linkable_names::LinkableNames;
pub use repository_row::RepositoryRow;
