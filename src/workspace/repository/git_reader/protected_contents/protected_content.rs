//! Why a repository waits: a change of a file that runs later, or what was not read.

use crate::permission::Runner;
use crate::workspace::repository::git_reader::event::IndexNotRead;
use crate::workspace::repository::git_reader::event_words::short;
use std::path::{Path, PathBuf};

/// A change in a repository that takes effect although the file of the work tree does not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::workspace) enum ProtectedContent {
    /// A new commit changes the file. `on` leads to the commit.
    Committed { commit: String, on: PathBuf, file: PathBuf, runner: Runner },
    /// The next commit changes the file.
    Staged { file: PathBuf, runner: Runner },
    /// git did not look at the file in the work tree, and does now: where it is not there, the next commit removes it.
    LookedAt { file: PathBuf, runner: Runner },
    /// A version of the file in a conflict is another than that of the commit at `HEAD`.
    InConflict { file: PathBuf, runner: Runner },
    /// The same of a version in a conflict that was resolved: git can bring the conflict back.
    Resolved { file: PathBuf, runner: Runner },
    /// What its commits change is not known.
    NotRead(&'static str),
    /// What the next commit changes is not known.
    IndexNotRead(IndexNotRead),
    /// A file of git that placet does not know, or that has something which it does not know.
    NotUnderstood { file: PathBuf, why: &'static str },
}

impl ProtectedContent {
    /// For a person. `name` renders the path of a file.
    pub(in crate::workspace) fn words(&self, name: &dyn Fn(&Path) -> String) -> String {
        match self {
            ProtectedContent::Committed { commit, on, file, runner } => {
                format!("commit {commit} on {} changes {}: {}", short(on), name(file), runner.why)
            }
            ProtectedContent::Staged { file, runner } => {
                format!("the next commit changes {}: {}", name(file), runner.why)
            }
            ProtectedContent::LookedAt { file, runner } => {
                let name = name(file);
                format!(
                    "the next commit takes {name} as it is in the work tree, which git left out: {}",
                    runner.why
                )
            }
            ProtectedContent::InConflict { file, runner } => {
                format!("a version in the conflict of {} changes it: {}", name(file), runner.why)
            }
            ProtectedContent::Resolved { file, runner } => {
                format!("a version in the resolved conflict of {} changes it: {}", name(file), runner.why)
            }
            ProtectedContent::NotRead(why) => {
                format!("its commits may change files that run later, and were not read: {why}")
            }
            ProtectedContent::IndexNotRead(why) => {
                format!("its index may change files that run later, and was not read: {}", why.words())
            }
            ProtectedContent::NotUnderstood { file, why } => format!("{}: {why}", name(file)),
        }
    }

    pub(in crate::workspace) fn runner(&self) -> Option<&Runner> {
        match self {
            ProtectedContent::Committed { runner, .. }
            | ProtectedContent::Staged { runner, .. }
            | ProtectedContent::LookedAt { runner, .. }
            | ProtectedContent::InConflict { runner, .. }
            | ProtectedContent::Resolved { runner, .. } => Some(runner),
            ProtectedContent::NotRead(_)
            | ProtectedContent::IndexNotRead(_)
            | ProtectedContent::NotUnderstood { .. } => None,
        }
    }
}
