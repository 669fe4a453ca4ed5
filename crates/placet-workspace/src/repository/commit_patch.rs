//! What a commit changes, or what else git stores, as a patch that a person can open.

use placet_text::text::visible;
use std::path::PathBuf;

/// The most reasons, or files, in one line.
pub(crate) const MOST_NAMED: usize = 6;

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
    pub(crate) files: Vec<(PathBuf, u32)>,
    /// Those that a program runs or obeys later, each with the reason.
    pub runs_later: Vec<(PathBuf, String)>,
}

impl CommitPatch {
    /// Names the files of a commit that run later. Its only file is named, too: the difference of several files has a row for
    /// each of them. The row of the index has names already.
    pub(crate) fn note(&self) -> String {
        if let ([(file, _)], true) = (&*self.files, self.runs_later.is_empty() && !self.is_staged) {
            return format!("({})", visible::path(file));
        }
        let shown = self.runs_later.iter().take(MOST_NAMED);
        let mut names: Vec<String> = shown.map(|(file, _)| format!("! {}", visible::path(file))).collect();
        let more = self.runs_later.len() - names.len();
        if more > 0 {
            names.push(format!("and {more} more"));
        }
        if names.is_empty() { String::new() } else { format!("({})", names.join(", ")) }
    }
}
