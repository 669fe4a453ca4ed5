//! Who approved a change.

use placet_permission::PermitReason;
use placet_text::text::sanitize;
use serde::{Deserialize, Serialize};

/// Who approved a transaction.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "by")]
pub enum ApprovedBy {
    /// The transaction was written before approvals were recorded.
    #[default]
    Unknown,
    /// The person, and by what: `/apply`, `the question`.
    You { how: String },
    /// A rule that the person wrote.
    Rule { rule: String },
    /// The mode alone.
    Mode { mode: String },
}

impl ApprovedBy {
    pub fn you(how: &str) -> ApprovedBy {
        ApprovedBy::You { how: how.into() }
    }

    pub(crate) fn is_unknown(&self) -> bool {
        *self == ApprovedBy::Unknown
    }

    /// The recorded approval, or the person's own action where none is recorded.
    #[must_use]
    pub(crate) fn or_you(self, how: &str) -> ApprovedBy {
        if self.is_unknown() { ApprovedBy::you(how) } else { self }
    }

    /// A few words for a column: `you, /apply`.
    pub fn words(&self) -> String {
        match self {
            ApprovedBy::Unknown => "not recorded".into(),
            ApprovedBy::You { how } => format!("you, {}", sanitize::line(how)),
            ApprovedBy::Rule { rule } => format!("rule {}", sanitize::line(rule)),
            ApprovedBy::Mode { mode } => format!("{} mode", sanitize::line(mode)),
        }
    }
}

impl From<&PermitReason> for ApprovedBy {
    fn from(why: &PermitReason) -> ApprovedBy {
        match why {
            PermitReason::Mode(mode) => ApprovedBy::Mode { mode: (*mode).into() },
            PermitReason::Rule { rule, .. } => ApprovedBy::Rule { rule: rule.clone() },
            PermitReason::Person => ApprovedBy::you("the question"),
            PermitReason::Grant { words, .. } => ApprovedBy::You { how: format!("always: {words}") },
            PermitReason::ReadOnly | PermitReason::Several(_) => ApprovedBy::Rule { rule: why.to_string() },
        }
    }
}
