//! What is shown of pending changes, the decision about it, and what it did.

pub(super) mod applied_changes;
pub(super) mod apply;
pub(super) mod apply_guard;
pub(super) mod apply_within_limit;
pub(super) mod asked;
pub(super) mod conflicts;
pub(super) mod decide;
pub(super) mod decision_report;
pub(super) mod loss_limit;
pub(super) mod outdated;
pub(super) mod selection;
pub(super) mod shown;
