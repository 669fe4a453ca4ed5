//! Where a change is applied, by whom, and who is told of its steps.

use crate::error::Result;
use crate::git_name::GitName;
use crate::runner::GitCall;
use crate::state::CheckoutName;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Is told of each step of an apply after it was done. An error stops the apply there, and everything is undone.
pub trait ApplyWatch {
    fn reached(&self, step: &'static str) -> Result<()>;
}

/// Goes on.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl ApplyWatch for Unwatched {
    fn reached(&self, _: &str) -> Result<()> {
        Ok(())
    }
}

/// Who stands in the reflog.
#[derive(Clone, Debug)]
pub struct PersonIdentity {
    pub name: OsString,
    pub email: OsString,
}

/// Where a change is applied.
#[derive(Clone, Copy)]
pub struct ApplyPlace<'a> {
    /// The person's common git directory.
    pub git_dir: &'a Path,
    /// A directory of placet's that does not exist yet, and that stays for undo.
    pub journal: &'a Path,
    pub identity: &'a PersonIdentity,
    /// What the reflog says after `placet: `.
    pub title: &'a GitName,
    pub watch: &'a dyn ApplyWatch,
}

impl ApplyPlace<'_> {
    pub(crate) fn git_dir_of(&self, checkout: &CheckoutName) -> PathBuf {
        self.git_dir.join(checkout.directory())
    }

    /// A call in the person's repository, with their identity.
    pub(crate) fn call(&self, git_dir: &Path, args: &[&str]) -> GitCall {
        let call = GitCall::new(git_dir, args);
        call.env("GIT_COMMITTER_NAME", &self.identity.name).env("GIT_COMMITTER_EMAIL", &self.identity.email)
    }

    pub(crate) fn message(&self) -> String {
        let title: String = self.title.escaped().chars().take(200).collect();
        format!("placet: {title}")
    }
}
