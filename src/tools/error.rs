//! Errors that teach: what was wrong, and what to call next.

use thiserror::Error;

/// A call that did not succeed. The model reads `message` and then `hint`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ToolError {
    pub message: String,
    pub hint: Option<String>,
}

impl ToolError {
    pub fn new(message: impl Into<String>) -> ToolError {
        ToolError { message: message.into(), hint: None }
    }

    pub fn hint(message: impl Into<String>, hint: impl Into<String>) -> ToolError {
        ToolError { message: message.into(), hint: Some(hint.into()) }
    }

    /// The text the model gets.
    pub fn for_model(&self) -> String {
        match &self.hint {
            Some(hint) => format!("error: {}\nhint: {hint}", self.message),
            None => format!("error: {}", self.message),
        }
    }
}
