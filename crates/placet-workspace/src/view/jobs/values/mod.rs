//! A background command as values: for each path what it received, what it has in the end, and what is there now. While it
//! runs, it gets what changes in the view.

mod layer_edit;
mod merge;
mod pass;
mod passed;
mod received;
mod running_name;
mod updates;

pub(in crate::view) use layer_edit::MergeReport;
pub(in crate::view) use merge::JobMerge;
pub(in crate::view) use passed::PassedStates;
pub(in crate::view) use received::ReceivedStates;
pub(in crate::view) use updates::{JobUpdates, staged_name};
