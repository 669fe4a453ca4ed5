//! Why a file of a program is not written to the home directory.

use crate::WorkspaceError;
use std::io;
use thiserror::Error;

/// The largest file that is written, in bytes.
pub(in crate::files) const LARGEST_KEPT: u64 = 512 << 20;

#[derive(Debug, Error)]
pub enum KeepError {
    #[error("it changed outside of the view in the meantime")]
    Changed,
    #[error("another program has it open")]
    IsOpen,
    #[error("it is not a regular file")]
    NotRegular,
    #[error("a directory on the way to it is a link or a file")]
    NoDirectory,
    #[error("it has more than {} MB", LARGEST_KEPT >> 20)]
    TooLarge,
    #[error("it can make the program run something later")]
    RunsLater,
    #[error("{0}")]
    View(#[from] WorkspaceError),
    #[error("{0}")]
    Io(#[from] io::Error),
}
