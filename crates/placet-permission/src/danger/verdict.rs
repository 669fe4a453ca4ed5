//! The verdict about a destructive command line.

use crate::ProtectedPaths;
use std::path::{Path, PathBuf};

/// What a line would destroy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandDanger {
    /// In one line: "`rm -rf x` destroys data".
    pub what: String,
    /// Absolute paths; a word without one is shown with `(cannot be resolved)`.
    pub targets: Vec<String>,
    pub severity: DangerSeverity,
    /// The text that a person types to confirm a total loss.
    pub typed: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DangerSeverity {
    /// Something is lost.
    Loss,
    /// The line does not show what is lost.
    Unclear,
    /// A target is a root of the workspace, the home directory or the file system, or contains one.
    Total,
}

/// Where a line runs and what must not be lost as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DangerContext<'a> {
    pub(crate) cwd: &'a Path,
    pub(crate) home: Option<&'a Path>,
    pub(crate) roots: &'a [PathBuf],
    pub(crate) protected: &'a ProtectedPaths,
}

impl DangerContext<'_> {
    /// True for files that some program runs or obeys later; for an absolute path every component counts.
    pub(super) fn is_protected(&self, path: &Path) -> bool {
        self.protected.class_of(path).asks()
    }
}

impl CommandDanger {
    pub(super) fn of(what: &str, severity: DangerSeverity) -> CommandDanger {
        CommandDanger { what: what.into(), targets: Vec::new(), severity, typed: None }
    }

    pub(super) fn unclear(what: &str) -> CommandDanger {
        CommandDanger::of(what, DangerSeverity::Unclear)
    }

    pub(super) fn typing(self, word: &str) -> CommandDanger {
        CommandDanger { typed: Some(word.into()), ..self }
    }

    pub(super) fn and(mut self, other: CommandDanger) -> CommandDanger {
        if !self.what.contains(&other.what) {
            self.what = format!("{}; {}", self.what, other.what);
        }
        for target in other.targets {
            if !self.targets.contains(&target) {
                self.targets.push(target);
            }
        }
        self.severity = self.severity.max(other.severity);
        self.typed = self.typed.or(other.typed);
        self
    }

    /// The reason of the question, with the targets.
    pub fn describe(&self) -> String {
        if self.targets.is_empty() {
            self.what.clone()
        } else {
            format!("{}: {}", self.what, self.targets.join(", "))
        }
    }
}
