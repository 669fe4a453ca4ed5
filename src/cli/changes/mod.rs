//! Pending and applied changes: listed, applied, discarded, undone, and who made them.

pub(super) mod applied_changes;
pub(super) mod apply;
pub(super) mod apply_progress;
pub(super) mod apply_question;
pub(super) mod approvals;
pub(super) mod blame;
pub(super) mod journal;
pub(super) mod killed;
pub(super) mod pending;
pub(super) mod tries;
