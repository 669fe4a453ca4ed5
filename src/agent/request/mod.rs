//! From the conversation to a request that fits the model: built, measured, reduced where it must be, sent and counted.

pub(super) mod build;
pub(super) mod client;
pub(super) mod evicted;
pub(super) mod reduce;
pub(super) mod usage;
pub(super) mod weight;
