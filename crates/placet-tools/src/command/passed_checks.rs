//! Whether the checks that an apply needs have passed on exactly what would be applied.

use super::check_run::CheckedState;
use crate::ToolContext;
use placet_checks::CheckDefinition;
use placet_workspace::{ChangeSelection, ChangeSet, PassedCheck, View};
use std::path::Path;
use thiserror::Error;

/// Why an apply applies nothing.
#[derive(Debug, Error)]
pub enum UnmetCheck {
    #[error("not applied: the required check {0} has not passed on these files")]
    NotPassed(String),
    #[error("not applied: it is not known which checks are required: {0}")]
    Settings(String),
    #[error("not applied: it is not known whether the required checks passed: {0}")]
    State(String),
    #[error("not applied: {0}")]
    Failed(String),
}

/// The checks that passed on the workspace with `choice` of `set`. It fails where a required one did not.
pub fn passed_checks(
    env: &ToolContext,
    view: &View,
    (set, choice): (&ChangeSet, &ChangeSelection),
) -> Result<Vec<PassedCheck>, UnmetCheck> {
    let checks = &env.checks;
    if let Some(problem) = &checks.problem {
        return Err(UnmetCheck::Settings(problem.clone()));
    }
    let paths = choice.keys().map(|path| -> &Path { path });
    let concerned = checks.concerned(paths, env.workspace.cwd());
    if concerned.is_empty() {
        return Ok(Vec::new());
    }
    let state = match CheckedState::of(&env.workspace, view, (set, choice)) {
        Ok(state) => state,
        // Without a required check nothing depends on what is not known.
        Err(_) if concerned.iter().all(|check| !check.is_required) => return Ok(Vec::new()),
        Err(e) => return Err(UnmetCheck::State(e.to_string())),
    };
    let has_passed = |check: &CheckDefinition| {
        let known = checks.store.for_state(&check.name, &check.command_hash(), &state.hash);
        known.is_some_and(|result| result.passed())
    };
    let (mut passed, hash) = (Vec::new(), state.hash.to_string());
    for check in &concerned {
        match has_passed(check) {
            true => passed.push(PassedCheck { check: check.name.clone(), state: hash.clone() }),
            false if check.is_required => return Err(UnmetCheck::NotPassed(check.name.clone())),
            false => {}
        }
    }
    Ok(passed)
}

/// `checked: test passed in state 1a2b3c4d`.
pub fn passed_words(checks: &[PassedCheck]) -> Option<String> {
    let names: Vec<&str> = checks.iter().map(|passed| passed.check.as_str()).collect();
    let state = checks.first()?.state.get(..8).unwrap_or_default();
    Some(format!("checked: {} passed in state {state}", names.join(", ")))
}
