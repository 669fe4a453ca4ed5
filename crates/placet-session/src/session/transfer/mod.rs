//! Sessions that are made of others: written out, read in, copied.

pub(super) mod export;
pub(super) mod fork;
pub(super) mod import;
