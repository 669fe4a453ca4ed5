//! The words of `placet import`.

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct ImportArgs {
    /// Whose settings are read: claude, codex, gemini, opencode
    #[arg(hide_possible_values = true)]
    pub program: ImportedProgram,
    /// Read your own settings (the default)
    #[arg(long, conflicts_with = "project")]
    pub user: bool,
    /// Read this project's settings, for its .placet/config.toml
    #[arg(long)]
    pub project: bool,
    /// Write without a question
    #[arg(long)]
    pub write: bool,
}

/// The words need no help of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ImportedProgram {
    Claude,
    Codex,
    Gemini,
    Opencode,
}

impl ImportedProgram {
    pub(super) fn name(self) -> &'static str {
        match self {
            ImportedProgram::Claude => "claude",
            ImportedProgram::Codex => "codex",
            ImportedProgram::Gemini => "gemini",
            ImportedProgram::Opencode => "opencode",
        }
    }
}

/// Whose settings are read and changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImportScope {
    User,
    /// Anyone may have written them.
    Project,
}
