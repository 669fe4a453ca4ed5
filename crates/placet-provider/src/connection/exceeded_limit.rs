//! A limit on answers that an answer went over.

use serde::Deserialize;
use serde::Serialize;
use std::fmt;
use std::time::Duration;

pub(crate) const MB: usize = 1024 * 1024;

/// The limit that an answer went over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExceededLimit {
    AnswerBytes { most: usize },
    WireBytes { most: usize },
    ArgumentBytes { tool: String, most: usize },
    EventBytes { most: usize },
    EventValues { most: usize },
    Calls { most: usize },
    Time { most: Duration },
}

impl ExceededLimit {
    /// The setting that raises it; one has none.
    pub fn setting(&self) -> Option<&'static str> {
        Some(match self {
            ExceededLimit::AnswerBytes { .. } | ExceededLimit::WireBytes { .. } => "network.answer_mb",
            ExceededLimit::ArgumentBytes { .. } => "network.arguments_mb",
            ExceededLimit::EventBytes { .. } => "network.event_mb",
            ExceededLimit::EventValues { .. } => return None,
            ExceededLimit::Calls { .. } => "network.answer_calls",
            ExceededLimit::Time { .. } => "network.answer_seconds",
        })
    }
}

impl fmt::Display for ExceededLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExceededLimit::AnswerBytes { most } => write!(f, "it is longer than {}", size(*most)),
            ExceededLimit::WireBytes { most } => {
                write!(f, "the server sent more than {} for the answer", size(*most))
            }
            ExceededLimit::ArgumentBytes { tool, most } => {
                write!(f, "the arguments of a call to `{tool}` are longer than {}", size(*most))
            }
            ExceededLimit::EventBytes { most } => {
                write!(f, "one event of the server is longer than {}", size(*most))
            }
            ExceededLimit::EventValues { most } => {
                write!(f, "one event of the server has more than {most} JSON values")
            }
            ExceededLimit::Calls { most } => write!(f, "it has more than {most} calls"),
            ExceededLimit::Time { most } => write!(f, "it was incomplete after {} s", most.as_secs()),
        }?;
        match self.setting() {
            Some(setting) => write!(f, " (`{setting}`)"),
            None => Ok(()),
        }
    }
}

pub(crate) fn size(bytes: usize) -> String {
    match bytes {
        whole if whole >= MB && whole % MB == 0 => format!("{} MB", whole / MB),
        _ => format!("{bytes} bytes"),
    }
}
