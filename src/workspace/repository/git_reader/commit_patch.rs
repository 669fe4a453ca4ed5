//! What a commit changes, as a patch that a person can open.

use super::budget::ReadBudget;
use crate::text::patch::{quoted, unified};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// The patch of a commit against its first parent, in git's form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitPatch {
    pub bytes: Vec<u8>,
    /// Bytes of it that are not in it, because the patches of all commits together are too large.
    pub left_out: usize,
    /// The files that the commit changes, each with its mode.
    pub(in crate::workspace) files: Vec<(PathBuf, u32)>,
    /// Those that a program runs or obeys later, each with the reason.
    pub runs_later: Vec<(PathBuf, String)>,
}

impl CommitPatch {
    /// Adds a file, with its mode on each side. `texts` is `None` for content that is not text, is too large, or cannot
    /// be read.
    pub(super) fn add(
        &mut self,
        path: &[u8],
        modes: (Option<u32>, Option<u32>),
        texts: Option<(&[u8], &[u8])>,
        budget: &ReadBudget,
    ) {
        let file = PathBuf::from(OsStr::from_bytes(path));
        self.files.extend(modes.1.or(modes.0).map(|mode| (file, mode)));
        let (a, b) = (quoted("a/", path), quoted("b/", path));
        let mut part = format!("diff --git {a} {b}\n");
        match modes {
            (None, Some(mode)) => part.push_str(&format!("new file mode {mode:06o}\n")),
            (Some(mode), None) => part.push_str(&format!("deleted file mode {mode:06o}\n")),
            (Some(was), Some(is)) if was != is => {
                part.push_str(&format!("old mode {was:06o}\nnew mode {is:06o}\n"));
            }
            _ => {}
        }
        let mut part = part.into_bytes();
        match texts {
            None => part.extend_from_slice(format!("Binary files {a} and {b} differ\n").as_bytes()),
            Some((before, after)) if before == after => {}
            Some((before, after)) => {
                let side = |mode: Option<u32>, name| if mode.is_some() { name } else { "/dev/null".into() };
                let (old, new) = (side(modes.0, a), side(modes.1, b));
                part.extend_from_slice(format!("--- {old}\n+++ {new}\n").as_bytes());
                unified(before, after, &mut part);
            }
        }
        match budget.take_patch(part.len()) {
            true => self.bytes.extend(part),
            false => self.left_out += part.len(),
        }
    }
}
