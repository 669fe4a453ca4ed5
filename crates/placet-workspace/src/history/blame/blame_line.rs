//! Who wrote one line.

use crate::history::origin::{ApprovedBy, ChangeOrigin};
use std::sync::Arc;

/// The largest file whose lines are attributed, in bytes.
pub(in crate::history) const MOST: u64 = 16 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameLine {
    /// From 1.
    pub number: usize,
    /// Decoded, without its end.
    pub text: String,
    pub claim: Arc<LineAttribution>,
}

/// The author of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineAttribution {
    pub standing: LineStatus,
    /// The call; absent where the call is not known.
    pub origin: Option<Arc<ChangeOrigin>>,
    pub assent: ApprovedBy,
    /// The transaction in the journal that applied the line.
    pub entry: Option<u64>,
}

/// The origin of a line at its present place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineStatus {
    /// The line is older than every transaction of this file: placet did not write it.
    Before,
    /// The line was applied.
    Workspace,
    /// The line is pending.
    Pending,
    /// Another program wrote the line, after one transaction of this file and before another.
    Outside { after: Option<u64>, before: Option<u64> },
    /// The author cannot be found, for this reason.
    Unknown { why: String },
}

impl LineAttribution {
    pub(super) fn nobody(standing: LineStatus) -> LineAttribution {
        LineAttribution { standing, origin: None, assent: ApprovedBy::Unknown, entry: None }
    }
}
