//! Checks: commands that say whether a state of the workspace is good, and what they found.
//!
//! Everything here is values: what a check is, how its output is read, and what a run of it came to. Nothing here runs a
//! command or knows a view; `crates/placet-tools/src/command/check_run.rs` does.

mod definition;
mod detect;
mod diagnostic;
mod project;
mod readers;
mod result;
mod row;
mod state_hash;
mod store;
mod words;

pub use definition::{
    CheckDefinition, CheckDefinitionError, CheckFields, CheckMoment, CheckOutputForm, MAX_TIMEOUT,
};
pub use detect::{NothingProposed, ProposedAddition, ProposedCheck, propose, proposed_addition};
pub use diagnostic::{
    Diagnostic, DiagnosticFile, DiagnosticLevel, DiagnosticPlace, TestCounts, new_diagnostics,
};
pub use project::ProjectChecks;
pub use readers::{CheckFindings, FindingsReader};
pub use result::{CheckResult, CheckRunOutcome, CheckSideEffects};
pub use row::{CheckRow, CheckRowState, OutputToShow, ResultAge};
pub use state_hash::{CheckedSelection, StateHash};
pub use store::CheckStore;
pub use words::{
    check_details, check_outcome, check_row_words, diagnostic_line, new_diagnostics_words, result_age_words,
    unmet_words,
};
