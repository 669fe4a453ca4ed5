//! Writes the files of git that were approved, and registers linked worktrees.

use crate::error::{GitError, Result};
use crate::git_file::GitFileContent;
use crate::repository_move::{CheckoutMove, Moved, MovedItems};
use crate::state::{CheckoutName, Head};
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

pub(super) fn make_directory(directory: &Path) -> Result<()> {
    fs::create_dir_all(directory).map_err(GitError::io("create", directory))
}

/// Removes a directory that was made for nothing.
pub(super) fn remove_empty(directory: &Path) {
    if fs::remove_dir(directory).is_ok()
        && let Some(parent) = directory.parent()
    {
        let _ = fs::remove_dir(parent);
    }
}

/// Writes each file whole, or removes it with the directory that it was the last in.
pub(super) fn write(git_dir: &Path, files: &MovedItems<GitFileContent>) -> Result<()> {
    for (name, moved) in files {
        let path = git_dir.join(name.as_path());
        match &moved.after {
            Some(content) => {
                if let Some(parent) = path.parent() {
                    make_directory(parent)?;
                }
                let is_executable = matches!(content, GitFileContent::Executable(_));
                replace(&path, content.bytes().unwrap_or_default(), is_executable.then_some(0o755))?;
            }
            None => {
                remove(&path)?;
                let parents = path.ancestors().skip(1).take_while(|parent| *parent != git_dir);
                let kept = ["hooks", "info", "worktrees"];
                for parent in parents.take_while(|parent| !kept.iter().any(|kept| parent.ends_with(kept))) {
                    if fs::remove_dir(parent).is_err() {
                        break;
                    }
                }
            }
        }
    }
    Ok(())
}

fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(GitError::io("remove", path)(error)),
        _ => Ok(()),
    }
}

fn replace(path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(".placet-new");
    let new = path.with_file_name(name);
    fs::write(&new, bytes).map_err(GitError::io("write", &new))?;
    if let Some(mode) = mode {
        fs::set_permissions(&new, fs::Permissions::from_mode(mode)).map_err(GitError::io("write", &new))?;
    }
    fs::rename(&new, path).map_err(GitError::io("write", path))
}

/// The `HEAD` of a linked worktree that is registered, and the end of one that is removed.
pub(super) fn register(directory: &Path, checkout: &CheckoutName, change: &CheckoutMove) -> Result<()> {
    let (CheckoutName::Linked(_), Some(head)) = (checkout, &change.head) else { return Ok(()) };
    match head {
        Moved { before: None, after: Some(head) } => {
            make_directory(directory)?;
            let line = match head {
                Head::Branch(name) => [b"ref: ", name.as_bytes(), b"\n"].concat(),
                Head::Detached(id) => format!("{id}\n").into_bytes(),
            };
            replace(&directory.join("HEAD"), &line, None)
        }
        // What is left there is a reflog, and what git keeps to be faster.
        Moved { before: Some(_), after: None } => {
            remove_all(directory)?;
            if let Some(parent) = directory.parent() {
                let _ = fs::remove_dir(parent);
            }
            Ok(())
        }
        Moved { .. } => Ok(()),
    }
}

pub(super) fn remove_all(path: &Path) -> Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(GitError::io("remove", path)(error)),
        _ => Ok(()),
    }
}
