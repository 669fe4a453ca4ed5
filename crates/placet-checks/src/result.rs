//! What a run of a check came to: bound to the hash of the state it ran on.

use super::diagnostic::{Diagnostic, DiagnosticLevel, TestCounts};
use super::state_hash::{CheckedSelection, StateHash};
use serde::{Deserialize, Serialize};

/// How a check ended. Its exit code decides, not what was read from its output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckRunOutcome {
    Passed,
    Failed {
        code: i32,
    },
    Killed {
        signal: i32,
    },
    TimedOut {
        seconds: u64,
    },
    /// It did not start, or its supervisor was killed: `why` is placet's own text.
    NotRun {
        why: String,
    },
}

/// Files that a check itself changed, other than build output. The changes were thrown away.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckSideEffects {
    /// The first of them, relative to the working directory where they are in it.
    pub first: Vec<String>,
    pub total: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    pub check: String,
    /// A hash of the command line and how its output is read: another command has not passed.
    pub command: String,
    pub state: StateHash,
    pub selection: CheckedSelection,
    pub outcome: CheckRunOutcome,
    /// When it ended, in milliseconds since 1970.
    pub at: i64,
    pub elapsed_ms: u64,
    pub diagnostics: Vec<Diagnostic>,
    /// How many diagnostics there were; the list is bounded.
    pub found: usize,
    pub tests: Option<TestCounts>,
    /// The output was too long to be read to its end, or a line of it was.
    pub is_cut: bool,
    pub side_effects: CheckSideEffects,
    /// Bytes of output.
    pub output_bytes: u64,
    /// Where in the stored output the first failure is, as a line from 1.
    pub first_failure: Option<usize>,
    /// The session or try whose pending changes were checked. Results of earlier versions have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
}

impl CheckResult {
    pub fn passed(&self) -> bool {
        self.outcome == CheckRunOutcome::Passed
    }

    /// False where it was stopped before it had a result, for example because files changed meanwhile.
    pub fn has_run(&self) -> bool {
        !matches!(self.outcome, CheckRunOutcome::NotRun { .. })
    }

    /// How many errors and warnings are in the list.
    pub fn counts(&self) -> (usize, usize) {
        let of = |level| self.diagnostics.iter().filter(|d| d.level == level).count();
        (of(DiagnosticLevel::Error), of(DiagnosticLevel::Warning))
    }
}
