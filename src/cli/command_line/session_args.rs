//! The arguments of `placet session`.

use super::option_number::number;
use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum SessionCommand {
    /// List the newest sessions, those of this directory first
    List {
        /// Show at most N entries
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = number::<usize>)]
        limit: usize,
        /// Print JSON
        #[arg(long)]
        json: bool,
        /// Also list runs of `placet -p`, which are otherwise folded
        #[arg(long)]
        all: bool,
    },
    /// Show the messages of a session
    Show {
        /// ID of the session, or a prefix of it
        id: String,
    },
    /// Export a session as Markdown, HTML or JSON
    Export {
        /// ID of the session, or a prefix of it
        id: String,
        /// Format of the document
        #[arg(long, value_enum, default_value_t = ExportFormat::Markdown)]
        format: ExportFormat,
        /// Write to this file, or to this directory with the pictures next to the document
        #[arg(short, long, value_name = "FILE")]
        output: Option<PathBuf>,
    },
    /// Import a session that `export --format json` wrote
    Import {
        /// The exported JSON file, or - for standard input
        file: PathBuf,
    },
    /// Remove sessions that are older or larger than the settings allow
    Prune {
        /// Show what would be removed, and remove nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Rename a session
    Rename {
        /// ID of the session, or a prefix of it
        id: String,
        /// The new title
        #[arg(required = true)]
        title: Vec<String>,
    },
    /// Pin a session: list it first and never remove it automatically
    Pin {
        /// ID of the session, or a prefix of it
        id: String,
    },
    /// Unpin a session
    Unpin {
        /// ID of the session, or a prefix of it
        id: String,
    },
    /// Delete a session permanently
    Delete {
        /// ID of the session, or a prefix of it
        id: String,
    },
    /// Search the messages of all sessions
    Search {
        /// Words that a message must contain
        #[arg(required = true)]
        query: Vec<String>,
        /// Show at most N entries
        #[arg(short = 'n', long, value_name = "N", default_value_t = 20, value_parser = number::<usize>)]
        limit: usize,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    Markdown,
    Html,
    Json,
}
