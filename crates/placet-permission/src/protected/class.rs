//! The meaning of a change to a file, by its name alone.

use serde::Serialize;

/// Who runs or obeys a file, and when: `direnv`, `direnv runs it when you enter the directory`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Runner {
    pub by: String,
    pub why: String,
}

impl Runner {
    /// No program runs the file: it waits for another reason.
    pub const PLACET: &str = "placet";

    /// Why a change waits, as a fact of its own.
    pub fn words(&self) -> String {
        match self.by == Runner::PLACET {
            true => self.why.clone(),
            false => format!("runs later: {}", self.why),
        }
    }
}

/// The meaning of a change to the file at a path, by its name alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathClass {
    Ordinary,
    /// The next build, test or install runs the file: it is marked, and otherwise like any source file.
    RunsWithBuild(Runner),
    /// One of git's own files: file tools ask, and the file is applied with the rest of its repository.
    Repository(Runner),
    /// A program runs or obeys the file without a request from anyone.
    RunsLater(Runner),
}

impl PathClass {
    pub fn runs_later(&self) -> bool {
        matches!(self, PathClass::RunsLater(_))
    }

    /// True for files that file tools ask about: see [`super::is_protected`].
    pub fn asks(&self) -> bool {
        matches!(self, PathClass::RunsLater(_) | PathClass::Repository(_))
    }
}
