//! Checks in the review: they run on exactly what is accepted, while the person reads on.

use super::content::file::{ReviewBody, ReviewDecision};
use super::state::Review;
use super::state::shown_checks::{AcceptedParts, ShownChecks};
use crate::viewer::CheckOutputScreen;
use placet_checks::{CheckRow, CheckRowState, OutputToShow, check_row_words, unmet_words};
use placet_text::text::count;
use placet_tools::{CheckBoard, CheckStart};
use placet_workspace::ChangeSelection;

/// What runs the checks of a review.
pub struct ReviewChecks<'a> {
    pub board: CheckBoard,
    /// What an apply of the decisions would apply now.
    pub selection: Box<dyn Fn(&Review) -> ChangeSelection + 'a>,
    pub output: CheckOutputScreen,
}

/// What changed between two selections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct ChangedDecisions {
    hunks: usize,
    /// Everything that changed is rejected now.
    only_rejected: bool,
}

impl Review {
    fn accepted_parts(&self) -> AcceptedParts {
        let is_accepted = |mark: &ReviewDecision| *mark == ReviewDecision::Accepted;
        let of = |body: &ReviewBody| match body {
            ReviewBody::Lines(lines) => {
                lines.hunks.iter().map(|hunk| hunk.marks.iter().map(is_accepted).collect()).collect()
            }
            ReviewBody::Whole(whole) => vec![vec![is_accepted(&whole.mark)]],
        };
        self.files.iter().map(|file| of(&file.body)).collect()
    }

    fn decisions_since(&self, checked: &AcceptedParts) -> ChangedDecisions {
        let now = self.accepted_parts();
        let mut changed = ChangedDecisions { hunks: 0, only_rejected: true };
        for (file, (then, now)) in checked.iter().zip(&now).enumerate() {
            for hunk in 0..then.len().max(now.len()) {
                if then.get(hunk) == now.get(hunk) {
                    continue;
                }
                changed.hunks += 1;
                let is_rejected = match self.files.get(file).map(|file| &file.body) {
                    Some(ReviewBody::Lines(lines)) => lines
                        .hunks
                        .get(hunk)
                        .is_some_and(|hunk| hunk.marks.iter().all(|mark| *mark == ReviewDecision::Rejected)),
                    Some(ReviewBody::Whole(whole)) => whole.mark == ReviewDecision::Rejected,
                    None => false,
                };
                changed.only_rejected &= is_rejected;
            }
        }
        changed
    }

    /// The checks start on what is accepted now.
    pub(super) fn begin_checks(&mut self) {
        self.checks = Some(ShownChecks { rows: Vec::new(), checked: self.accepted_parts() });
    }

    /// Takes in what is known of the checks; true where something looks different.
    pub(super) fn take_in_checks(&mut self, rows: Vec<CheckRow>) -> bool {
        let words = |rows: &[CheckRow]| -> Vec<String> {
            rows.iter().map(|row| check_row_words(row, None)).collect()
        };
        let Some(shown) = &mut self.checks else { return false };
        let is_same = words(&shown.rows) == words(&rows);
        shown.rows = rows;
        !is_same
    }

    /// The message that checks run gives way to how they ended. True where it did.
    pub(super) fn say_how_checks_ended(&mut self) -> bool {
        let is_said = self.footer.message.as_deref() == Some(RUNNING);
        let Some(shown) = self.checks.as_ref().filter(|_| is_said && !self.has_running_checks()) else {
            return false;
        };
        let failed: Vec<&str> =
            shown.rows.iter().filter(|row| has_failed(row)).map(|row| row.name.as_str()).collect();
        let words = match failed.as_slice() {
            _ if shown.rows.iter().all(CheckRow::has_passed) => {
                "the checks passed on what you accepted".to_string()
            }
            [] => "the checks have no result".into(),
            names => format!("failed on what you accepted: {}; o shows the output", names.join(", ")),
        };
        self.say(words);
        true
    }

    /// As last shown: the end of a run has still to be shown.
    pub(super) fn has_running_checks(&self) -> bool {
        self.checks.as_ref().is_some_and(|shown| shown.rows.iter().any(CheckRow::is_busy))
    }

    /// How the checks are, for the title: a word and the label of its style.
    pub(super) fn checks_title(&self) -> Option<(&'static str, &'static str)> {
        let shown = self.checks.as_ref().filter(|shown| !shown.rows.is_empty())?;
        let since = self.decisions_since(&shown.checked).hunks > 0;
        Some(match () {
            () if shown.rows.iter().any(CheckRow::is_busy) => (" checks running ", "status"),
            () if since => (" checked before ", "warning"),
            () if shown.rows.iter().all(CheckRow::has_passed) => (" checks passed ", "accepted"),
            () if shown.rows.iter().any(has_failed) => (" checks failed ", "error"),
            () if shown.rows.iter().any(CheckRow::lacks_result) => (" checks without result ", "warning"),
            () => return None,
        })
    }

