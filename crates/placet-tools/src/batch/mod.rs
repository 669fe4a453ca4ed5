//! Several operations on files in one call.

pub(super) mod file_operation;
pub(super) mod operations;
