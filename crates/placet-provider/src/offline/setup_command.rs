//! How the person who reads an answer of the offline provider adds a model: it is another command inside the shell.

use std::fmt;

/// What the person types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SetupCommand {
    /// `placet setup`
    #[default]
    Subcommand,
    /// `/setup`, in the shell.
    Slash,
}

impl fmt::Display for SetupCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SetupCommand::Subcommand => "placet setup",
            SetupCommand::Slash => "/setup",
        })
    }
}
