//! The limit at which write mode stops and asks.

use std::path::PathBuf;

/// What write mode lets a turn remove without a question.
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

/// Why the loss limit stopped a command's effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PendingReason {
    Loss {
        files: usize,
        bytes: u64,
    },
    Repository,
    /// Everything in this root of the workspace is removed.
    Root(PathBuf),
    /// The path, and why it is protected.
    Protected(PathBuf, String),
    /// The effects build on pending changes.
    Pending,
}

impl PendingReason {
    pub fn words(&self) -> String {
        match self {
            PendingReason::Loss { files, bytes } => {
                format!(
                    "it deletes or overwrites {files} files ({bytes} bytes) that this turn did not create"
                )
            }
            PendingReason::Repository => "it changes a git repository".into(),
            PendingReason::Root(root) => format!("it removes everything in `{}`", root.display()),
            PendingReason::Protected(path, why) => format!("`{}` is protected: {why}", path.display()),
            PendingReason::Pending => "it builds on changes that are already pending".into(),
        }
    }
}
