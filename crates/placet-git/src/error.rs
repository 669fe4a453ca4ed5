//! What can go wrong, as data. Sentences about rows and decisions are made elsewhere.

use std::io;
use std::path::{Path, PathBuf};

/// An error of this crate. After each of them a repository is as it was before.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("cannot run git: {0}")]
    NotStarted(#[source] io::Error),
    #[error("git {0}.{1} is older than 2.30")]
    TooOld(u32, u32),
    #[error("cannot {action} `{}`: {source}", path.display())]
    Io { action: &'static str, path: PathBuf, source: io::Error },
    #[error("`git {command}` failed: {message}")]
    Failed { command: String, message: String },
    #[error("`git {command}` took longer than {seconds} seconds")]
    Time { command: String, seconds: u64 },
    #[error("`git {command}` wrote more than {limit} bytes")]
    Output { command: String, limit: u64 },
    #[error("`git {command}` printed something unexpected")]
    Unexpected { command: &'static str },
    #[error("`{0}` is not a regular file")]
    NotRegular(String),
    #[error("`{0}` is larger than {1} bytes")]
    TooLarge(String, u64),
    #[error("the repository has more than {1} {0}")]
    TooMany(&'static str, usize),
    #[error("the repository has no `HEAD` or no objects")]
    NoRepository,
    #[error("git cannot read these refs: {0}")]
    UnreadableRefs(String),
    #[error("the repository has another object format or ref storage than before")]
    FormatChanged,
    #[error("the boundaries of the shallow clone changed")]
    ShallowChanged,
    #[error("object {0} is missing")]
    Missing(String),
    #[error("`{0}` is locked by another git process; if none is running, remove the file")]
    Locked(PathBuf),
    #[error("{0} changed since the question was asked")]
    Changed(String),
    #[error("{0} changed on both sides")]
    Conflict(String),
    #[error("this change cannot be applied: {0}")]
    Unsupported(String),
    #[error("the journal `{}` cannot be read: {why}", path.display())]
    Journal { path: PathBuf, why: String },
    /// A test asked for a failure at a step.
    #[error("stopped at step {0}")]
    Stopped(&'static str),
}

impl GitError {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> GitError {
        let path = path.to_path_buf();
        move |source| GitError::Io { action, path, source }
    }
}

pub(crate) type Result<T> = std::result::Result<T, GitError>;
