//! The headers of the settings: names that a person may set, and values that are shown to nobody.

use super::failure::HttpFailure;
use placet_process::command_output;
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;
use thiserror::Error;

/// How long the command that prints headers may take: the time of a command that prints a key.
const COMMAND: Duration = Duration::from_secs(10);

/// The headers that the transport itself sends.
const RESERVED: [&str; 9] = [
    "accept",
    "connection",
    "content-length",
    "content-type",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
    "transfer-encoding",
];

/// A header that each request to a server has. Its value may be a key.
#[derive(Clone, PartialEq, Eq)]
pub struct HttpHeader {
    pub name: String,
    pub value: String,
}

impl fmt::Debug for HttpHeader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: [hidden]", self.name)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum HttpHeaderError {
    #[error("a header is not of the form `NAME: VALUE`")]
    NoColon,
    #[error("`{0}` is not a name for a header")]
    Name(String),
    #[error("the header `{0}` is set by placet")]
    Reserved(String),
    #[error("the header `{0}` has a control character in its value")]
    Value(String),
}

impl HttpHeader {
    /// Reads `NAME: VALUE`. No error repeats the value.
    pub fn parse(line: &str) -> Result<HttpHeader, HttpHeaderError> {
        let (name, value) = line.split_once(':').ok_or(HttpHeaderError::NoColon)?;
        HttpHeader::checked(name.trim(), value.trim())
    }

    fn checked(name: &str, value: &str) -> Result<HttpHeader, HttpHeaderError> {
        let is_token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if name.is_empty() || !name.chars().all(is_token) {
            return Err(HttpHeaderError::Name(name.into()));
        }
        if RESERVED.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(HttpHeaderError::Reserved(name.into()));
        }
        if value.chars().any(char::is_control) {
            return Err(HttpHeaderError::Value(name.into()));
        }
        Ok(HttpHeader { name: name.into(), value: value.into() })
    }
}

/// The headers that a command prints: lines `NAME: VALUE`, or an object of JSON.
pub(super) async fn printed(line: &str) -> Result<Vec<HttpHeader>, HttpFailure> {
    let output = command_output(line, COMMAND).await;
    let output = output.map_err(|e| HttpFailure::HeadersCommand(e.to_string()))?;
    if let Ok(object) = serde_json::from_str::<BTreeMap<String, String>>(&output) {
        let header = |(name, value): (String, String)| HttpHeader::checked(&name, &value);
        return object
            .into_iter()
            .map(header)
            .collect::<Result<_, _>>()
            .map_err(|_| HttpFailure::PrintedHeader);
    }
    let lines = output.lines().filter(|line| !line.trim().is_empty());
    lines.map(HttpHeader::parse).collect::<Result<_, _>>().map_err(|_| HttpFailure::PrintedHeader)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_and_no_error_shows_its_value() {
        let header = HttpHeader::parse("Authorization: Bearer canary:1").unwrap();
        assert_eq!((header.name.as_str(), header.value.as_str()), ("Authorization", "Bearer canary:1"));
        assert_eq!(format!("{header:?}"), "Authorization: [hidden]");
        for wrong in
            ["canary", ": canary", "a b: canary", "Host: canary", "X: can\u{7}ary", "Mcp-Session-Id: canary"]
        {
            let error = HttpHeader::parse(wrong).unwrap_err().to_string();
            assert!(!error.contains("canary"), "{error}");
        }
    }

    #[tokio::test]
    async fn a_command_prints_lines_or_json() {
        let expected = vec![HttpHeader::parse("A: 1").unwrap(), HttpHeader::parse("B: 2").unwrap()];
        assert_eq!(printed("printf 'A: 1\\n\\nB: 2\\n'").await, Ok(expected.clone()));
        assert_eq!(printed("echo '{\"A\": \"1\", \"B\": \"2\"}'").await, Ok(expected));
        assert_eq!(printed("echo nothing").await, Err(HttpFailure::PrintedHeader));
        let failed = printed("echo locked >&2; exit 2").await.unwrap_err().to_string();
        assert_eq!(failed, "the command of its `headers_command` failed (exit status: 2): locked");
    }
}
