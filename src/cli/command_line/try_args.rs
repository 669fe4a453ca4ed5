//! The arguments of `placet try` and `placet compare`.

use crate::session::TryName;
use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum TryCommand {
    /// List the tries of this directory, the last used first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Rename a try
    Rename {
        /// The name it has
        #[arg(value_parser = TryName::parse)]
        from: TryName,
        /// The name it gets
        #[arg(value_parser = TryName::parse)]
        to: TryName,
    },
    /// Discard what is pending in a try, and take its name away; its conversation stays a session
    Drop {
        /// The name of the try
        #[arg(value_parser = TryName::parse)]
        name: TryName,
    },
    /// Take the names of tries away that have nothing pending
    Prune {
        /// Show what would be done, and do nothing
        #[arg(long)]
        dry_run: bool,
    },
}

#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The try that parts are taken into
    #[arg(value_parser = TryName::parse)]
    pub into: TryName,
    /// The try that they are taken from
    #[arg(value_parser = TryName::parse)]
    pub from: TryName,
    /// Print a patch from the first to the second instead
    #[arg(long)]
    pub patch: bool,
    /// Print the difference line by line, for screen readers
    #[arg(long)]
    pub linear: bool,
}
