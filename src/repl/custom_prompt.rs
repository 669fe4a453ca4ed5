//! A message that a command of the person or of the project makes, and what holds for its turn only.

use crate::conversation::Part;

/// See the module.
pub(crate) struct CustomPrompt {
    /// What was typed: the name of the session if it begins with it.
    pub(super) line: String,
    /// The text, for the question whether anybody can answer it.
    pub(super) text: String,
    pub(super) parts: Vec<Part>,
    /// The model that the command asks for.
    pub(super) model: Option<String>,
    /// Patterns of command lines that need no question in this turn.
    pub(super) allowed: Vec<String>,
}
