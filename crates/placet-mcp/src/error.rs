//! Why a server cannot be used, or a call to it did not succeed.

use super::bounded_answers::{MOST_WAITING, STALLED};
use super::http::HttpFailure;
use super::unread_lines::UnreadLines;
use rmcp::ErrorData;
use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::DynamicTransportError;
use std::time::Duration;
use thiserror::Error;

/// How much of a server's own message is passed on, in bytes.
const LONGEST_MESSAGE: usize = 2_000;

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum McpClientError {
    #[error("it did not answer within {} s", .0.as_secs_f64())]
    Silent(Duration),
    #[error("it ended, or closed its output")]
    Closed,
    #[error(
        "it sent {MOST_WAITING} requests and did not read the answers for {} s: it was ended", STALLED.as_secs()
    )]
    Stalled,
    #[error("it does not speak MCP: {0}")]
    Handshake(String),
    /// The server's own words: hostile until they are rendered.
    #[error("{0}")]
    Refused(String),
    #[error("its answer is not one that the protocol allows here")]
    Unexpected,
    /// With the beginning of the line: hostile until it is rendered.
    #[error("its answer cannot be read as a message of the protocol: {0}")]
    Unreadable(String),
    /// With the beginning of the line: hostile until it is rendered.
    #[error("{error}; it printed a line that is not a message of the protocol: {line}")]
    AfterLine { error: Box<McpClientError>, line: String },
    #[error("a message of it is longer than {} MB", .0 >> 20)]
    MessageTooLong(usize),
    #[error("it wants input from a person in a form that placet does not know")]
    InputRequired,
    #[error("the call was stopped")]
    Stopped,
    #[error(transparent)]
    Http(#[from] HttpFailure),
}

impl McpClientError {
    /// True if the connection cannot be used any more.
    pub fn is_lost(&self) -> bool {
        match self {
            McpClientError::Closed
            | McpClientError::Stalled
            | McpClientError::MessageTooLong(_)
            | McpClientError::Handshake(_) => true,
            McpClientError::AfterLine { error, .. } => error.is_lost(),
            McpClientError::Http(failure) => failure.is_lost(),
            _ => false,
        }
    }

    /// True if more time may be the remedy.
    pub fn is_silence(&self) -> bool {
        match self {
            McpClientError::Silent(_) => true,
            McpClientError::AfterLine { error, .. } => error.is_silence(),
            _ => false,
        }
    }

    /// The same, with the line that may be its reason. A line is reported once.
    pub(super) fn explained(self, unread: &UnreadLines) -> McpClientError {
        match (self, unread.too_long()) {
            (McpClientError::Closed, Some(most)) => McpClientError::MessageTooLong(most),
            (error @ (McpClientError::Closed | McpClientError::Silent(_)), _) => match unread.take_first() {
                Some(line) => McpClientError::AfterLine { error: Box::new(error), line },
                None => error,
            },
            (error, _) => error,
        }
    }

    /// True if a login is the remedy.
    pub fn needs_login(&self) -> bool {
        matches!(self, McpClientError::Http(failure) if failure.needs_login())
    }

    pub(super) fn of_start(error: &ClientInitializeError) -> McpClientError {
        match error {
            ClientInitializeError::ConnectionClosed(_) => McpClientError::Closed,
            ClientInitializeError::TransportError { error, .. } => McpClientError::of_transport(error),
            ClientInitializeError::JsonRpcError(error) => McpClientError::Refused(cut(own_words(error))),
            ClientInitializeError::NoCompatibleProtocolVersion { .. } => {
                McpClientError::Handshake("no version of the protocol is known to both".into())
            }
            _ => McpClientError::Handshake("the answer to `initialize` is not one".into()),
        }
    }

    /// A transport over HTTP says why; one over pipes has only an end.
    fn of_transport(error: &DynamicTransportError) -> McpClientError {
        error
            .error
            .downcast_ref::<HttpFailure>()
            .cloned()
            .map_or(McpClientError::Closed, McpClientError::Http)
    }

    pub(super) fn of_request(error: ServiceError) -> McpClientError {
        match error {
            ServiceError::McpError(error) => McpClientError::Refused(cut(own_words(&error))),
            ServiceError::TransportSend(error) => McpClientError::of_transport(&error),
            ServiceError::TransportClosed => McpClientError::Closed,
            ServiceError::Timeout { timeout } => McpClientError::Silent(timeout),
            ServiceError::Cancelled { .. } => McpClientError::Stopped,
            _ => McpClientError::Unexpected,
        }
    }
}

/// The message without its code: servers of the TypeScript library begin it with `MCP error -32602: `.
fn own_words(error: &ErrorData) -> &str {
    let code = format!("MCP error {}: ", error.code.0);
    error.message.strip_prefix(&code).unwrap_or(&error.message)
}

/// The beginning of a server's message, which may have megabytes.
fn cut(message: &str) -> String {
    if message.len() <= LONGEST_MESSAGE {
        return message.into();
    }
    let beginning = message.get(..message.floor_char_boundary(LONGEST_MESSAGE)).unwrap_or_default();
    format!("{beginning} [the first {LONGEST_MESSAGE} of {} bytes]", message.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ErrorCode;

    #[test]
    fn the_code_is_no_part_of_the_words_of_a_server() {
        let words =
            |message: &'static str| own_words(&ErrorData::new(ErrorCode(-32602), message, None)).to_string();
        assert_eq!(words("MCP error -32602: Resource x not found"), "Resource x not found");
        assert_eq!(words("MCP error -1: no"), "MCP error -1: no");
        assert_eq!(words("no"), "no");
    }
}
