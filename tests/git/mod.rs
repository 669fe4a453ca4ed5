//! Repositories: what a person sees of them, what waits, and what is applied.

mod beside_git;
mod git_commands;
mod git_crash;
mod git_files_shown;
mod git_state_removed;
mod hidden_commits;
mod hostile_commits;
mod hostile_git_reader;
mod hostile_git_state;
mod hostile_hooks_path;
mod hostile_repositories;
mod hostile_settings;
mod moved_head;
mod moved_repository;
mod review_index;
mod signed_commits;
mod single_refs;
mod stopped_operations;
