//! Calls that a model wrote as text.

use serde::{Deserialize, Serialize};

/// Why a call that came as text does not run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextCallFault {
    UnknownTool {
        name: String,
    },
    Unreadable {
        reason: String,
    },
    /// There is text behind the call.
    NotLast,
}
