//! Files of git: what runs or configures something, and the state of an operation. Each waits by its name.
//!
//! The list is short and closed on purpose: nothing that is not in it is applied.

use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::limit;
use crate::source::{RepositorySource, SourceIdentity, SourceKind};
use crate::state::CheckoutName;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a file below a git directory is for placet.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GitFileClass {
    /// Read by git, and applied by git.
    Carried,
    /// Waits for an answer of its own.
    OfGit,
    /// Belongs to an operation in progress of a checkout.
    Operation(CheckoutName),
    /// Changes while an operation runs, and means nothing without one.
    OperationTrace(CheckoutName),
    /// Registers a linked worktree.
    Worktree(GitName),
    /// A content of Git LFS, under the hash of what is in it.
    LfsContent,
    /// Is not applied.
    NotCarried,
    /// The same in a `.git`, but git has no place for it: beside a bare repository it is a file of a project.
    Foreign,
}

/// The content of a file of git.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GitFileContent {
    Plain(GitName),
    Executable(GitName),
    /// A link, a device or a large file: it can be named, and not applied.
    NotRead,
}

impl GitFileContent {
    #[must_use]
    pub fn bytes(&self) -> Option<&[u8]> {
        match self {
            GitFileContent::Plain(bytes) | GitFileContent::Executable(bytes) => Some(bytes.as_bytes()),
            GitFileContent::NotRead => None,
        }
    }
}

/// All files below a git directory that are not carried by git.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitFiles {
    /// Those that wait, with their contents.
    pub named: BTreeMap<GitName, GitFileContent>,
    /// Those that are not applied: only whether they are the same is known.
    #[serde(skip)]
    pub others: BTreeMap<GitName, SourceIdentity>,
}

const OF_GIT: [&str; 6] = [
    "config",
    "config.worktree",
    "info/attributes",
    "info/sparse-checkout",
    "info/grafts",
    "objects/info/alternates",
];
const OPERATION: [&str; 11] = [
    "MERGE_HEAD",
    "MERGE_MODE",
    "MERGE_MSG",
    "MERGE_AUTOSTASH",
    "SQUASH_MSG",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "BISECT_START",
    "BISECT_LOG",
    "BISECT_TERMS",
    "BISECT_NAMES",
];
/// `git am --abort` goes back to ORIG_HEAD, and deletes the branch where there is none.
const OPERATION_TRACES: [&str; 8] = [
    "ORIG_HEAD",
    "AUTO_MERGE",
    "MERGE_RR",
    "REBASE_HEAD",
    "BISECT_EXPECTED_REV",
    "BISECT_ANCESTORS_OK",
    "BISECT_FIRST_PARENT",
    "BISECT_HEAD",
];
const OPERATION_DIRECTORIES: [&str; 3] = ["rebase-merge/", "rebase-apply/", "sequencer/"];
const WORKTREE: [&str; 3] = ["gitdir", "commondir", "locked"];
/// Where git, or a program that goes with it, has files of which none is applied by its name.
const DIRECTORIES: [&str; 7] = ["objects", "refs", "reftable", "logs", "info", "hooks", "rr-cache"];
const SINGLE_FILES: [&str; 3] = ["description", "gc.log", "gc.pid"];

