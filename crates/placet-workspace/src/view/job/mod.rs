//! What a background command did, as values: for each path what it received, what it has in the end, and what is there
//! now.

mod layer_edit;
mod merge;
mod received;

pub(super) use merge::{JobMerge, MergeReport};
pub(super) use received::ReceivedStates;
