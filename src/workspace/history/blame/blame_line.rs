//! Who wrote one line.

use crate::workspace::history::origin::{ApprovedBy, ChangeOrigin};
use std::sync::Arc;

/// The largest file whose lines are attributed, in bytes.
pub(in crate::workspace::history) const MOST: u64 = 16 << 20;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameLine {
    /// From 1.
    pub number: usize,
    /// Decoded, without its end.
    pub text: String,
    pub claim: Arc<LineAttribution>,
}

/// Whose a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineAttribution {
    pub standing: LineStatus,
    /// The call; absent where none is known.
    pub origin: Option<Arc<ChangeOrigin>>,
    pub assent: ApprovedBy,
    /// The transaction in the journal by which it landed.
    pub entry: Option<u64>,
}

/// How a line came to stand where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineStatus {
    /// It is older than every transaction of this file: nobody wrote it by placet.
    Before,
    /// It landed.
    Workspace,
    /// It waits for the person.
    Pending,
    /// Written past placet, after one transaction of this file and before another.
    Outside { after: Option<u64>, before: Option<u64> },
    /// Nobody can tell, and why.
    Unknown { why: String },
}

impl LineAttribution {
    pub(super) fn nobody(standing: LineStatus) -> LineAttribution {
        LineAttribution { standing, origin: None, assent: ApprovedBy::Unknown, entry: None }
    }
}
