//! What can go wrong in the shell.

use crate::session::SessionError;
use thiserror::Error;

/// Something that could not be built, with what to do about it.
#[derive(Debug, Error)]
#[error("{message}")]
pub struct UserError {
    pub message: String,
    pub hint: Option<String>,
    /// The person asked for something that there is not.
    pub usage: bool,
}

#[derive(Debug, Error)]
pub enum ReplError {
    #[error(transparent)]
    User(#[from] UserError),
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error("the terminal failed: {0}")]
    Terminal(#[from] std::io::Error),
    #[error("the prompt failed: {0}")]
    Prompt(#[from] rustyline::error::ReadlineError),
}