    /// The checks in the summary: the result for exactly this selection, or what changed since.
    pub(super) fn checks_summary(&self) -> Vec<(String, &'static str)> {
        let Some(shown) = self.checks.as_ref().filter(|shown| !shown.rows.is_empty()) else {
            return Vec::new();
        };
        let since = self.decisions_since(&shown.checked);
        let mut out: Vec<(String, &'static str)> = Vec::new();
        for row in &shown.rows {
            let label = match row.has_passed() {
                true => "accepted",
                false if has_failed(row) => "error",
                false if row.is_required && !row.is_busy() => "warning",
                false => "text",
            };
            let words = on_what_is_accepted(&check_row_words(row, None));
            let how = match row.state {
                CheckRowState::NotRun | CheckRowState::Earlier { .. } => "; t runs it",
                _ => "",
            };
            out.push((format!("check      {words}{how}"), label));
        }
        if since.hunks > 0 {
            let what = if since.only_rejected { "rejection" } else { "decision" };
            let last = match since.hunks {
                1 => format!("your last {what}"),
                hunks => format!("your last {}", count::of(hunks as u64, what)),
            };
            out.push((
                format!("           the checks saw the changes before {last}; t checks again"),
                "warning",
            ));
        }
        out
    }
}

impl ReviewChecks<'_> {
    /// Runs the checks on what is accepted. What the person is shown about it.
    pub(super) fn run(&self, review: &mut Review) -> String {
        let choice = (self.selection)(review);
        if choice.is_empty() {
            return "nothing is accepted: checks run on what you accept".into();
        }
        if let Err(e) = self.board.look_at_pending(choice, CheckStart::All) {
            return format!("cannot read the pending changes: {e}");
        }
        review.begin_checks();
        review.take_in_checks(self.board.rows());
        match self.board.rows().is_empty() {
            true => "no check depends on what you accepted".into(),
            false => RUNNING.into(),
        }
    }

    /// The summary shows every check that an apply needs, also where none was run.
    pub(super) fn look(&self, review: &mut Review) {
        let choice = (self.selection)(review);
        let is_known = self.board.choice().is_some_and(|checked| *checked == choice);
        // Where checks ran on the selection before, the summary shows that, and what changed since.
        let has_result = |row: &CheckRow| matches!(row.state, CheckRowState::Here(_)) || row.is_busy();
        let ran = review.checks.as_ref().is_some_and(|shown| shown.rows.iter().any(has_result));
        if choice.is_empty() || is_known || ran {
            return;
        }
        match self.board.look_at_pending(choice, CheckStart::Nothing) {
            Ok(()) => {
                review.begin_checks();
                review.take_in_checks(self.board.rows());
            }
            Err(e) => review.say(format!("cannot read the pending changes: {e}")),
        }
    }

    /// The output that a person wants to see: that of an earlier selection says so.
    pub(super) fn to_show(&self, review: &Review) -> Option<OutputToShow> {
        let mut output = OutputToShow::first(&self.board.rows())?;
        let since = |shown: &ShownChecks| review.decisions_since(&shown.checked).hunks > 0;
        if review.checks.as_ref().is_some_and(since) {
            output.title = format!("output of {}, before your last decisions", output.check);
        }
        Some(output)
    }

    /// Why the decisions cannot be applied yet.
    pub(super) fn unmet(&self, review: &Review) -> Option<String> {
        let choice = (self.selection)(review);
        if choice.is_empty() {
            return None;
        }
        // Nothing ran yet, or on another selection.
        if self.board.choice().is_none_or(|checked| *checked != choice)
            && let Err(e) = self.board.look_at_pending(choice, CheckStart::Nothing)
        {
            return Some(format!("cannot read the pending changes: {e}"));
        }
        self.board.wait_until_known();
        unmet_words(&self.board.rows(), "t", "o").map(|words| on_what_is_accepted(&words))
    }
}

const RUNNING: &str = "the checks run on what you accepted; the summary shows the result";

/// The state of a review is what the person accepted.
fn on_what_is_accepted(words: &str) -> String {
    words.replace("in this state", "on what was accepted").replace("on this state", "on what you accepted")
}

fn has_failed(row: &CheckRow) -> bool {
    row.has_failed() || matches!(row.state, CheckRowState::Impossible(_))
}
