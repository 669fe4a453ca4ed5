//! A message that a command of the person or of the project makes, and what holds for its turn only.

use crate::conversation::Part;

/// See the module.
pub(crate) struct CustomPrompt {
    /// What was typed: the name of the session if it begins with it.
    pub(in crate::repl) line: String,
    /// The text, for the question whether anybody can answer it.
    pub(in crate::repl) text: String,
    pub(in crate::repl) parts: Vec<Part>,
    /// The model that the command asks for.
    pub(in crate::repl) model: Option<String>,
    /// Patterns of command lines that need no question in this turn.
    pub(in crate::repl) allowed: Vec<String>,
}
