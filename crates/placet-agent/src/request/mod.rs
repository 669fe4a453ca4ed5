//! From the conversation to a request that fits the model: build, measure, reduce if necessary, send and count.

pub(super) mod build;
pub(super) mod client;
pub(super) mod evicted;
pub(super) mod inquiry;
pub(super) mod reduce;
pub(super) mod usage;
pub(super) mod weight;
