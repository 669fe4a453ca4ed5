//! Commands in the background: what they see, how their changes meet those of others, and what a killed placet left.

pub(super) mod background;
#[cfg(test)]
pub(super) mod background_bench;
pub(super) mod job_record;
pub(super) mod killed_jobs;
pub(super) mod layer_snapshot;
pub(super) mod to_background;
pub(super) mod values;
