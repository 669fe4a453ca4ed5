//! How the person who reads an answer of the offline provider adds a model: it is another command inside the shell.

/// What the person types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SetupCommand {
    /// `placet setup`
    #[default]
    Subcommand,
    /// `/setup`, in the shell.
    Slash,
}
