//! What is known of a check on one state, for a list that a person reads before a decision.

use super::result::CheckResult;
use super::state_hash::StateHash;
use std::sync::Arc;
use std::time::Instant;

/// One check in such a list.
#[derive(Clone, Debug)]
pub struct CheckRow {
    pub name: String,
    pub is_required: bool,
    pub state: CheckRowState,
}

#[derive(Clone, Debug)]
pub enum CheckRowState {
    /// The state is not known yet.
    Looking,
    /// It never ran, or only with another command.
    NotRun,
    /// It runs after another check.
    Waiting,
    Running {
        since: Instant,
    },
    /// It ran on exactly this state.
    Here(Arc<CheckResult>),
    /// It ran on another state.
    Earlier {
        result: Arc<CheckResult>,
        since: ResultAge,
    },
    /// It cannot run. The reason is placet's own text.
    Impossible(String),
}

/// What differs from the state of an earlier result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResultAge {
    /// Files of the workspace.
    Workspace,
    /// So many changed files.
    Changes(usize),
    /// The changes that it saw are in the workspace now, and nothing is pending.
    Applied,
}

impl CheckRow {
    pub fn has_passed(&self) -> bool {
        matches!(&self.state, CheckRowState::Here(result) if result.passed())
    }

    /// It ran on this state to an end, and did not pass.
    pub fn has_failed(&self) -> bool {
        matches!(&self.state, CheckRowState::Here(result) if !result.passed() && result.has_run())
    }

    /// Its run on this state was stopped before it had a result.
    pub fn lacks_result(&self) -> bool {
        matches!(&self.state, CheckRowState::Here(result) if !result.has_run())
    }

    pub fn is_busy(&self) -> bool {
        matches!(self.state, CheckRowState::Looking | CheckRowState::Waiting | CheckRowState::Running { .. })
    }

    /// The last result, on whatever state.
    pub fn result(&self) -> Option<&Arc<CheckResult>> {
        match &self.state {
            CheckRowState::Here(result) | CheckRowState::Earlier { result, .. } => Some(result),
            _ => None,
        }
    }

    /// A run could change what is known.
    pub fn can_run(&self) -> bool {
        match &self.state {
            CheckRowState::NotRun | CheckRowState::Earlier { .. } | CheckRowState::Impossible(_) => true,
            CheckRowState::Here(result) => !result.passed(),
            CheckRowState::Looking | CheckRowState::Waiting | CheckRowState::Running { .. } => false,
        }
    }
}

/// The stored output of a check, as a person asks for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputToShow {
    pub check: String,
    /// That of an earlier state says so.
    pub title: String,
    /// On which the result is that the person saw.
    pub state: StateHash,
}

impl OutputToShow {
    /// The output that belongs to a result in these rows.
    pub fn of(rows: &[CheckRow], result: &CheckResult) -> OutputToShow {
        let check = &result.check;
        let state = rows.iter().find(|row| row.name == *check).map(|row| &row.state);
        let of = match state {
            Some(CheckRowState::Earlier { since: ResultAge::Changes(_), .. }) => ", before the last changes",
            Some(CheckRowState::Earlier { since: ResultAge::Workspace, .. }) => {
                ", before files of the workspace changed"
            }
            _ => "",
        };
        let title = format!("output of {check}{of}");
        OutputToShow { check: check.clone(), title, state: result.state.clone() }
    }

    /// The output that a person wants to see first.
    pub fn first(rows: &[CheckRow]) -> Option<OutputToShow> {
        result_to_show(rows).map(|result| OutputToShow::of(rows, result))
    }

    /// The title where the newest run, whose output is stored, was on `newest`.
    pub fn title_for(&self, newest: &StateHash) -> String {
        match *newest == self.state {
            true => self.title.clone(),
            false => format!("output of {}, of a later run on another state", self.check),
        }
    }
}

/// The result that a person wants to see first: of a failure on this state, or else the first there is.
fn result_to_show(rows: &[CheckRow]) -> Option<&Arc<CheckResult>> {
    rows.iter()
        .find(|row| row.has_failed())
        .and_then(CheckRow::result)
        .or_else(|| rows.iter().find_map(CheckRow::result))
}
