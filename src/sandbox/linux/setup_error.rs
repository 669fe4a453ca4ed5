//! Why a sandbox could not be set up.

use std::io::{self};

/// A step that was refused.
#[derive(Debug)]
pub(super) struct SandboxSetupError {
    pub(super) step: String,
    pub(super) error: io::Error,
}

/// `result`, or what could not be done. `step` completes "could not ...".
pub(super) fn at<T, E: Into<io::Error>>(
    result: Result<T, E>,
    step: impl FnOnce() -> String,
) -> Result<T, SandboxSetupError> {
    result.map_err(|error| SandboxSetupError { step: step(), error: error.into() })
}
