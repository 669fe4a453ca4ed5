//! Why a supervisor did not start a command: facts, which are sent over its line as one word and a reason.
//!
//! The supervisor is another process. Its fact has to arrive as the same fact, so that no code parses a sentence to
//! find out what failed.

use thiserror::Error;

const OTHER: &str = "error";
const SANDBOX: &str = "no-sandbox";
const OVERLAY: &str = "no-overlay";

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StartFailure {
    /// The system refused a copy-on-write layer.
    #[error("the sandbox could not be set up: {0}")]
    Overlay(String),
    /// Any other failure of the sandbox.
    #[error("the sandbox could not be set up: {0}")]
    Sandbox(String),
    #[error("{0}")]
    Other(String),
}

impl StartFailure {
    /// The report that the supervisor writes on its line.
    pub(crate) fn report(&self) -> String {
        match self {
            StartFailure::Overlay(reason) => format!("{OVERLAY} {reason}"),
            StartFailure::Sandbox(reason) => format!("{SANDBOX} {reason}"),
            StartFailure::Other(reason) => format!("{OTHER} {reason}"),
        }
    }

    /// Parses a report; `None` if it is something else.
    pub fn read(report: &str) -> Option<StartFailure> {
        let (kind, reason) = report.split_once(' ')?;
        match kind {
            OVERLAY => Some(StartFailure::Overlay(reason.into())),
            SANDBOX => Some(StartFailure::Sandbox(reason.into())),
            OTHER => Some(StartFailure::Other(reason.into())),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_the_same_at_the_other_end_of_the_line() {
        let all = [StartFailure::Overlay, StartFailure::Sandbox, StartFailure::Other];
        for failure in all.map(|kind| kind("no room\non the disk".into())) {
            assert_eq!(StartFailure::read(&failure.report()), Some(failure));
        }
        for other in ["", "exit 0", "error", "signal 9"] {
            assert_eq!(StartFailure::read(other), None, "{other}");
        }
    }
}
