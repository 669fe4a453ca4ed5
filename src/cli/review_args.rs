//! The arguments of placet review.

use super::session_selector::SessionSelector;
use clap::Args;
use std::path::PathBuf;

#[derive(Args, Debug, Default)]
pub struct ReviewArgs {
    /// A patch file, `-` for standard input, or revisions as in `git diff`: REV, REV..REV. Default: pending
    /// changes, or else the changes since the last commit
    pub what: Option<String>,
    /// Review the changes staged in git
    #[arg(long, conflicts_with = "what")]
    pub staged: bool,
    /// Write the accepted hunks of the patch to this file
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
