//! Files that are replaced in one step, old or new in full.

pub(crate) mod atomic_write;
pub(super) mod exchange;
pub(super) mod temp_name;
