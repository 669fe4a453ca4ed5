//! From the words of a path to an open file, across no link that was not approved.

pub(crate) mod lease;
pub(crate) mod open;
pub(super) mod open_anyway;
pub(crate) mod open_at;
pub(crate) mod pseudo_fs;
pub(crate) mod resolve;
pub(super) mod symlinks;
