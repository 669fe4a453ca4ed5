//! The arguments of `placet checks`.

use super::session_selector::SessionSelector;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum ChecksCommand {
    /// List the checks, and whether each passed on the pending changes
    List {
        #[command(flatten)]
        which: SessionSelector,
    },
    /// Run all checks, or only these, on the workspace with the pending changes
    Run {
        /// Names of checks
        names: Vec<String>,
        /// Remove the build output of earlier runs first
        #[arg(long)]
        fresh: bool,
        #[command(flatten)]
        which: SessionSelector,
    },
    /// Show the output of the last run of a check
    Output {
        /// Name of the check
        name: String,
    },
    /// Propose checks from the project's files
    Detect {
        /// Propose them as a change to .placet/config.toml
        #[arg(long)]
        write: bool,
    },
}
