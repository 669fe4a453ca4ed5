//! Where a change is applied, by whom, and the steps that it takes.

use crate::error::Result;
use crate::git_name::GitName;
use crate::runner::GitCall;
use crate::state::CheckoutName;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The steps of an apply, in their order. A test stops at each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveStep {
    Journaled,
    ObjectsStored,
    RefsLocked,
    DeletesCommitted,
    RefsPrepared,
    IndexLocked,
    Compared,
    IndexWritten,
    Ready,
    Committing,
    IndexMoved,
    FilesWritten,
    RefsCommitted,
    StashMoved,
    HeadsMoved,
}

impl MoveStep {
    pub const ALL: [MoveStep; 15] = [
        MoveStep::Journaled,
        MoveStep::ObjectsStored,
        MoveStep::RefsLocked,
        MoveStep::DeletesCommitted,
        MoveStep::RefsPrepared,
        MoveStep::IndexLocked,
        MoveStep::Compared,
        MoveStep::IndexWritten,
        MoveStep::Ready,
        MoveStep::Committing,
        MoveStep::IndexMoved,
        MoveStep::FilesWritten,
        MoveStep::RefsCommitted,
        MoveStep::StashMoved,
        MoveStep::HeadsMoved,
    ];
}

/// Is told of each step after it was done. An error stops the apply there, and everything is undone.
pub trait ApplyWatch {
    fn reached(&self, step: MoveStep) -> Result<()>;
}

/// Goes on.
#[derive(Clone, Copy, Debug)]
pub struct Unwatched;

impl ApplyWatch for Unwatched {
    fn reached(&self, _: MoveStep) -> Result<()> {
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
