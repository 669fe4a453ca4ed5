//! Which git is on this machine, and who the person is for it.

use super::place::PersonIdentity;
use crate::error::{GitError, Result};
use crate::runner::{GitCall, PlainRunner, run_one};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
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

/// What git says in the person's own environment, by their settings.
pub(crate) fn of_person(work_tree: &Path, args: &[&str]) -> Result<Vec<u8>> {
    let output = std::process::Command::new("git").args(args).current_dir(work_tree).output();
    Ok(output.map_err(GitError::NotStarted)?.stdout)
}

/// True where the person's own settings let git sign every commit.
pub fn signs_commits(work_tree: &Path) -> Result<bool> {
    let output = of_person(work_tree, &["config", "--type=bool", "--get", "commit.gpgsign"])?;
    Ok(output.trim_ascii() == b"true")
}

/// The person's settings that decide whether git takes a file for unchanged, as `-c` takes them. None of them runs anything:
/// attributes only name filters.
pub(super) fn settings_of_files(work_tree: &Path) -> Result<Vec<OsString>> {
    const NAMES: &str =
        r"^core\.(filemode|autocrlf|eol|symlinks|ignorecase|precomposeunicode|attributesfile)$";
    // As a path, so that a file in the home directory has its whole name.
    let output = of_person(work_tree, &["config", "-z", "--type=path", "--get-regexp", NAMES])?;
    let settings = output.split(|byte| *byte == 0).filter_map(|setting| {
        let end = setting.iter().position(|byte| *byte == b'\n')?;
        let (name, value) = setting.split_at(end);
        Some(OsString::from_vec([name, b"=", value.get(1..)?].concat()))
    });
    Ok(settings.collect())
}

/// The person's identity as git would write it, from their own settings.
pub fn person_identity(work_tree: &Path) -> Result<PersonIdentity> {
    let output = of_person(work_tree, &["var", "GIT_COMMITTER_IDENT"])?;
    let text = String::from_utf8_lossy(&output);
    let found = text
        .split_once(" <")
        .and_then(|(name, rest)| Some((name.to_owned(), rest.split_once('>')?.0.to_owned())));
    let (name, email) = found.unwrap_or_else(|| ("placet".into(), "placet@localhost".into()));
    Ok(PersonIdentity { name: name.into(), email: email.into() })
}
