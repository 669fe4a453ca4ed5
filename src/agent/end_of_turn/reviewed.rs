//! What a review decided about the changes of a question. The front end that has the review keeps it; the question shows
//! it, and its yes does exactly that.

use crate::workspace::{ChangeDecision, ShownChanges, Workspace};

/// The decisions of a review that was left, as the question about the same changes shows and makes them.
pub struct ReviewedDecision {
    /// What a yes to everything applies and discards: what was not decided is accepted.
    pub decision: ChangeDecision,
    /// `✗ 1 of 2 hunks rejected, 1 comment`.
    pub words: String,
    /// How many hunks are rejected.
    pub rejected: usize,
    /// A conflict is left in which the person has to choose before anything can be applied.
    pub has_open_conflict: bool,
    /// Ends the review once its decisions were carried out: what the agent is to learn is stored. Returns what the person is
    /// told of it.
    pub finish: Box<dyn FnOnce() -> Vec<String> + Send + Sync>,
}

/// Finds the decisions about these changes; `None` where nothing was decided.
pub type FindReviewed = fn(&Workspace, &ShownChanges) -> Option<ReviewedDecision>;

/// For a front end without a review.
pub fn never_reviewed(_: &Workspace, _: &ShownChanges) -> Option<ReviewedDecision> {
    None
}
