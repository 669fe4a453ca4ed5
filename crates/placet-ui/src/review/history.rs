//! What can be undone in the review, and done again: what each changed thing was before.

use super::comment::ReviewComment;
use super::file::{ReviewHunk, ReviewLines, WholeChange};
use super::overlay::ReviewInput;

/// What something was before it changed.
#[derive(Clone, Debug)]
pub(super) enum ReviewUndoItem {
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
pub(super) struct ReviewUndoStep {
    pub(super) words: String,
    pub(super) was: Vec<ReviewUndoItem>,
    pub(super) cursor: usize,
}

#[derive(Debug, Default)]
pub(super) struct ReviewHistory {
    pub(super) done: Vec<ReviewUndoStep>,
    pub(super) undone: Vec<ReviewUndoStep>,
    /// A comment that was left before it was added, and what it was to be on.
    pub(super) draft: Option<(ReviewInput, String)>,
}
