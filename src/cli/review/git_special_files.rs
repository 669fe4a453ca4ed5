//! Pipes and devices in the place of files that git reads.
//!
//! git opens its files without a look at what they are, so it waits for ever at a named pipe that nobody writes. The
//! files that every difference reads are checked before git starts; when git does not answer, the others are searched.
//! Nothing is opened here but `.git` and `commondir`, which are read as regular files only. A link is followed for its
//! kind alone. Files that the environment or the person's own settings name are the person's choice.

use crate::cli::report::CliError;
use crate::text::{regular_file, visible};
use std::fs::Metadata;
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A file that names a directory has one line.
const NAME: u64 = 64 << 10;
/// Entries that are checked before each start of git: a repository may have very many refs.
const CHECKED: usize = 2_000;
/// How long the search takes when git does not answer.
const SEARCH: Duration = Duration::from_secs(1);

/// Files of a directory in the work tree that git reads for a difference.
const IN_TREE: [&str; 3] = [".gitattributes", ".gitmodules", ".gitignore"];

/// Directories of the repository whose entries git reads for a difference; `.` are the entries at the top.
const IN_REPOSITORY: [&str; 6] = [".", "info", "objects/info", "objects/pack", "refs/heads", "refs/tags"];

/// Refuses a repository in which git would wait for a pipe or read a device.
pub(in crate::cli) fn refuse(cwd: &Path) -> Result<(), CliError> {
    let Some(places) = GitPlaces::of(cwd) else { return Ok(()) };
    match places.first_special() {
        None => Ok(()),
        Some((path, kind)) => {
            let path = visible::path(&path);
            Err(CliError::new(format!("`{path}` is {kind}, and git would wait for it"))
                .hint("remove it, or put the file itself in its place; git was not started"))
        }
    }
}

/// A pipe below the work tree or in the repository, searched for a second.
pub(in crate::cli) fn search(cwd: &Path) -> Option<PathBuf> {
    let places = GitPlaces::of(cwd)?;
    let end = Instant::now() + SEARCH;
    let mut left = vec![places.top, places.own, places.common];
    while let Some(dir) = left.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            if Instant::now() > end {
                return None;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_fifo() => return Some(entry.path()),
                Ok(kind) if kind.is_dir() => left.push(entry.path()),
                _ => {}
            }
        }
    }
    None
}

/// Where git finds the files of a repository.
struct GitPlaces {
    cwd: PathBuf,
    top: PathBuf,
    /// The directory of this work tree.
    own: PathBuf,
    /// The directory that linked work trees share.
    common: PathBuf,
}

impl GitPlaces {
    /// `None` where there is no repository: git says so itself.
    fn of(cwd: &Path) -> Option<GitPlaces> {
        let (top, own) = match std::env::var_os("GIT_DIR") {
            Some(dir) => (cwd.to_path_buf(), cwd.join(dir)),
            None => {
                let is_there = |dir: &&Path| dir.join(".git").symlink_metadata().is_ok();
                let top = cwd.ancestors().find(is_there)?;
                let git = top.join(".git");
                (top.to_path_buf(), if git.is_dir() { git } else { named_in(&git, "gitdir:")? })
            }
        };
        let common = named_in(&own.join("commondir"), "").unwrap_or_else(|| own.clone());
        Some(GitPlaces { cwd: cwd.to_path_buf(), top, own, common })
    }

    fn first_special(&self) -> Option<(PathBuf, &'static str)> {
        let dirs = self.cwd.ancestors().take_while(|dir| dir.starts_with(&self.top));
        let in_tree = dirs.flat_map(|dir| IN_TREE.map(|name| dir.join(name)));
        if let Some(found) = in_tree.into_iter().find_map(special) {
            return Some(found);
        }
        let repositories = [&self.own, &self.common];
        let dirs = repositories.into_iter().flat_map(|dir| IN_REPOSITORY.map(|name| dir.join(name)));
        let entries = dirs.flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten());
        let not_usual = |entry: &std::fs::DirEntry| {
            // The kind is known from the list of the directory: nothing else is asked about usual files.
            entry.file_type().is_ok_and(|kind| !kind.is_file() && !kind.is_dir())
        };
        entries.take(CHECKED).filter(not_usual).find_map(|entry| special(entry.path()))
    }
}

/// The directory that a file names after `mark`, relative to the file.
fn named_in(file: &Path, mark: &str) -> Option<PathBuf> {
    let text = regular_file::read_to_string(file, NAME).ok()?;
    let name = text.strip_prefix(mark)?.trim();
    Some(file.parent()?.join(name)).filter(|_| !name.is_empty())
}

/// The path, if it is or leads to a pipe or a device. A socket cannot be opened, so git does not wait for it: its own
/// file system monitor has one in the repository.
fn special(path: PathBuf) -> Option<(PathBuf, &'static str)> {
    let kind = std::fs::metadata(&path).as_ref().map(Metadata::file_type).ok()?;
    let words = match () {
        () if kind.is_fifo() => "a named pipe",
        () if kind.is_char_device() || kind.is_block_device() => "a device",
        () => return None,
    };
    Some((path, words))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixListener;

    #[test]
    fn a_pipe_is_found_before_git_starts_or_when_it_does_not_answer() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let pipe = |name: &str| crate::text::regular_file::make_pipe(&at(name));
        std::fs::create_dir_all(at("tree/.git/info")).unwrap();
        std::fs::create_dir_all(at("tree/sub/deep")).unwrap();
        std::fs::write(at("tree/.git/HEAD"), "ref: refs/heads/main\n").unwrap();
        // git's own file system monitor listens there.
        let _socket = UnixListener::bind(at("tree/.git/fsmonitor--daemon.ipc")).unwrap();
        assert!(refuse(&at("tree/sub")).is_ok() && search(&at("tree/sub")).is_none());
        // No difference reads it for sure, so it is searched for only when git does not answer.
        pipe("tree/sub/deep/.gitattributes");
        assert!(refuse(&at("tree")).is_ok());
        assert_eq!(search(&at("tree")), Some(at("tree/sub/deep/.gitattributes")));
        assert!(refuse(&at("tree/sub/deep")).is_err());
        // In a linked work tree, and in what it shares with the others.
        std::fs::create_dir_all(at("linked")).unwrap();
        std::fs::create_dir_all(at("tree/.git/worktrees/l")).unwrap();
        std::fs::write(at("linked/.git"), format!("gitdir: {}\n", at("tree/.git/worktrees/l").display()))
            .unwrap();
        std::fs::write(at("tree/.git/worktrees/l/commondir"), "../..\n").unwrap();
        assert!(refuse(&at("linked")).is_ok());
        pipe("tree/.git/packed-refs");
        assert!(refuse(&at("linked")).is_err());
        assert!(refuse(dir.path()).is_ok(), "there is no repository");
    }
}
