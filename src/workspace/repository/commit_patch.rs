//! What a commit changes, or what else git stores, as a patch that a person can open.

use std::path::PathBuf;

/// A patch in git's form, as git printed it from objects that it checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitPatch {
    pub bytes: Vec<u8>,
    /// Bytes of it that are not in it, because it is too large.
    pub left_out: usize,
    /// It is what the index has for the next commit.
    pub is_staged: bool,
    /// Bytes at the beginning that are the message of the commit.
    pub message: usize,
    /// The files that it changes, each with its mode.
    pub(in crate::workspace) files: Vec<(PathBuf, u32)>,
    /// Those that a program runs or obeys later, each with the reason.
    pub runs_later: Vec<(PathBuf, String)>,
}
