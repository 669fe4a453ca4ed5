//! The decisions of a review that was left, for the question about the same changes: it shows them, and its yes makes them.

use super::apply::{decision_of, join, memory_of, remember_carried_out, review_of, review_shown};
use crate::agent::ReviewedDecision;
use crate::ui::review::{self, ReviewEnd, SavedReview};
use crate::workspace::{ShownChanges, TransactionLabel, View, Workspace};
use std::io;
use std::path::PathBuf;

/// What a review decided about all of these changes.
pub fn reviewed_decision(workspace: &Workspace, shown: &ShownChanges) -> Option<ReviewedDecision> {
    reviewed_at(workspace, shown, &[])
}

/// The same at these paths; without any, of all.
pub fn reviewed_at(
    workspace: &Workspace,
    shown: &ShownChanges,
    only: &[PathBuf],
) -> Option<ReviewedDecision> {
    let memory = SavedReview::load(&memory_of(shown.view()));
    let mut review = memory.has_decisions().then(|| review_shown(workspace, shown, only)).flatten()?;
    drop(memory.restore_into(&mut review));
    let words = review.decided_words()?;
    let has_open_conflict = review.open_conflict().is_some();
    review.accept_open();
    let decision = decision_of(&review, TransactionLabel::default());
    let (workspace, view) = (workspace.clone(), shown.view().clone());
    let (rejected, rejected_hunks) = (review.rejections(), review.tally().1);
    let finish = move || match remember_carried_out(&workspace, &view, &review) {
        (_, Some(error)) => vec![error],
        (Some(_), None) => vec![super::SENT_LATER.into()],
        (None, None) => Vec::new(),
    };
    Some(ReviewedDecision {
        decision,
        words,
        rejected,
        rejected_hunks,
        has_open_conflict,
        finish: Box::new(finish),
    })
}

/// What the agent has not learned yet. Nothing changes.
pub fn unsent_review(workspace: &Workspace, view: &View) -> io::Result<Option<String>> {
    let memory = SavedReview::load(&memory_of(view));
    if !memory.has_decisions() {
        return Ok(memory.outbox);
    }
    let Some((_, mut review)) = review_of(workspace, view, &[])? else { return Ok(memory.outbox) };
    drop(memory.restore_into(&mut review));
    Ok(join(memory.outbox, review::report(&review, ReviewEnd::StillPending)))
}

/// Before a message: the question is over, and its decisions end with it. What the agent is to learn goes with the message.
pub(super) fn end_decisions(workspace: &Workspace, view: &View) -> io::Result<()> {
    let file = memory_of(view);
    let memory = SavedReview::load(&file);
    if !memory.has_decisions() {
        return Ok(());
    }
    let outbox = unsent_review(workspace, view)?;
    memory.ended(outbox).save(&file)
}
