//! Errors that help: what was wrong, and what to call next.

use super::Hint;
pub use placet_text::conversation::CallFailure;
use thiserror::Error;

/// A call that did not succeed. The model reads `message` and then `hint`.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct ToolError {
    pub message: String,
    pub hint: Option<Hint>,
    /// The kind of failure, for tool sets that have their own text for it.
    pub fault: CallFailure,
}

impl ToolError {
    pub fn new(message: impl Into<String>) -> ToolError {
        ToolError { message: message.into(), hint: None, fault: CallFailure::Other }
    }

    pub fn hint(message: impl Into<String>, hint: impl Into<Hint>) -> ToolError {
        ToolError { message: message.into(), hint: Some(hint.into()), fault: CallFailure::Other }
    }

    /// A message in the wording of another system.
    pub fn worded(message: impl Into<String>) -> ToolError {
        ToolError { message: message.into(), hint: None, fault: CallFailure::Worded }
    }

    #[must_use]
    pub fn because(self, fault: CallFailure) -> ToolError {
        ToolError { fault, ..self }
    }

    /// The text for the model.
    pub fn for_model(&self) -> String {
        if self.hint.is_none() && self.fault == CallFailure::Worded {
            return self.message.clone();
        }
        self.labelled("error")
    }

    /// The text for the model if a rule or a person refused.
    pub fn denied(&self) -> String {
        self.labelled("denied")
    }

    fn labelled(&self, label: &str) -> String {
        match &self.hint {
            Some(hint) => format!("{label}: {}\nhint: {hint}", self.message),
            None => format!("{label}: {}", self.message),
        }
    }
}
