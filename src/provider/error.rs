//! Why there is no answer.

use crate::conversation::Answer;
use std::time::Duration;
use thiserror::Error;

/// Texts from a server are cut to 2,000 characters; nothing here ever holds a key.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ProviderError {
    #[error("the provider refused the key (HTTP {status}): {message}")]
    Auth { status: u16, message: String },
    #[error("no key for `{provider}`: set {variable}, or `api_key_command` in the configuration")]
    NoKey { provider: String, variable: String },
    #[error("rate limited: {message}")]
    RateLimited { message: String, retry_after: Option<Duration> },
    #[error("the provider is overloaded (HTTP {status}): {message}")]
    Overloaded { status: u16, message: String, retry_after: Option<Duration> },
    #[error("the conversation is longer than the model's window: {message}")]
    TooLong { message: String },
    /// The server named a part of the request that it will never take; `images` when it blames a picture.
    #[error("the provider rejected the request (HTTP {status}): {message}")]
    BadRequest { status: u16, message: String, blames: Blame },
    #[error("no connection to {host}: {message}")]
    Network { host: String, message: String },
    #[error("no data for {0:?}; the connection was given up")]
    Timeout(Duration),
    /// The stream ended before the answer was whole. What had arrived is kept, marked as cut.
    #[error("the answer broke off: {message}")]
    Broken { message: String, partial: Box<Answer> },
    #[error("the provider sent something that is no answer: {0}")]
    Protocol(String),
    #[error("the recording does not fit this conversation:\n{0}")]
    Replay(String),
    #[error("cancelled")]
    Cancelled,
}

/// What a rejected request was rejected for, where the server says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    Nothing,
    Image,
    /// The index in the tool list.
    Tool(usize),
}

impl ProviderError {
    /// True where the same request may well succeed a moment later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            ProviderError::RateLimited { .. }
                | ProviderError::Overloaded { .. }
                | ProviderError::Network { .. }
                | ProviderError::Timeout(_)
        )
    }

    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ProviderError::RateLimited { retry_after, .. }
            | ProviderError::Overloaded { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
