//! Changes of repositories: what the agent did to a git directory is read, shown, applied and undone by git itself.
//!
//! The agent's repository is an untrusted remote, and the crate `placet-git` transfers from it what git would transfer.
//! Here is what connects it to a view: the layers as a source of files, the state of the person's repository at the first
//! change (the base), and the question with its rows. The transaction around the files of the work tree is the apply's.
//!
//! No byte below a git directory is applied as a file, except files that a person approves by name (settings, hooks and the
//! like) and new contents of LFS whose names were proved.

mod base_state;
mod binary_sizes;
mod chosen_repositories;
mod directories;
mod events;
mod git_names;
mod git_words;
mod layer_source;
mod lfs;
mod noted_files;
mod pending_repository;
mod read_repository;
mod repository_memo;
mod repository_undo;
mod single_refs;
mod staged_only;
mod waiting;

pub(super) use pending_repository::GitRunnerPlace;
pub use pending_repository::{GitNotConfined, GitRunnerStart};
pub(super) use repository_memo::{RepositoriesAtStart, RepositoryMemo};
pub(super) use repository_undo::RepositoryUndo;
