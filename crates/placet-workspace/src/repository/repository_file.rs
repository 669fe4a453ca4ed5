//! What an apply does with a changed file of a repository. What a review does not list is exactly what no apply writes.

use super::detect::{DirectoryFate, RepositorySet, is_below_git};
use crate::changes::change_set::FileChange;
use placet_git::{GitFileClass, GitName, class_of};
use std::path::Path;

/// What an apply does with a changed file of a repository that git applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RepositoryFile {
    /// No apply writes it as a file.
    NotWritten,
    /// It runs or configures something: it is written as a file where a person approves it by its name.
    Named,
    /// It belongs to an operation, a linked worktree or a new repository: git's side of an apply writes it.
    Grouped,
    /// A new content of LFS, written after its name was proved: as a file, or with a repository that is new. One that is changed
    /// or removed is not written.
    LfsContent,
    /// A file of a project, beside a bare repository.
    OfProject,
}

impl RepositoryFile {
    /// `git_dir` is the repository with what linked worktrees share.
    pub(crate) fn of(git_dir: &Path, fate: DirectoryFate, change: &FileChange) -> RepositoryFile {
        let is_there = fate == DirectoryFate::Changed;
        let Ok(rel) = change.path.strip_prefix(git_dir) else { return RepositoryFile::OfProject };
        match class_of(&GitName::from(rel)) {
            GitFileClass::Foreign if !is_below_git(git_dir) => RepositoryFile::OfProject,
            GitFileClass::LfsContent if change.before.is_absent() && change.after.is_file() => {
                RepositoryFile::LfsContent
            }
            GitFileClass::OfGit if is_there => RepositoryFile::Named,
            GitFileClass::OfGit
            | GitFileClass::Operation(_)
            | GitFileClass::OperationTrace(_)
            | GitFileClass::Worktree(_) => RepositoryFile::Grouped,
            GitFileClass::Carried
            | GitFileClass::NotCarried
            | GitFileClass::LfsContent
            | GitFileClass::Foreign => RepositoryFile::NotWritten,
        }
    }
}

impl RepositorySet {
    /// True for a file in a repository that no apply writes as a file: git carries what it means, or nobody does.
    pub fn is_carried_by_git(&self, change: &FileChange) -> bool {
        self.file(change) == Some(RepositoryFile::NotWritten)
    }

    /// True for a content of LFS that is written as a file: a row counts them, and its name proves what is in it.
    pub fn is_lfs_content(&self, change: &FileChange) -> bool {
        self.file(change) == Some(RepositoryFile::LfsContent)
    }

    fn file(&self, change: &FileChange) -> Option<RepositoryFile> {
        let dir = self.common(&change.path)?;
        Some(RepositoryFile::of(dir, self.fate(dir)?, change))
    }
}
