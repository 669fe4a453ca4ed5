//! Why there is no answer.

use crate::connection::limit::ExceededLimit;
use placet_text::conversation::AssistantMessage;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use thiserror::Error;

/// Texts from a server are cut to 2,000 characters; an error never contains a key.
#[derive(Clone, Debug, PartialEq, Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderError {
    #[error("the provider refused the key (HTTP {status}): {message}")]
    Auth { status: u16, message: String },
    #[error("no key for `{provider}`: set {variable}, or run `placet setup`")]
    NoKey { provider: String, variable: String },
    /// The key could not be read, or cannot be sent: its command failed, or it contains a control character.
    #[error("no usable key: {message}")]
    KeyUnusable { message: String },
    #[error("rate limited: {message}")]
    RateLimited { message: String, retry_after: Option<Duration> },
    #[error("the provider is overloaded (HTTP {status}): {message}")]
    Overloaded { status: u16, message: String, retry_after: Option<Duration> },
    #[error("the server had an error (HTTP {status}): {message}")]
    ServerFailure { status: u16, message: String, retry_after: Option<Duration> },
    /// The server is loading the model, which takes minutes for a large one.
    #[error("the server is loading the model: {message}")]
    Loading { message: String },
    #[error("the conversation is longer than the model's window: {message}")]
    TooLong { message: String, exceeded: Option<ExceededWindow> },
    /// The server named a part of the request that it will never accept; `images` when it names a picture.
    #[error("the provider rejected the request (HTTP {status}): {message}")]
    BadRequest { status: u16, message: String, blames: RejectionCause },
    #[error("no connection to {host}: {message}")]
    Network { host: String, message: String },
    /// A server of this machine does not run. `start` is the command that starts it, where placet knows one.
    #[error("no connection to {host}: connection refused")]
    NotRunning { host: String, start: Option<String> },
    /// A proxy requires another name or password; a retry would send the same.
    #[error("{message}")]
    Proxy { message: String },
    /// As far as its certificate shows, the connection is not to the named server.
    #[error("no secure connection to {host}: {message}")]
    Untrusted { host: String, message: String },
    /// The request has a key, and the connection is not encrypted: others could read the key.
    #[error("the key was not sent to {host}: the connection is not encrypted (http)")]
    PlainHttp { host: String },
    /// The server sent more than one answer may be. No call of it was run.
    #[error("the answer was stopped: {0}")]
    OverLimit(ExceededLimit),
    #[error("no data for {} s; the connection was closed", .0.as_secs_f64())]
    Timeout(Duration),
    /// The stream ended before the answer was complete. The received part is stored, marked as cut.
    #[error("the answer was cut off: {message}")]
    Broken { message: String, partial: Box<AssistantMessage> },
    #[error("the provider sent an invalid answer: {0}")]
    Protocol(String),
    #[error("the recording does not match this conversation:\n{0}")]
    Replay(String),
    /// `--record`: the answer may have come, but it is not in the file.
    #[error("the recording cannot be written: {0}")]
    Record(String),
    #[error("cancelled")]
    Cancelled,
}

/// The figures of a request that was longer than the window, where the server gives them as such.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExceededWindow {
    /// The tokens of the request.
    pub tokens: u64,
    pub window: u64,
}

/// The part of a request for which the server rejected it, where the server names the part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectionCause {
    Nothing,
    Image,
    /// Something in the messages: a text, a call, a result.
    Content,
    /// The index in the tool list.
    Tool(usize),
    /// All tools: the model, or the server as it was started, takes none.
    Tools,
    /// The proof of some reasoning: it was made for another key, or has expired.
    Reasoning,
}

impl ProviderError {
    /// True where the same request may succeed a moment later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            ProviderError::RateLimited { .. }
                | ProviderError::Overloaded { .. }
                | ProviderError::Loading { .. }
                | ProviderError::ServerFailure { .. }
                | ProviderError::Network { .. }
                | ProviderError::NotRunning { .. }
                | ProviderError::Timeout(_)
        )
    }

    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            ProviderError::RateLimited { retry_after, .. }
            | ProviderError::Overloaded { retry_after, .. }
            | ProviderError::ServerFailure { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    /// The same error with the server's text passed through `change`.
    pub fn map_message(mut self, change: impl FnOnce(&str) -> String) -> ProviderError {
        match &mut self {
            ProviderError::Auth { message, .. }
            | ProviderError::KeyUnusable { message }
            | ProviderError::Loading { message }
            | ProviderError::RateLimited { message, .. }
            | ProviderError::Overloaded { message, .. }
            | ProviderError::ServerFailure { message, .. }
            | ProviderError::TooLong { message, .. }
            | ProviderError::BadRequest { message, .. }
            | ProviderError::Network { message, .. }
            | ProviderError::Proxy { message }
            | ProviderError::Untrusted { message, .. }
            | ProviderError::Broken { message, .. }
            | ProviderError::Protocol(message)
            | ProviderError::Replay(message)
            | ProviderError::Record(message) => *message = change(message),
            ProviderError::OverLimit(ExceededLimit::ArgumentBytes { tool, .. }) => *tool = change(tool),
            ProviderError::NoKey { .. }
            | ProviderError::PlainHttp { .. }
            | ProviderError::NotRunning { .. }
            | ProviderError::OverLimit(_)
            | ProviderError::Timeout(_)
            | ProviderError::Cancelled => {}
        }
        self
    }

    /// The same error with the wait from the response's `Retry-After`.
    pub fn with_retry_after(mut self, wait: Option<Duration>) -> ProviderError {
        if let ProviderError::RateLimited { retry_after, .. }
        | ProviderError::Overloaded { retry_after, .. }
        | ProviderError::ServerFailure { retry_after, .. } = &mut self
        {
            *retry_after = wait.or(*retry_after);
        }
        self
    }
}
