//! A background command as values: for each path what it received, what it has in the end, and what is there now. While it
//! runs, it gets what changes in the view.

mod layer_edit;
mod merge;
mod pass;
mod passed;
mod received;
mod running_name;
mod updates;

pub(super) use layer_edit::MergeReport;
pub(super) use merge::JobMerge;
pub(super) use passed::PassedStates;
pub(super) use received::ReceivedStates;
pub(super) use updates::{JobUpdates, staged_name};
