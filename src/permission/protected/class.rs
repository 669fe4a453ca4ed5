//! What a change to a file means, by its name alone.

use serde::Serialize;

/// Who runs or obeys a file, and when: `direnv`, `direnv runs it when you enter the directory`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Runner {
    pub by: String,
    pub why: String,
}

/// What a change to the file at a path means, by its name alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathClass {
    Ordinary,
    /// The next build, test or install runs it: marked, and otherwise like any source file.
    RunsWithBuild(Runner),
    /// One of git's own files: file tools ask, and it is applied with the rest of its repository.
    Repository(Runner),
    /// A program runs or obeys it without anyone asking for it.
    RunsLater(Runner),
}

impl PathClass {
    pub fn runs_later(&self) -> bool {
        matches!(self, PathClass::RunsLater(_))
    }

    /// True for what file tools ask about: see [`super::is_protected`].
    pub fn asks(&self) -> bool {
        matches!(self, PathClass::RunsLater(_) | PathClass::Repository(_))
    }
}
