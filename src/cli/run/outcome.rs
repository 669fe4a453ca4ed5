//! The facts of a run as JSON, for `--output-format json`.

use super::execute::EndedRun;
use super::settle::RunOutcome;
use crate::cli::report::{CliError, print};
use serde_json::{Value, json};

pub(super) fn print_json(ran: &EndedRun, outcome: &RunOutcome) -> Result<(), CliError> {
    let state = ran.state.as_ref().map(|state| {
        let problem = |(path, why): &(std::path::PathBuf, String)| json!({"path": path.to_string_lossy(), "reason": why});
        json!({
            "kept": state.kept,
            "dropped": state.dropped,
            "not_kept": state.problems.iter().map(problem).collect::<Vec<_>>(),
        })
    });
    let object = json!({
        "program": ran.label.program,
        "session": ran.name,
        "exit_code": outcome.code,
        "changes": outcome.changes,
        "pending": outcome.pending,
        "state": state,
        "network": ran.network.as_deref().and_then(|text| serde_json::from_str::<Value>(text).ok()),
    });
    print(&(serde_json::to_string_pretty(&object).map_err(CliError::new)? + "\n"))
}
