//! Why a line cannot be parsed.

use thiserror::Error;

/// Why a line cannot be parsed. Such a line causes a question unless it is confined.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum ShellParseError {
    #[error("it is too long")]
    Long,
    #[error("it is nested too deeply")]
    Deep,
    #[error("unclosed `{0}`")]
    Open(&'static str),
    #[error("expected {wanted}, found `{found}`")]
    Unexpected { found: String, wanted: &'static str },
    #[error("cannot analyse {0}")]
    Unsupported(&'static str),
}