/// What a path below a common git directory is.
#[must_use]
pub fn class_of(path: &GitName) -> GitFileClass {
    let bytes = path.as_bytes();
    let (checkout, below) = match bytes.strip_prefix(b"worktrees/") {
        None => (CheckoutName::Main, bytes),
        Some(rest) => {
            let end = rest.iter().position(|byte| *byte == b'/').unwrap_or(rest.len());
            let (name, below) = rest.split_at(end);
            (CheckoutName::Linked(GitName::new(name)), below.get(1..).unwrap_or_default())
        }
    };
    let Ok(below) = std::str::from_utf8(below) else {
        return not_carried(&checkout, &String::from_utf8_lossy(below));
    };
    if let Some(locked) = bytes.strip_suffix(b".lock") {
        let is_of_git = class_of(&GitName::new(locked)) != GitFileClass::Foreign;
        return if is_of_git { GitFileClass::NotCarried } else { GitFileClass::Foreign };
    }
    if OPERATION.contains(&below)
        || OPERATION_DIRECTORIES.iter().any(|directory| below.starts_with(directory))
    {
        return GitFileClass::Operation(checkout);
    }
    if OPERATION_TRACES.contains(&below) {
        return GitFileClass::OperationTrace(checkout);
    }
    if let CheckoutName::Linked(name) = &checkout
        && WORKTREE.contains(&below)
    {
        return GitFileClass::Worktree(name.clone());
    }
    if checkout == CheckoutName::Main && below.starts_with("hooks/") && !below.ends_with(".sample") {
        return GitFileClass::OfGit;
    }
    let is_of_git =
        OF_GIT.contains(&below) && (checkout == CheckoutName::Main || !below.starts_with("objects/"));
    match below {
        // Other boundaries of a shallow clone make the whole repository wait.
        "HEAD" | "index" | "packed-refs" | "shallow" => GitFileClass::Carried,
        _ if below.starts_with("sharedindex.") => GitFileClass::Carried,
        _ if below.starts_with("objects/pack/") && (below.ends_with(".pack") || below.ends_with(".idx")) => {
            GitFileClass::Carried
        }
        _ if is_of_git => GitFileClass::OfGit,
        _ if checkout == CheckoutName::Main && is_lfs_content(below) => GitFileClass::LfsContent,
        _ => not_carried(&checkout, below),
    }
}

/// What is not applied, told apart from what git has no place for.
fn not_carried(checkout: &CheckoutName, below: &str) -> GitFileClass {
    let (first, is_directory) = below.split_once('/').map_or((below, false), |(first, _)| (first, true));
    // Refs beside `refs` and messages are in capitals with an underscore: `FETCH_HEAD`, `COMMIT_EDITMSG`.
    let is_message =
        || first.contains('_') && first.bytes().all(|byte| byte == b'_' || byte.is_ascii_uppercase());
    let is_of_git = match is_directory {
        _ if *checkout != CheckoutName::Main => true,
        true => first == "lfs" || DIRECTORIES.contains(&first),
        false => SINGLE_FILES.contains(&first) || WORKTREE.contains(&first) || is_message(),
    };
    if is_of_git { GitFileClass::NotCarried } else { GitFileClass::Foreign }
}

/// `lfs/objects/ab/cd/abcd...`.
fn is_lfs_content(below: &str) -> bool {
    let mut names = below.split('/');
    let (lfs, objects, a, b) = (names.next(), names.next(), names.next(), names.next());
    let (Some(hash), None) = (names.next(), names.next()) else { return false };
    let is_hex = hash.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    (lfs, objects) == (Some("lfs"), Some("objects"))
        && hash.len() == 64
        && is_hex
        && (hash.get(..2), hash.get(2..4)) == (a, b)
}

/// The checkout whose operation has the file as its state.
pub(crate) fn operation_of(name: &GitName) -> Option<CheckoutName> {
    match class_of(name) {
        GitFileClass::Operation(checkout) => Some(checkout),
        _ => None,
    }
}

/// The same of a file that goes with the operation, traces among them.
pub(crate) fn operation_around(name: &GitName) -> Option<CheckoutName> {
    match class_of(name) {
        GitFileClass::Operation(checkout) | GitFileClass::OperationTrace(checkout) => Some(checkout),
        _ => None,
    }
}

impl GitFiles {
    /// Lists a git directory without its objects, refs and reflogs.
    pub(crate) fn read(source: &dyn RepositorySource) -> Result<GitFiles> {
        let mut files = GitFiles::default();
        files.directory(source, Path::new(""), 0)?;
        Ok(files)
    }

    fn directory(&mut self, source: &dyn RepositorySource, directory: &Path, depth: usize) -> Result<()> {
        if depth > limit::DEPTH {
            return Err(GitError::TooMany("nested directories", limit::DEPTH));
        }
        for entry in source.entries(directory)? {
            let path = directory.join(entry.name.as_path());
            match entry.kind {
                SourceKind::Directory if is_elsewhere(&path) => {}
                SourceKind::Directory => self.directory(source, &path, depth + 1)?,
                kind => self.file(source, &path, kind)?,
            }
            if self.named.len() + self.others.len() > limit::OTHER_FILES {
                return Err(GitError::TooMany("files besides objects and refs", limit::OTHER_FILES));
            }
        }
        Ok(())
    }

