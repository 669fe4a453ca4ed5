//! What the agent knows of the conversation besides its messages: branches, notes, records that could not be
//! written.

pub(super) mod branch;
pub(super) mod model_switch;
pub(super) mod notes;
pub(super) mod pending_writes;
pub(super) mod read_tracking;
