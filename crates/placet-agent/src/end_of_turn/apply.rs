//! Carrying out what the person decided at the end of a turn.

use super::{ApplyQuestionFlow, ReviewedDecision, TurnDecision};
use crate::event::{AppliedOverview, TurnEvent};
use placet_session::audit::AuditKind;
use placet_tools::passed_words;
use placet_workspace::{ApplyError, ChangeDecision, DecisionReport, ShownChanges};
use std::path::Path;
use std::time::Duration;
use tokio::task::{JoinError, spawn_blocking};
use tokio::time::{Instant, interval_at};

/// How far an apply is, is said from here on, and again after the same time.
const PROGRESS_AFTER: Duration = Duration::from_millis(500);
const PROGRESS_EVERY: Duration = Duration::from_millis(120);

/// A part of the changes was to be applied after the person stopped another part.
const STOPPED: &str = "not applied: stopped; nothing of this was changed";

impl ApplyQuestionFlow<'_> {
    /// Carries a decision out and reports it. Returns `None` when the question must be asked again: it was about other
    /// changes than those that are pending now.
    pub(super) async fn decide(
        &self,
        shown: ShownChanges,
        decision: ChangeDecision,
        reviewed: Option<ReviewedDecision>,
    ) -> Option<TurnDecision> {
        if self.context.stop.is_cancelled() {
            self.events.notice(STOPPED);
            return Some(TurnDecision::Kept);
        }
        let checked = passed_words(&decision.label.checks);
        let (workspace, place) = (self.context.workspace.clone(), self.context.place.clone());
        let view = self.view.clone();
        let deciding = move || {
            let outcome = view.decide(shown, decision);
            let entry = outcome.as_ref().ok().and_then(DecisionReport::entry);
            let applied = entry.map(|entry| AppliedOverview::of(entry, (&view, &workspace), &place));
            (outcome, applied)
        };
        let name = |path: &Path| self.context.workspace.shortened(path);
        let (report, applied) = match self.with_progress(deciding).await {
            Ok((Ok(report), applied)) => (report, applied),
            Ok((Err(moved), _)) => {
                moved.lines(&name).into_iter().for_each(|line| self.events.notice(line));
                // The question comes again: with what would be applied now, or with the marks of what the person has to
                // choose. Where a conflict cannot be marked, as below a directory that is a link now, the yes would be
                // refused for ever.
                let is_asked = moved.conflicts().is_empty() || self.asks_again();
                return (!is_asked).then_some(TurnDecision::Kept);
            }
            Err(e) => {
                self.events.notice(format!("not applied: {e}"));
                return Some(TurnDecision::Kept);
            }
        };
        let has_effect = report.entry().is_some() || report.has_special();
        let mut lines = report.lines(Some(self.context.place.undo()), &name);
        lines.extend(checked.filter(|_| has_effect));
        self.tell(lines, has_effect.then_some(AuditKind::Apply));
        let is_discarded = matches!(report.discarded, Some(Ok(_)));
        let undo = self.context.place.undo();
        let line = match &reviewed {
            Some(reviewed) => report.rejected_line(reviewed.rejected_hunks, undo),
            None => report.discard_line(undo),
        };
        self.tell(line.into_iter().collect(), is_discarded.then_some(AuditKind::Discard));
        applied.into_iter().for_each(|applied| self.events.send(TurnEvent::Applied(Box::new(applied))));
        if let Some(reviewed) = reviewed.filter(|_| report.is_done()) {
            (reviewed.finish)().into_iter().for_each(|line| self.events.notice(line));
        }
        match report.applied {
            Ok(Some(_)) => Some(TurnDecision::Applied),
            Ok(None) if is_discarded => Some(TurnDecision::Discarded),
            // All of it waits for answers of its own, and to say that nothing is pending would be wrong.
            Ok(None) if !report.left.is_empty() && report.special.is_empty() => Some(TurnDecision::Kept),
            Ok(None) if report.special_error.is_none() => Some(TurnDecision::Nothing),
            // The row of the repository is marked now.
            Err(ApplyError::Repository(_)) if self.asks_again() => None,
            Ok(None) | Err(_) => Some(TurnDecision::Kept),
        }
    }

    /// Reports what was done, and records it if it had an effect.
    fn tell(&self, lines: Vec<String>, kind: Option<AuditKind>) {
        let remarks = kind.map(|kind| (self.context.record)(kind, &lines.join("\n"))).unwrap_or_default();
        lines.into_iter().chain(remarks).for_each(|line| self.events.notice(line));
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
