//! How much a server is asked to log over the protocol.

#[allow(deprecated, reason = "servers of today still log over the protocol")]
use rmcp::model::LoggingLevel;

/// From the most to the fewest messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerLogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl ServerLogLevel {
    pub const ALL: [ServerLogLevel; 8] = [
        ServerLogLevel::Debug,
        ServerLogLevel::Info,
        ServerLogLevel::Notice,
        ServerLogLevel::Warning,
        ServerLogLevel::Error,
        ServerLogLevel::Critical,
        ServerLogLevel::Alert,
        ServerLogLevel::Emergency,
    ];

    pub fn name(self) -> &'static str {
        match self {
            ServerLogLevel::Debug => "debug",
            ServerLogLevel::Info => "info",
            ServerLogLevel::Notice => "notice",
            ServerLogLevel::Warning => "warning",
            ServerLogLevel::Error => "error",
            ServerLogLevel::Critical => "critical",
            ServerLogLevel::Alert => "alert",
            ServerLogLevel::Emergency => "emergency",
        }
    }

    pub fn of(word: &str) -> Option<ServerLogLevel> {
        ServerLogLevel::ALL.into_iter().find(|level| level.name() == word)
    }

    #[allow(deprecated, reason = "servers of today still log over the protocol")]
    pub(super) fn in_protocol(self) -> LoggingLevel {
        match self {
            ServerLogLevel::Debug => LoggingLevel::Debug,
            ServerLogLevel::Info => LoggingLevel::Info,
            ServerLogLevel::Notice => LoggingLevel::Notice,
            ServerLogLevel::Warning => LoggingLevel::Warning,
            ServerLogLevel::Error => LoggingLevel::Error,
            ServerLogLevel::Critical => LoggingLevel::Critical,
            ServerLogLevel::Alert => LoggingLevel::Alert,
            ServerLogLevel::Emergency => LoggingLevel::Emergency,
        }
    }
}
