//! The limit at which write mode stops and asks.

use crate::changes::classify::LargeLoss;
use std::path::{Path, PathBuf};

/// What is removed without a question of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossLimit {
    pub files: usize,
    pub bytes: u64,
}

impl Default for LossLimit {
    fn default() -> LossLimit {
        LossLimit { files: 20, bytes: 1 << 20 }
    }
}

/// Why write mode did not apply a command's effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PendingReason {
    Loss(LargeLoss),
    Repository,
    /// The path, and why it is protected.
    Protected(PathBuf, String),
    /// The effects build on pending changes.
    Pending,
}

impl PendingReason {
    pub fn words(&self) -> String {
        match self {
            PendingReason::Loss(loss) => format!("it {}", loss.words(&Path::to_path_buf)),
            PendingReason::Repository => {
                "it takes something away from a git repository, or leaves an operation there unfinished"
                    .into()
            }
            PendingReason::Protected(path, why) => format!("`{}` is protected: {why}", path.display()),
            PendingReason::Pending => "it builds on changes that are already pending".into(),
        }
    }
}
