//! The conversation: its messages and their session, and a record of what the model has seen and received.

pub(super) mod directory_instructions;
pub(super) mod log;
pub(super) mod model_switch;
pub(super) mod notes;
pub(super) mod read_tracker;
pub(super) mod reported;
