//! Directories that look like a repository: what in them git would read.

use super::repository_files::{RepositoryFiles, exists};
use crate::workspace::repository::is_name_of_git;
use std::path::Path;

/// True where a directory that is no whole repository has something that git would read in one. Its settings and hooks are facts
/// when it becomes one.
pub(super) fn has_part(files: &dyn RepositoryFiles, dir: &Path) -> bool {
    const HARMLESS: [&str; 7] =
        ["objects", "hooks", "config", "config.worktree", "commondir", "description", "info"];
    let names = files.names(dir);
    let mut names = names.iter().filter_map(|name| name.to_str());
    names.any(|name| !HARMLESS.contains(&name) && is_name_of_git(name))
}

/// Any directory of a project may look like a repository, and git reads only its own names there, if it has a `HEAD`.
pub(super) fn is_of_git(files: &dyn RepositoryFiles, dir: &Path, rel: &Path) -> bool {
    let first = rel.iter().next().and_then(|name| name.to_str()).unwrap_or_default();
    dir.iter().any(|name| name == ".git") || exists(files, &dir.join("HEAD")) && is_name_of_git(first)
}
