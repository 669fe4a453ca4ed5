//! What can go wrong for a program that embeds placet.

use crate::app::AppError;
use crate::session::SessionError;
use std::path::PathBuf;

/// The cause of an error, for the log; its type is not promised.
type ErrorCause = Box<dyn std::error::Error + Send + Sync>;

/// What went wrong. The text is one or more sentences for a person, in lower case and without a final period.
///
/// How a turn ended is not an error: see [`EndReason`](crate::EndReason).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A setting that the program gave does not exist or has a wrong value.
    #[error("{message}")]
    Setting {
        /// The setting, and what is wrong with it.
        message: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The session cannot start: a directory, a provider, a key, a rule or the session store is not usable.
    #[error("{source}")]
    Start {
        /// Why.
        source: ErrorCause,
        /// What to do about it.
        hint: Option<String>,
    },
    /// The message has no text. No turn was started.
    #[error("the message is empty")]
    EmptyMessage,
    /// The program did not call [`supervisor_main`](crate::supervisor_main), so that it cannot run commands or hooks.
    #[error(
        "this program cannot run commands: call `placet::supervisor_main` first in `main`, or choose another `CommandRunner`"
    )]
    NoSupervisor,
    /// The pending changes cannot be read, discarded or restored. Nothing was changed.
    #[error("cannot use the pending changes: {0}")]
    Pending(#[source] std::io::Error),
    /// The pending changes are not the ones that were shown. Nothing was changed. Read them again.
    #[error("the pending changes were updated in the meantime")]
    Outdated,
    /// Nothing is pending at this path. Nothing was changed.
    #[error("nothing is pending at `{}`", .0.display())]
    NotPending(PathBuf),
    /// The change at this path has no such hunk. Nothing was changed.
    #[error("the change of `{}` has no hunk {index}", .path.display())]
    NoHunk {
        /// Absolute.
        path: PathBuf,
        /// From 0.
        index: usize,
    },
    /// Files are not as they were when the changes were made. Nothing was applied.
    #[error("files changed in the meantime ({} merged, {} in conflict)", .merged.len(), .conflicts.len())]
    Changed {
        /// Pending changes that were merged with the files as they are now, and are pending in that form: show them,
        /// and apply them again.
        merged: Vec<PathBuf>,
        /// Pending changes that touch the same lines: discard them, or make them again.
        conflicts: Vec<PathBuf>,
    },
    /// Nothing was applied: no file was changed, or what had been changed was rolled back.
    #[error("not applied: {0}")]
    NotApplied(#[source] ErrorCause),
    /// The apply began and could neither be completed nor rolled back, for example on a full disk. Each file is
    /// completely old or completely new. The next session in this directory completes the apply or rolls it back.
    #[error("the apply is incomplete: {0}")]
    Incomplete(#[source] ErrorCause),
    /// Undo or redo changed nothing. The lines say why, the first one first.
    #[error("{}", .0.join("\n"))]
    NotUndone(Vec<String>),
    /// A permission question needs this word to be allowed. The question is answered with no.
    #[error("this must be confirmed with the word `{0}`")]
    WordRequired(String),
    /// The question does not offer to allow such calls always. The question is answered with no.
    #[error("this cannot be allowed for the whole session")]
    NotAlways,
    /// The question is not open any more: it was answered, or the turn was cancelled.
    #[error("the question is not open any more")]
    NotOpen,
    /// The session ended because of an error in placet.
    #[error("the session ended because of an internal error")]
    Ended,
}

impl Error {
    /// What to do about it, where placet knows.
    pub fn hint(&self) -> Option<&str> {
        match self {
            Error::Setting { hint, .. } | Error::Start { hint, .. } => hint.as_deref(),
            _ => None,
        }
    }

    pub(super) fn start(error: impl std::error::Error + Send + Sync + 'static) -> Error {
        Error::Start { source: Box::new(error), hint: None }
    }
}

impl From<AppError> for Error {
    fn from(error: AppError) -> Error {
        let hint = error.hint();
        Error::Start { source: Box::new(error), hint }
    }
}

impl From<SessionError> for Error {
    fn from(error: SessionError) -> Error {
        Error::start(error)
    }
}
