//! Settings of a repository, key by key. Of a new repository the harmless ones are written by `git config`; any other
//! waits with the whole file.

use crate::error::{GitError, Result};
use crate::git_name::GitName;
use crate::runner::{GitCall, GitRunner, run_one};
use std::fs;
use std::path::Path;

/// One setting, as git lists it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ConfigSetting {
    /// Section and name are in small letters.
    pub key: GitName,
    pub value: GitName,
}

/// Formats, and what `git init` and Git LFS write by themselves.
const FORMATS: [&str; 9] = [
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.symlinks",
    "core.ignorecase",
    "extensions.objectformat",
    "extensions.refstorage",
    "lfs.repositoryformatversion",
];

impl ConfigSetting {
    /// Whether the setting cannot run a program or redirect what git reads.
    #[must_use]
    pub fn is_harmless(&self) -> bool {
        let (Ok(key), value) = (std::str::from_utf8(self.key.as_bytes()), self.value.as_bytes()) else {
            return false;
        };
        let Some((section, name)) = key.rsplit_once('.') else { return false };
        // `ext::sh -c ...` is a program, and a URL that begins with `-` would be an option.
        let is_plain_url = || !value.starts_with(b"-") && !value.windows(2).any(|pair| pair == b"::");
        match section.split('.').next() {
            Some("remote") if section != "remote" => match name {
                "url" => is_plain_url(),
                "fetch" => true,
                _ => false,
            },
            Some("branch") if section != "branch" => match name {
                "remote" | "pushremote" => is_plain_url(),
                "merge" | "rebase" | "description" => true,
                _ => false,
            },
            Some("user") => matches!(key, "user.name" | "user.email"),
            _ => FORMATS.contains(&key),
        }
    }
}

/// Reads the settings of one file, without what it includes.
pub fn config_settings(content: &[u8], scratch: &Path, runner: &dyn GitRunner) -> Result<Vec<ConfigSetting>> {
    fs::create_dir_all(scratch).map_err(GitError::io("create", scratch))?;
    let file = scratch.join("settings");
    fs::write(&file, content).map_err(GitError::io("write", &file))?;
    let mut call = GitCall::new(scratch, ["config", "--no-includes", "--list", "-z", "-f"]);
    call.args.push(file.into());
    let listed = run_one(runner, call)?.stdout;
    let settings = listed.split(|byte| *byte == 0).filter(|setting| !setting.is_empty()).map(|setting| {
        // A key without a value is true.
        let end = setting.iter().position(|byte| *byte == b'\n');
        let (key, value) = setting.split_at(end.unwrap_or(setting.len()));
        ConfigSetting { key: GitName::new(key), value: GitName::new(value.get(1..).unwrap_or(b"true")) }
    });
    Ok(settings.collect())
}
