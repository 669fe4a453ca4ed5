//! Turns in which checks run.

use super::mock_server::{MockServer, Reply, Say};

/// The messages of the request with this number, from 0.
pub fn sent(server: &MockServer, request: usize) -> String {
    server.requests()[request].body["messages"].to_string()
}

/// An answer of only this text.
pub fn says(text: &str) -> Reply {
    Reply::anthropic(&[Say::Text(text)])
}
