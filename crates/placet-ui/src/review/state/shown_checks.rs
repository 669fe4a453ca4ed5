//! What the review knows of checks that ran on a part of the changes.

use placet_checks::CheckRow;

/// What the review shows of the checks: values, taken from the board between two frames.
#[derive(Clone, Debug, Default)]
pub struct ShownChecks {
    pub rows: Vec<CheckRow>,
    /// What was accepted when they started.
    pub(in crate::review) checked: AcceptedParts,
}

/// For each hunk, which of its lines are accepted; a whole change has one line.
pub(in crate::review) type AcceptedParts = Vec<Vec<Vec<bool>>>;
