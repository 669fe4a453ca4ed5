//! The windows over the diff: the keys, the summary before applying, and typed lines: comments, searches, filters.

use super::comment::CommentTarget;
use crate::ui::text_field::TextField;

#[derive(Debug)]
pub enum ReviewOverlay {
    None,
    Help { top: usize },
    Summary { top: usize },
    Typing { input: ReviewInput, field: TextField },
}

/// What is being typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReviewInput {
    Comment(CommentTarget),
    CommentTurn,
    Search,
    Filter,
}
