//! What is reviewed: files, their sides and hunks, where they come from and what becomes of them.

pub(super) mod binary_section;
pub(super) mod comment;
pub(super) mod commit_files;
pub(super) mod conflict;
pub(super) mod edit;
pub(super) mod file;
pub(super) mod folded_files;
pub(super) mod from_patch;
pub(super) mod index_patch;
pub(super) mod inline_diff;
pub(super) mod load;
pub(super) mod moved_lines;
pub(super) mod side_text;
pub(super) mod unit;
