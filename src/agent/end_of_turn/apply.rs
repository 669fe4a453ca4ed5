//! Applying what the person chose at the end of a turn.

use super::{ApplyQuestionFlow, TurnDecision, UPDATED};
use crate::agent::event::{AppliedOverview, TurnEvent};
use crate::audit::AuditKind;
use crate::tools::passed_words;
use crate::workspace::{
    ApplyError, ApplyOutcome, ChangeApproval, ChangeSelection, ChangeSet, PassedCheck, TransactionLabel, View,
};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, interval_at};

/// How far an apply is, is said from here on, and again after the same time.
const PROGRESS_AFTER: Duration = Duration::from_millis(500);
const PROGRESS_EVERY: Duration = Duration::from_millis(120);

/// A part of the changes was to be applied after the person stopped another part.
const STOPPED: &str = "not applied: stopped; nothing of this was changed";

impl ApplyQuestionFlow<'_> {
    /// Applies everything except files that run later and were not approved. Returns `None` when the question must be
    /// asked again.
    pub(super) async fn apply_all(
        &self,
        shown: &Arc<ChangeSet>,
        approval: &ChangeApproval,
        checks: Vec<PassedCheck>,
    ) -> Option<TurnDecision> {
        let mut chosen = View::everything(shown);
        let special = shown.take_special(&mut chosen);
        let mut chosen = self.view.classify(shown).permitted(shown, chosen, approval).choice;
        chosen.extend(special);
        // All of this part waits for answers of its own, and to say that nothing is pending would be wrong.
        if chosen.is_empty() {
            return Some(TurnDecision::Kept);
        }
        self.apply_chosen(shown, chosen, approval, checks).await
    }

    pub(super) async fn apply_chosen(
        &self,
        set: &Arc<ChangeSet>,
        chosen: ChangeSelection,
        approval: &ChangeApproval,
        checks: Vec<PassedCheck>,
    ) -> Option<TurnDecision> {
        if self.context.stop.is_cancelled() {
            self.events.notice(STOPPED);
            return Some(TurnDecision::Kept);
        }
        // A repository that moved since the question was asked: its rows may be others now.
        let (view, shown) = (self.view.clone(), Arc::clone(set));
        let followed = spawn_blocking(move || view.follow_repositories(&shown)).await;
        match followed.map_err(io::Error::other).flatten() {
            Ok(false) => {}
            Ok(true) if self.asks_again() => {
                self.events.notice(UPDATED);
                return None;
            }
            Ok(true) => {
                self.events.notice("not applied: a repository changed in the meantime");
                return Some(TurnDecision::Kept);
            }
            Err(e) => {
                self.events.notice(format!("not applied: {e}"));
                return Some(TurnDecision::Kept);
            }
        }
        let checked = passed_words(&checks);
        let (view, approval, set) = (self.view.clone(), approval.clone(), Arc::clone(set));
        let label = TransactionLabel { checks, ..self.label() };
        let (workspace, place) = (self.context.workspace.clone(), self.context.place.clone());
        let applying = move || {
            let report = view.apply_and_report(&set, chosen, &approval, label);
            let applied = report.entry().map(|entry| AppliedOverview::of(entry, (&view, &workspace), &place));
            (report, applied)
        };
        let (report, applied) = match self.with_progress(applying).await {
            Ok(done) => done,
            Err(e) => {
                self.events.notice(format!("not applied: {e}"));
                return Some(TurnDecision::Kept);
            }
        };
        let mut lines = report
            .lines(Some(self.context.place.undo()), &|path: &Path| self.context.workspace.shortened(path));
        let has_effect = matches!(report.result, Ok(ApplyOutcome::Landed(_))) || report.has_special();
        lines.extend(checked.filter(|_| has_effect));
        let remarks =
            if has_effect { (self.context.record)(AuditKind::Apply, &lines.join("\n")) } else { Vec::new() };
        lines.into_iter().chain(remarks).for_each(|line| self.events.notice(line));
        applied.into_iter().for_each(|applied| self.events.send(TurnEvent::Applied(Box::new(applied))));
        match report.result {
            Ok(ApplyOutcome::Landed(_)) => Some(TurnDecision::Applied),
            Ok(ApplyOutcome::Nothing) if report.special_error.is_none() => Some(TurnDecision::Nothing),
            // The question comes again: with what would be applied now, or with the marks of what the person has to choose.
            // Where a conflict cannot be marked, as below a directory that is a link now, the yes would be refused for ever.
            Ok(ApplyOutcome::Changed { conflicts, .. }) if conflicts.is_empty() || self.asks_again() => None,
            // The row of the repository is marked now.
            Err(ApplyError::Repository(_)) if self.asks_again() => None,
            Ok(ApplyOutcome::Nothing | ApplyOutcome::Changed { .. }) | Err(_) => Some(TurnDecision::Kept),
        }
    }

    /// Runs `work`, an apply in the view, on a thread of its own; says how far it is, and passes a stop on to it.
    async fn with_progress<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let progress = self.view.apply_progress();
        progress.reset();
        let mut working = spawn_blocking(work);
        let mut due = interval_at(Instant::now() + PROGRESS_AFTER, PROGRESS_EVERY);
        let mut is_stopped = false;
        let out = loop {
            tokio::select! {
                biased;
                out = &mut working => break out,
                () = self.context.stop.cancelled(), if !is_stopped => {
                    is_stopped = true;
                    progress.cancel();
                }
                _ = due.tick() => {
                    let (phase, done, all) = progress.now();
                    self.events.send(TurnEvent::Applying { phase, done, all });
                }
            }
        };
        progress.reset();
        out
    }
}
