//! What stands behind the cursor while a line is typed, and carries the rows of the menu.

use rustyline::hint::Hint;

/// What is shown as a hint where only the menu is: it takes no room.
pub(super) const NOTHING: &str = "\x1b[m";

/// What the line is followed by while it is typed.
pub(in crate::repl::prompt) struct PromptHint {
    pub(super) shown: String,
    completion: Option<String>,
}

impl PromptHint {
    /// The rest of something, which Right takes.
    pub(in crate::repl::prompt) fn rest(text: String) -> PromptHint {
        PromptHint { completion: Some(text.clone()), shown: text }
    }

    /// What can follow, which Right does not take.
    pub(in crate::repl::prompt) fn usage(text: &str) -> PromptHint {
        PromptHint { shown: text.into(), completion: None }
    }
}

impl Hint for PromptHint {
    fn display(&self) -> &str {
        &self.shown
    }

    fn completion(&self) -> Option<&str> {
        self.completion.as_deref()
    }
}
