//! The arguments of placet review.

use super::session_selector::SessionSelector;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug, Default)]
pub struct ReviewArgs {
    /// A path with pending changes, a patch file, `-` for standard input, or revisions as in `git diff`: REV,
    /// REV..REV. Default: all pending changes, or else what git has not staged, to stage it
    pub what: Option<String>,
    /// Review what is staged in git; what you reject is unstaged
    #[arg(long, conflicts_with = "what")]
    pub staged: bool,
    /// Write the accepted hunks to this file as a patch, and stage nothing
    #[arg(long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Comments and rejections as JSON instead of Markdown
    #[arg(long)]
    pub json: bool,
    /// Print numbered sentences, without a full screen
    #[arg(long)]
    pub linear: bool,
    #[command(flatten)]
    pub which: SessionSelector,
}
