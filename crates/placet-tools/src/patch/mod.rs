//! The tool that applies a patch, and how it finds and changes the files.

pub(super) mod apply_patch;
pub(super) mod ledger_check;
pub(super) mod resolve;
pub(super) mod stage;
