//! The windows over the diff: the keys, the summary before applying, and typed lines: comments, searches, filters.

use crate::review::content::comment::CommentTarget;
use crate::text_field::TextField;

#[derive(Debug)]
pub enum ReviewOverlay {
    None,
    Help { top: usize },
    Summary { top: usize, answer: SummaryAnswer },
    Typing { input: ReviewInput, field: TextField },
}

/// The answer of the summary that is marked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SummaryAnswer {
    #[default]
    Apply,
    /// The same, and the agent or the program gets the rejections and comments at once.
    ApplyAndTell,
}

/// What is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewInput {
    Comment(CommentTarget),
    CommentTurn,
    Search,
    Filter,
}
