//! What a review decided about the changes of a question. The front end that has the review keeps it; the question shows
//! it, and its yes does exactly that.

use placet_text::text::{count, visible};
use placet_workspace::{ChangeDecision, ListedChange, ShownChanges, Workspace};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The decisions of a review that was left, as the question about the same changes shows and makes them.
pub struct ReviewedDecision {
    /// What a yes to everything applies and discards: what was not decided is accepted.
    pub decision: ChangeDecision,
    /// `✗ 1 of 2 hunks rejected, 1 comment`.
    pub words: String,
    /// Of each path, how many hunks of what decides about it are rejected, and how many that has.
    pub rejected: BTreeMap<PathBuf, (usize, usize)>,
    /// How many hunks are rejected.
    pub rejected_hunks: usize,
    /// A conflict is left in which the person has to choose before anything can be applied.
    pub has_open_conflict: bool,
    /// Ends the review once its decisions were carried out: what the agent is to learn is stored. Returns what the person is
    /// told of it.
    pub finish: Box<dyn FnOnce() -> Vec<String> + Send + Sync>,
}

impl ReviewedDecision {
    /// The row of a file says what of it a yes does not apply. Of a row of several files, such as a repository, what is
    /// not named lands.
    pub fn mark(&self, list: &mut [ListedChange]) {
        for row in list {
            let of_row = row.paths.iter().filter_map(|path| self.rejected.get_key_value(&**path));
            let of_row: Vec<(&PathBuf, usize, usize)> =
                of_row.map(|(path, (rejected, hunks))| (path, *rejected, *hunks)).collect();
            let note = match &of_row[..] {
                all if all.iter().all(|(_, rejected, _)| *rejected == 0) => continue,
                all if all.iter().all(|(_, rejected, hunks)| rejected == hunks) => "\u{2717} rejected".into(),
                [(_, rejected, hunks)] => {
                    format!("\u{2717} {rejected} of {} rejected", count::of(*hunks, "hunk"))
                }
                several => {
                    let rejected = several.iter().filter(|(_, rejected, _)| *rejected > 0);
                    let names: BTreeSet<String> = rejected
                        .filter_map(|(path, ..)| {
                            Some(visible::line(&path.file_name()?.to_string_lossy()).into_owned())
                        })
                        .collect();
                    format!("\u{2717} {} rejected", names.into_iter().collect::<Vec<_>>().join(", "))
                }
            };
            row.add_note(&note);
        }
    }
}

/// Finds the decisions about these changes; `None` where nothing was decided.
pub type FindReviewed = fn(&Workspace, &ShownChanges) -> Option<ReviewedDecision>;

/// For a front end without a review.
pub fn never_reviewed(_: &Workspace, _: &ShownChanges) -> Option<ReviewedDecision> {
    None
}
