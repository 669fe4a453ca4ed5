//! Why a sandbox could not be set up.

use std::io;

/// A step that was refused.
#[derive(Debug)]
pub(super) struct SandboxSetupError {
    pub(super) kind: SetupStepKind,
    pub(super) step: String,
    pub(super) error: io::Error,
}

/// The hint for the person depends on the kind of step: the place of the layers can be changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SetupStepKind {
    Overlay,
    Other,
}

impl SetupStepKind {
    const OVERLAY: &str = "overlay: ";

    /// The prefix of the report that is sent to the supervisor, which is another process.
    pub(super) fn mark(self) -> &'static str {
        match self {
            SetupStepKind::Overlay => SetupStepKind::OVERLAY,
            SetupStepKind::Other => "",
        }
    }

    /// The kind and the rest of a report.
    pub(super) fn read(report: &str) -> (SetupStepKind, &str) {
        match report.strip_prefix(SetupStepKind::OVERLAY) {
            Some(rest) => (SetupStepKind::Overlay, rest),
            None => (SetupStepKind::Other, report),
        }
    }
}

impl SandboxSetupError {
    /// The step was to make a copy-on-write layer.
    pub(super) fn of_overlay(self) -> SandboxSetupError {
        SandboxSetupError { kind: SetupStepKind::Overlay, ..self }
    }
}

/// `result`, or which step failed. `step` completes "could not ...".
pub(super) fn at<T, E: Into<io::Error>>(
    result: Result<T, E>,
    step: impl FnOnce() -> String,
) -> Result<T, SandboxSetupError> {
    result.map_err(|error| SandboxSetupError {
        kind: SetupStepKind::Other,
        step: step(),
        error: error.into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_keeps_its_kind() {
        for kind in [SetupStepKind::Overlay, SetupStepKind::Other] {
            let report = format!("{}could not lay a copy-on-write layer", kind.mark());
            assert_eq!(SetupStepKind::read(&report), (kind, "could not lay a copy-on-write layer"));
        }
    }
}
