//! A change set: which paths would change, what kind of change each is, and its patch.

pub(super) mod batch;
pub(super) mod change_count;
pub(super) mod change_set;
pub(super) mod classify;
pub(super) mod listing;
pub(super) mod patch_export;
pub(super) mod renames;
pub(super) mod rewrite_action;
mod special_files;
