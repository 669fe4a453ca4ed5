//! Which git is on this machine, and who the person is for it.

use super::place::PersonIdentity;
use crate::error::{GitError, Result};
use crate::runner::{GitCall, PlainRunner, run_one};
use std::path::Path;

/// The version of git on this machine.
pub(crate) fn git_version() -> Result<(u32, u32)> {
    static VERSION: std::sync::OnceLock<(u32, u32)> = std::sync::OnceLock::new();
    if let Some(version) = VERSION.get() {
        return Ok(*version);
    }
    let output = run_one(&PlainRunner, GitCall::new(Path::new("/"), ["version"]))?.stdout;
    let text = String::from_utf8_lossy(&output);
    let mut numbers = text.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse::<u32>().ok());
    let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) else {
        return Err(GitError::Unexpected { command: "version" });
    };
    if (major, minor) < (2, 30) {
        return Err(GitError::TooOld(major, minor));
    }
    Ok(*VERSION.get_or_init(|| (major, minor)))
}

/// True where the person's own settings let git sign every commit.
pub fn signs_commits(work_tree: &Path) -> Result<bool> {
    let output = std::process::Command::new("git")
        .args(["config", "--type=bool", "--get", "commit.gpgsign"])
        .current_dir(work_tree)
        .output();
    Ok(output.map_err(GitError::NotStarted)?.stdout.trim_ascii() == b"true")
}

/// The person's identity as git would write it, from their own settings.
pub fn person_identity(work_tree: &Path) -> Result<PersonIdentity> {
    let output = std::process::Command::new("git")
        .args(["var", "GIT_COMMITTER_IDENT"])
        .current_dir(work_tree)
        .output();
    let output = output.map_err(GitError::NotStarted)?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let found = text
        .split_once(" <")
        .and_then(|(name, rest)| Some((name.to_owned(), rest.split_once('>')?.0.to_owned())));
    let (name, email) = found.unwrap_or_else(|| ("placet".into(), "placet@localhost".into()));
    Ok(PersonIdentity { name: name.into(), email: email.into() })
}
