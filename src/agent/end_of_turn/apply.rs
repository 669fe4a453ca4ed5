//! Applying what the person chose at the end of a turn.

use super::{ApplyQuestionFlow, TurnDecision};
use crate::audit::AuditKind;
use crate::tools::passed_words;
use crate::workspace::{
    ApplyOutcome, ChangeApproval, ChangeSelection, ChangeSet, PassedCheck, TransactionLabel, View,
};
use std::path::Path;
use std::sync::Arc;

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
        let mut chosen = self.view.classify(shown).permitted(shown, &chosen, approval).choice;
        chosen.extend(special);
        self.apply_chosen(shown, chosen, approval, checks).await
    }

    pub(super) async fn apply_chosen(
        &self,
        set: &Arc<ChangeSet>,
        chosen: ChangeSelection,
        approval: &ChangeApproval,
        checks: Vec<PassedCheck>,
    ) -> Option<TurnDecision> {
        let checked = passed_words(&checks);
        let (view, approval, set) = (self.view.clone(), approval.clone(), Arc::clone(set));
        let label = TransactionLabel { checks, ..self.label() };
        let applying = move || view.apply_and_report(&set, chosen, &approval, label);
        let report = match tokio::task::spawn_blocking(applying).await {
            Ok(report) => report,
            Err(e) => {
                self.events.notice(format!("not applied: {e}"));
                return Some(TurnDecision::Kept);
            }
        };
        let mut lines = report
            .lines(Some(self.context.place.undo()), &|path: &Path| self.context.workspace.shortened(path));
        let has_effect = matches!(report.result, Ok(ApplyOutcome::Landed(_))) || !report.special.is_empty();
        lines.extend(checked.filter(|_| has_effect));
        let remarks =
            if has_effect { (self.context.record)(AuditKind::Apply, &lines.join("\n")) } else { Vec::new() };
        lines.into_iter().chain(remarks).for_each(|line| self.events.notice(line));
        match report.result {
            Ok(ApplyOutcome::Landed(_)) => Some(TurnDecision::Applied),
            Ok(ApplyOutcome::Nothing) if report.special_error.is_none() => Some(TurnDecision::Nothing),
            // All of it could be merged: the question comes again, with what would be applied now.
            Ok(ApplyOutcome::Changed { conflicts, .. }) if conflicts.is_empty() => None,
            Ok(ApplyOutcome::Nothing | ApplyOutcome::Changed { .. }) | Err(_) => Some(TurnDecision::Kept),
        }
    }
}