    fn file(&mut self, source: &dyn RepositorySource, path: &Path, kind: SourceKind) -> Result<()> {
        let name = GitName::from(path);
        match class_of(&name) {
            GitFileClass::Carried => {}
            GitFileClass::NotCarried | GitFileClass::Foreign | GitFileClass::LfsContent => {
                if let Some(identity) = source.identity(path)? {
                    self.others.insert(name, identity);
                }
            }
            _ if kind != SourceKind::File => {
                self.named.insert(name, GitFileContent::NotRead);
            }
            _ => {
                let content = match source.read(path, limit::GIT_FILE) {
                    Ok(None) => return Ok(()),
                    Ok(Some(file)) if file.is_executable => {
                        GitFileContent::Executable(GitName::new(&file.bytes))
                    }
                    Ok(Some(file)) => GitFileContent::Plain(GitName::new(&file.bytes)),
                    Err(GitError::NotRegular(_) | GitError::TooLarge(..)) => GitFileContent::NotRead,
                    Err(error) => return Err(error),
                };
                self.named.insert(name, content);
            }
        }
        Ok(())
    }
}

/// Directories that git reads, or that are repositories of their own.
fn is_elsewhere(path: &Path) -> bool {
    let mut names = path.iter().filter_map(|name| name.to_str()).collect::<Vec<_>>();
    if names.first() == Some(&"worktrees") && names.len() == 3 {
        names.drain(..2);
    }
    match names.as_slice() {
        ["objects", rest @ ..] => !matches!(rest, [] | ["info" | "pack"] | ["info", ..]),
        ["refs" | "logs" | "reftable" | "modules" | "lfs"] => true,
        _ => false,
    }
}

/// The work tree that a linked worktree's registration names.
pub(crate) fn worktree_path(files: &GitFiles, name: &GitName) -> Option<PathBuf> {
    let file = CheckoutName::Linked(name.clone()).directory().join("gitdir");
    let bytes = files.named.get(&GitName::from(file.as_path()))?.bytes()?;
    let path = GitName::new(bytes.trim_ascii_end());
    path.as_path().parent().map(Path::to_path_buf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_one_class() {
        let hash = format!("ab12{}", "c".repeat(60));
        let lfs = format!("lfs/objects/ab/12/{hash}");
        let tables: [(GitFileClass, &[&str]); 6] = [
            (GitFileClass::Carried, &["HEAD", "index", "packed-refs", "objects/pack/pack-1.pack"]),
            (
                GitFileClass::OfGit,
                &["config", "hooks/pre-commit", "objects/info/alternates", "info/attributes"],
            ),
            (GitFileClass::LfsContent, &[&lfs]),
            (GitFileClass::OperationTrace(CheckoutName::Main), &["ORIG_HEAD", "AUTO_MERGE"]),
            (
                GitFileClass::NotCarried,
                &[
                    "refs/heads/main",
                    "logs/refs/heads/main",
                    "hooks/pre-commit.sample",
                    "objects/ab/evil.py",
                    "COMMIT_EDITMSG",
                    "index.lock",
                    "config.lock",
                    "worktrees/w/z.py",
                    &lfs[..lfs.len() - 1],
                    &lfs.replace("/12/", "/13/"),
                    &lfs.replace('c', "C"),
                    "lfs/tmp/x",
                ],
            ),
            // Beside a bare repository, these are files of a project.
            (
                GitFileClass::Foreign,
                &[
                    "z.py",
                    "Cargo.lock",
                    "README",
                    "main/src/refs/x",
                    "modules/x.py",
                    "refs",
                    "lfs",
                    "TO_DO.md",
                ],
            ),
        ];
        for (class, names) in tables {
            for name in names {
                assert_eq!(class_of(&GitName::from(*name)), class, "{name}");
            }
        }
    }
}
