//! From the conversation to a request that fits the model: built, measured, and reduced where it must be.

pub(super) mod build;
pub(super) mod evicted;
pub(super) mod reduce;
pub(super) mod usage;
