//! What the cases share.

pub mod fixture;
