//! What can be undone in the review, and done again: what each changed thing was before.

use super::overlay::ReviewInput;
use crate::review::content::comment::ReviewComment;
use crate::review::content::file::{ReviewHunk, ReviewLines, WholeChange};

/// What something was before it changed.
#[derive(Clone, Debug)]
pub(in crate::review) enum ReviewUndoItem {
    Hunk {
        file: usize,
        hunk: usize,
        was: ReviewHunk,
    },
    Whole {
        file: usize,
        was: WholeChange,
    },
    /// A file's hunks were cut again, or its new side was written again.
    Lines {
        file: usize,
        was: Box<ReviewLines>,
    },
    Comments(Vec<ReviewComment>),
}

#[derive(Clone, Debug)]
pub(in crate::review) struct ReviewUndoStep {
    pub(in crate::review) words: String,
    pub(in crate::review) was: Vec<ReviewUndoItem>,
    pub(in crate::review) cursor: usize,
}

#[derive(Debug, Default)]
pub(in crate::review) struct ReviewHistory {
    pub(in crate::review) done: Vec<ReviewUndoStep>,
    pub(in crate::review) undone: Vec<ReviewUndoStep>,
    /// A comment that was left before it was added, and what it was to be on.
    pub(in crate::review) draft: Option<(ReviewInput, String)>,
}
