//! What a review decided about the changes of a question. The front end that has the review keeps it; the question shows
//! it, and its yes does exactly that.

use placet_text::text::count;
use placet_workspace::{ChangeDecision, ListedChange, ShownChanges, Workspace};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// The decisions of a review that was left, as the question about the same changes shows and makes them.
pub struct ReviewedDecision {
    /// What a yes to everything applies and discards: what was not decided is accepted.
    pub decision: ChangeDecision,
    /// `✗ 1 of 2 hunks rejected, 1 comment`.
    pub words: String,
    /// Of each file, how many of its hunks are rejected, and how many it has.
    pub rejected: BTreeMap<PathBuf, (usize, usize)>,
    /// A conflict is left in which the person has to choose before anything can be applied.
    pub has_open_conflict: bool,
    /// Ends the review once its decisions were carried out: what the agent is to learn is stored. Returns what the person is
    /// told of it.
    pub finish: Box<dyn FnOnce() -> Vec<String> + Send + Sync>,
}

impl ReviewedDecision {
    /// How many hunks are rejected.
    pub fn rejected_hunks(&self) -> usize {
        self.rejected.values().map(|(rejected, _)| rejected).sum()
    }

    /// The row of a file says what of it a yes does not apply.
    pub fn mark(&self, list: &mut [ListedChange]) {
        for row in list {
            let of_row = row.paths.iter().filter_map(|path| self.rejected.get(&**path));
            let (rejected, hunks) = of_row.fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
            match rejected {
                0 => {}
                all if all == hunks => row.add_note("\u{2717} rejected"),
                _ => row.add_note(&format!("\u{2717} {rejected} of {} rejected", count::of(hunks, "hunk"))),
            }
        }
    }
}

/// Finds the decisions about these changes; `None` where nothing was decided.
pub type FindReviewed = fn(&Workspace, &ShownChanges) -> Option<ReviewedDecision>;

/// For a front end without a review.
pub fn never_reviewed(_: &Workspace, _: &ShownChanges) -> Option<ReviewedDecision> {
    None
}
